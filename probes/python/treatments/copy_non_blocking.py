"""copy.non_blocking=on: copies from page-locked memory to a device do not hold up the host."""

from .. import wrapping

KEY = "copy.non_blocking"
NOTHING = "nothing was copied from page-locked memory to a device"
REVERSIBLE = True


def apply(value, report):
    torch = report.torch
    if not report.has_gpu():
        return report.not_applicable("there is no GPU to copy to")

    def make(original, to_device):
        def copy(tensor, *positional, **named):
            if not report.on:
                return original(tensor, *positional, **named)
            pinned = tensor.device.type == "cpu" and not named.get("non_blocking") and tensor.is_pinned()
            if pinned and to_device(positional, named) and not any(one is True for one in positional):
                named["non_blocking"] = True
                report.acted()
                report.applied("blocking", "non_blocking")
            return original(tensor, *positional, **named)

        return copy

    wrapping.replace(torch.Tensor, "to", lambda original: make(original, lambda p, n: _names_cuda(torch, p, n)))
    wrapping.replace(torch.Tensor, "cuda", lambda original: make(original, lambda p, n: True))


def _names_cuda(torch, positional, named):
    target = named.get("device", positional[0] if positional else None)
    if isinstance(target, torch.Tensor):
        target = target.device
    if isinstance(target, torch.device):
        return target.type == "cuda"
    return isinstance(target, int) and not isinstance(target, bool) or str(target).startswith("cuda")

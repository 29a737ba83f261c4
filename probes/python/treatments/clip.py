"""clip=norm|value: gradients are clipped to 1 before each step of an optimizer, by their total norm or elementwise."""

from .. import hooks

KEY = "clip"
NOTHING = "no optimizer took a step"

_LIMIT = 1.0


def apply(value, report):
    utils = report.torch.nn.utils
    clip = {"norm": utils.clip_grad_norm_, "value": utils.clip_grad_value_}.get(value)
    if clip is None:
        return report.not_applicable(f"no such way of clipping: {value} (norm, value)")
    own = []  # the program's own calls, seen before a step

    def noticed(original):
        def clip_grad(*positional, **named):
            own.append(True)
            return original(*positional, **named)

        return clip_grad

    for name in ("clip_grad_norm_", "clip_grad_value_"):
        setattr(utils, name, noticed(getattr(utils, name)))

    def begins(optimizer):
        if own:
            return report.not_applicable("the program clips its gradients already")
        clip([one for group in optimizer.param_groups for one in group["params"]], _LIMIT)
        report.applied("none", value, where=f"{type(optimizer).__name__}, before each step")
        return None

    hooks.step_begins.append(begins)

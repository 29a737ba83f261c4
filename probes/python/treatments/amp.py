"""amp=bf16: one autocast scope around each outermost forward of training, never around backward or the optimizer."""

import collections.abc
import contextlib
import weakref

from .. import hooks

KEY = "amp"
NOTHING = "no module was called in training mode"


def apply(value, report):
    torch = report.torch
    if value != "bf16":
        return report.not_applicable(f"amp={value} needs the script to scale its losses; only bf16 is applied from outside")
    devices = weakref.WeakKeyDictionary()
    state = {"device": "cpu", "inside": False}

    def begins(module):
        state["inside"] = False
        if not module.training or not torch.is_grad_enabled():
            return None
        device = state["device"] = devices.setdefault(module, _device_of(module)) or state["device"]
        if torch.is_autocast_enabled(device):
            report.not_applicable("the program computes under autocast already")
            return None
        state["inside"] = True
        if not report.has_places():
            report.applied("float32", "bf16")
        return torch.autocast(device, dtype=torch.bfloat16)

    def ends(module, output):
        # What follows, a loss as a function say, is written for float32.
        return _as_float32(torch, output) if state["inside"] else output

    hooks.forward_begins.append(begins)
    hooks.forward_ends.append(ends)


def _device_of(module):
    parameter = next(module.parameters(), None)
    return parameter.device.type if parameter is not None else None


def _as_float32(torch, output):
    if isinstance(output, torch.Tensor):
        return output.float() if output.dtype == torch.bfloat16 else output
    if isinstance(output, collections.abc.MutableMapping):
        for key in list(output):
            with contextlib.suppress(TypeError, AttributeError):  # read-only results stay as they are
                output[key] = _as_float32(torch, output[key])
        return output
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(_as_float32(torch, one) for one in output))
    if type(output) in (tuple, list):
        return type(output)(_as_float32(torch, one) for one in output)
    return output

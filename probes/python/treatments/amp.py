"""amp=bf16|fp16: one autocast scope around each outermost forward of training, never around backward or the optimizer.

fp16's gradients vanish without scaling: losses are multiplied before backward, gradients divided after it, and a step
whose gradients overflowed is skipped, as torch.amp.GradScaler does. That needs one backward pass per step."""

import collections.abc
import contextlib
import weakref

from .. import hooks, wrapping

KEY = "amp"
NOTHING = "no module was called in training mode"
REVERSIBLE = True

# GradScaler's defaults: initial scale, growth interval, and factors.
_SCALE, _GROWTH_STEPS, _GROWTH, _BACKOFF = 65536.0, 2000, 2.0, 0.5


def apply(value, report):
    torch = report.torch
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(value)
    if kind is None:
        return report.not_applicable(f"no such precision: {value} (bf16, fp16)")
    if value == "fp16" and report.live:
        return report.not_applicable("scaled gradients cannot be switched between steps")
    scaling = _Scaling(report) if value == "fp16" else None
    devices = weakref.WeakKeyDictionary()
    state = {"device": "cpu", "inside": False}

    def begins(module):
        state["inside"] = False
        if not report.on or not module.training or not torch.is_grad_enabled() or scaling and scaling.given_up:
            return None
        device = state["device"] = devices.setdefault(module, _device_of(module)) or state["device"]
        if torch.is_autocast_enabled(device):
            report.not_applicable("the program computes under autocast already")
            return None
        state["inside"] = True
        report.acted()
        if not report.has_places():
            report.applied("float32", value)
        return torch.autocast(device, dtype=kind)

    def ends(module, output):
        # Later code, e.g. a functional loss, expects float32.
        return _as_float32(torch, output, kind) if state["inside"] else output

    hooks.forward_begins.append(begins)
    hooks.forward_ends.append(ends)
    if scaling:
        scaling.install()


class _Scaling:
    """Scales losses and gradients around each backward pass."""

    def __init__(self, report):
        self.given_up = False
        self._report, self._torch = report, report.torch
        self._optimizers = weakref.WeakSet()
        self._scale, self._good_steps = _SCALE, 0
        self._clean = True  # gradients were zeroed since the last backward
        self._used = False  # the running backward was scaled
        self._overflowed = False

    def install(self):
        hooks.optimizer_made.append(self._made)
        hooks.zero_grad_arguments.append(self._zeroed)
        hooks.backward_begins.append(self._begins)
        hooks.backward_ends.append(self._ends)
        wrapping.replace(self._torch.amp.GradScaler, "scale", self._program_scales)

    def _program_scales(self, original):
        def scale(scaler, outputs):
            if scaler.is_enabled():
                self._give_up("the program scales its losses itself")
            return original(scaler, outputs)

        return scale

    def _give_up(self, reason):
        if not self.given_up:
            self._report.failed(reason)
        self.given_up = True

    def _made(self, optimizer):
        self._optimizers.add(optimizer)
        wrapping.replace_method(optimizer, "step", self._stepping)

    def _zeroed(self, owner, arguments):
        self._clean = True

    def _begins(self, roots):
        if not self._clean:
            self._give_up("gradients are summed over several backward passes, which cannot be scaled from outside")
        self._used, self._clean = not self.given_up, False
        return tuple(root * self._scale for root in roots) if self._used else roots

    def _ends(self, roots, keeps_graph):
        if not self._used:
            return
        self._used = False
        gradients = [
            parameter.grad
            for optimizer in self._optimizers
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        self._overflowed = False
        for device in {gradient.device for gradient in gradients}:
            here = [gradient for gradient in gradients if gradient.device == device]
            overflow = self._torch.zeros((), device=device)
            inverse = self._torch.full((), 1 / self._scale, device=device)
            self._torch._amp_foreach_non_finite_check_and_unscale_(here, overflow, inverse)
            self._overflowed |= bool(overflow.item())
        self._adapt()

    def _adapt(self):
        self._good_steps = 0 if self._overflowed else self._good_steps + 1
        if self._overflowed:
            self._scale *= _BACKOFF
        elif self._good_steps == _GROWTH_STEPS:
            self._scale, self._good_steps = self._scale * _GROWTH, 0

    def _stepping(self, original):
        def step(*positional, **named):
            if self._overflowed:
                self._overflowed = False
                return None
            return original(*positional, **named)

        return step


def _device_of(module):
    parameter = next(module.parameters(), None)
    return parameter.device.type if parameter is not None else None


def _as_float32(torch, output, kind):
    if isinstance(output, torch.Tensor):
        return output.float() if output.dtype == kind else output
    if isinstance(output, collections.abc.MutableMapping):
        for key in list(output):
            with contextlib.suppress(TypeError, AttributeError):  # read-only results stay as they are
                output[key] = _as_float32(torch, output[key], kind)
        return output
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(_as_float32(torch, one, kind) for one in output))
    if type(output) in (tuple, list):
        return type(output)(_as_float32(torch, one, kind) for one in output)
    return output

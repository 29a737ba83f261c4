"""Optimizers: how they are built, their steps and zero_grad."""

import inspect
import threading
import weakref

from . import frames, hooks, wrapping
from .probe import now_ns, text


class Optimizers:
    """Wraps torch.optim; every class derived from Optimizer takes part, whoever wrote it."""

    def __init__(self, probe, settings, on_made):
        self._probe = probe
        self._traces = settings.mode == "trace"
        self._on_made = on_made  # called before the first parameters are taken
        self._known = weakref.WeakKeyDictionary()  # optimizer -> (name, number of parameter tensors)
        self._open = threading.local()

    def install(self, torch):
        from torch.optim import optimizer as module

        base = module.Optimizer
        wrapping.replace(base, "__init__", self._init)
        if self._traces or hooks.zero_grad_arguments:
            wrapping.replace(base, "zero_grad", self._zero_grad)
            wrapping.replace(torch.nn.Module, "zero_grad", self._zero_grad)
        module.register_optimizer_step_pre_hook(self._step_begins)
        module.register_optimizer_step_post_hook(self._step_ends)

    def _init(self, original):
        def __init__(optimizer, *positional, **named):
            self._on_made()
            original(optimizer, *positional, **named)
            optimizer.__dict__["_loopscope_place"] = frames.place()
            for function in hooks.optimizer_made:
                function(optimizer)

        return __init__

    def _steps_open(self):
        if not hasattr(self._open, "steps"):
            self._open.steps = []
        return self._open.steps

    def _step_begins(self, optimizer, positional, named):
        steps = self._steps_open()
        if any(one is optimizer for one, _ in steps):
            self.forget_open()  # it raised last time: its end was never told
        for function in hooks.step_begins:
            function(optimizer)
        self._probe.optimizer_begins()
        steps.append((optimizer, now_ns()))

    def _step_ends(self, optimizer, positional, named):
        steps = self._steps_open()
        if not steps or steps[-1][0] is not optimizer:
            return
        _, begin_ns = steps.pop()
        for function in hooks.step_ends:
            function(optimizer)
        name, parameters = self._describe(optimizer)
        self._probe.optimizer_ends(id(optimizer), name, parameters, begin_ns, 0)

    def forget_open(self):
        """Steps that never ended, because they raised."""
        steps = self._steps_open()
        while steps:
            optimizer, begin_ns = steps.pop()
            name, parameters = self._describe(optimizer)
            self._probe.optimizer_ends(id(optimizer), name, parameters, begin_ns, 1)

    def _describe(self, optimizer):
        known = self._known.get(optimizer)
        if known is None:
            known = (
                text(type(optimizer).__name__),
                sum(len(group["params"]) for group in optimizer.param_groups),
            )
            number = len(self._known) + 1
            self._known[optimizer] = known
            prefix = "optimizer." if number == 1 else f"optimizer#{number}."
            for key, value in _facts(optimizer, known[1]).items():
                self._probe.fact(text(prefix + key), text(value))
        return known

    def _zero_grad(self, original):
        default = inspect.signature(original).parameters["set_to_none"].default

        def zero_grad(owner, *positional, **named):
            arguments = {"set_to_none": positional[0] if positional else named.get("set_to_none", default)}
            for change in hooks.zero_grad_arguments:
                change(owner, arguments)
            begin_ns = now_ns()
            self._probe.zero_grad_begins()
            try:
                return original(owner, **arguments)
            finally:
                self._probe.zero_grad_ends(begin_ns, bool(arguments["set_to_none"]))

        return zero_grad


def _facts(optimizer, parameters):
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    facts = {"class": type(optimizer).__qualname__, "parameters": parameters}
    for key in ("foreach", "fused", "capturable"):
        if key in group:
            facts[key] = {None: "default", True: "on", False: "off"}.get(group[key], group[key])
    facts["where"] = optimizer.__dict__.get("_loopscope_place", "")
    return facts

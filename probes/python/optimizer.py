"""Optimizers: how they are built, their steps and zero_grad."""

import functools
import inspect
import threading
import weakref

from . import frames, hooks, wrapping
from .probe import OPTIMIZER, now_ns, text


class Optimizers:
    """Wraps torch.optim; every class derived from Optimizer takes part, whoever wrote it."""

    def __init__(self, probe, settings, on_made):
        self._probe = probe
        self._traces = settings.mode == "trace"
        self._on_made = on_made  # called before the first parameters are taken
        self._described = 0
        self._lineage = _Lineage()
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
            self._lineage.made(optimizer)
            for function in hooks.optimizer_made:
                function(optimizer)

        return __init__

    def _steps_open(self):
        if not hasattr(self._open, "steps"):
            self._open.steps = []
        return self._open.steps

    def _step_begins(self, optimizer, positional, named):
        steps = self._steps_open()
        if any(one.optimizer is optimizer for one in steps):
            self.forget_open()  # it raised last time: its end was never told
        for function in hooks.step_begins:
            function(optimizer)
        steps.append(_Step(self._probe, optimizer))
        closure = named.get("closure", positional[1] if len(positional) > 1 else None)
        if not callable(closure):
            steps[-1].goes_on()
            return None
        observed = self._without_closure(closure, steps[-1])
        if "closure" in named:
            return positional, {**named, "closure": observed}
        return (positional[0], observed, *positional[2:]), named

    def _without_closure(self, closure, step):
        """A closure's forward and backward passes are no work of the optimizer's."""

        @functools.wraps(closure)
        def observed(*positional, **named):
            step.pauses(*self._describe(step.optimizer))
            result = closure(*positional, **named)
            step.goes_on()
            return result

        return observed

    def _step_ends(self, optimizer, positional, named):
        steps = self._steps_open()
        if not steps or steps[-1].optimizer is not optimizer:
            return
        step = steps.pop()
        for function in hooks.step_ends:
            function(optimizer)
        step.goes_on()
        self._tell_end(step, 0)

    def forget_open(self):
        """Steps that never ended, because they raised."""
        steps = self._steps_open()
        while steps:
            step = steps.pop()
            if step.began:
                self._tell_end(step, 1)

    def _tell_end(self, step, raised):
        name, parameters = self._describe(step.optimizer)
        number = self._lineage.number(step.optimizer, (name, parameters))
        self._probe.optimizer_ends(number, name, parameters, step.begin_ns, raised)

    def _describe(self, optimizer):
        """Its name and how many numbers it trains."""
        known = optimizer.__dict__.get("_loopscope_known")
        if known is None:
            tensors = [one for group in optimizer.param_groups for one in group["params"]]
            known = text(type(optimizer).__name__), sum(_numel(one) for one in tensors)
            optimizer.__dict__["_loopscope_known"] = known
            self._described += 1
            prefix = "optimizer." if self._described == 1 else f"optimizer#{self._described}."
            for key, value in _facts(optimizer, len(tensors)).items():
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


class _Step:
    """One call of an optimizer's step that has not ended."""

    def __init__(self, probe, optimizer):
        self.optimizer = optimizer
        self.began = False
        self.begin_ns = 0  # of its own work; 0 while a closure runs
        self._probe = probe

    def goes_on(self):
        if not self.began:
            self._probe.optimizer_begins()
        self.began = True
        self.begin_ns = self.begin_ns or now_ns()

    def pauses(self, name, parameters):
        if self.begin_ns:
            self._probe.range(OPTIMIZER, name, self.begin_ns, now_ns(), parameters)
        self.begin_ns = 0


class _Lineage:
    """Numbers optimizers. A function that trains and is called again builds its optimizer anew at the same line: that
    one goes on under the number of the one before, unless both step in turn."""

    def __init__(self):
        self._steps = 0  # of all optimizers
        self._made = weakref.WeakKeyDictionary()  # optimizer -> steps before it was built
        self._numbers = weakref.WeakKeyDictionary()
        self._last_steps = {}  # kind and line -> {number: steps when it last stepped}
        self._count = 0

    def made(self, optimizer):
        self._made[optimizer] = self._steps

    def number(self, optimizer, kind):
        """Of an optimizer that has just stepped."""
        self._steps += 1
        alike = self._last_steps.setdefault((kind, optimizer.__dict__.get("_loopscope_place")), {})
        number = self._numbers.get(optimizer)
        if number is None:
            number = self._inherited(optimizer, alike)
            self._numbers[optimizer] = number
        alike[number] = self._steps
        return number

    def _inherited(self, optimizer, alike):
        before = self._made.get(optimizer, 0)
        free = [number for number, last_step in alike.items() if last_step <= before]
        if free:
            self._forget(free[0])
            return free[0]
        self._count += 1
        return self._count

    def _forget(self, number):
        for optimizer in [one for one, its in self._numbers.items() if its == number]:
            del self._numbers[optimizer]
            self._made[optimizer] = -1  # should it step again, it is one of its own


def _numel(parameter):
    try:
        return parameter.numel()
    except Exception:  # of a lazy module that has not seen its input
        return 0


def _facts(optimizer, parameters):
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    facts = {"class": type(optimizer).__qualname__, "parameters": parameters}
    for key in ("foreach", "fused", "capturable"):
        if key in group:
            facts[key] = {None: "default", True: "on", False: "off"}.get(group[key], group[key])
    facts["where"] = optimizer.__dict__.get("_loopscope_place", "")
    return facts

"""Optimizers: how they are built, their steps and zero_grad."""

import functools
import inspect
import threading
import weakref

from . import frames, hooks, wrapping
from .facts import MOST_DESCRIBED
from .faults import is_programs, shielded
from .notes import Notes
from .probe import OPTIMIZER, now_ns, text

_MOST_PASSES = 256  # without a step of an optimizer; then backward passes end steps (preload/step_clock.h)


class Optimizers:
    """Watches torch.optim, and every class derived from Optimizer."""

    def __init__(self, probe, settings, on_made):
        self._probe = probe
        self._traces = settings.mode == "trace"
        self._on_made = on_made  # called before the first parameters are taken
        self._described = 0
        self._places, self._known = Notes(), Notes()
        self._numbers = _Numbers()
        self._open = _Open()
        self._unseen = _Unseen()

    def install(self, torch):
        from torch.optim import optimizer as module

        base = module.Optimizer
        wrapping.watch(self._probe, base, "__init__", self._making, self._made)
        if self._traces or hooks.zero_grad_arguments:
            self._wrap_zero_grad(base)
            self._wrap_zero_grad(torch.nn.Module)
        begins, ends = self._step_begins, self._step_ends
        if self._probe.step_hooks and not hooks.step_begins and not hooks.step_ends:
            begins, ends = self._probe.step_hooks(_no_hook, begins, ends, shielded(self._describe, (0, b"", 0)))
        module.register_optimizer_step_pre_hook(begins)
        module.register_optimizer_step_post_hook(ends)

    def _making(self, *_, **__):
        self._on_made()
        self._probe.optimizer_made()

    def _made(self, _token, optimizer, _result, raised):
        if raised:
            return
        self._unseen.watch(optimizer)
        self._places.set(optimizer, frames.place())
        for function in hooks.optimizer_made:
            function(optimizer)

    def _step_begins(self, optimizer, positional, named):
        steps = self._open.steps
        if steps and any(one.optimizer is optimizer for one in steps):
            self.forget_open()  # it raised last time: its end was never reported
        for function in hooks.step_begins:
            function(optimizer)
        step = _Step(self._probe, optimizer)
        steps.append(step)
        closure = positional[1] if len(positional) > 1 else named.get("closure")
        if not callable(closure):
            step.goes_on()
            return None
        observed = self._without_closure(closure, step)
        if "closure" in named:
            return positional, {**named, "closure": observed}
        return (positional[0], observed, *positional[2:]), named

    def _without_closure(self, closure, step):
        """A closure's forward and backward passes are not the optimizer's work."""

        def before(*_, **__):
            step.pauses(self._describe(step.optimizer))

        def after(_token, _owner, _result, raised):
            if not raised:
                step.goes_on()

        around = self._probe.around_closure or functools.partial(wrapping.watched, self._probe)
        return around(closure, before, after)

    def _step_ends(self, optimizer, positional, named):
        steps = self._open.steps
        if not steps or steps[-1].optimizer is not optimizer:
            return
        step = steps.pop()
        for function in hooks.step_ends:
            function(optimizer)
        step.goes_on()
        self._report_end(step, 0)

    def looks_for_updates(self):
        """An optimizer was made, but no step has been seen: it may be compiled, including its hooks."""
        return self._described == 0 and self._unseen.left > 0

    def updated_out_of_sight(self):
        """Whether parameters changed since the last call; called at each backward pass while looks_for_updates()."""
        return self._unseen.updated()

    def forget_open(self):
        """Steps that never ended, because they raised."""
        steps = self._open.steps
        while steps:
            step = steps.pop()
            if step.began:
                self._report_end(step, 1)

    def _report_end(self, step, raised):
        optimizer = step.optimizer
        number, name, parameters = self._describe(optimizer) if optimizer is not None else (0, b"", 0)
        self._probe.optimizer_ends(number, name, parameters, step.begin_ns, raised)

    def _describe(self, optimizer):
        """Its number, its name and how many numbers it trains."""
        known = self._known.of(optimizer)
        if known is None:
            place = self._places.of(optimizer, "")
            tensors = [one for group in optimizer.param_groups for one in group["params"]]
            kind = text(type(optimizer).__name__), sum(_numel(one) for one in tensors)
            known = self._numbers.of(optimizer, (kind, place)), *kind
            self._known.set(optimizer, known)
            self._described += 1
            if self._described > MOST_DESCRIBED:
                return known
            prefix = "optimizer." if self._described == 1 else f"optimizer#{self._described}."
            for key, value in _facts(optimizer, len(tensors), place).items():
                self._probe.fact(text(prefix + key), text(value))
        return known

    def _wrap_zero_grad(self, owner):
        default = inspect.signature(owner.zero_grad).parameters["set_to_none"].default
        if self._probe.around_zero_grad and not hooks.zero_grad_arguments:
            owner.zero_grad = self._probe.around_zero_grad(owner.zero_grad, default)
        else:
            wrapping.replace(owner, "zero_grad", functools.partial(self._zero_grad, default))

    def _zero_grad(self, default, original):
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


def _no_hook(optimizer, positional, named):
    """Shown to torch.compile in place of the hooks, so that they leave no trace in a compiled step."""
    return None


class _Unseen:
    """Detects updates by a parameter's version, which each write increments."""

    def __init__(self):
        self.left = 0  # number of backward passes in which to check this
        self._parameter = lambda: None
        self._version = 0

    def watch(self, optimizer):
        try:
            parameter = optimizer.param_groups[0]["params"][0]
            self._parameter, self._version = weakref.ref(parameter), parameter._version
            self.left = _MOST_PASSES
        except Exception as error:  # a lazy parameter, or none
            if is_programs(error):
                raise

    def updated(self):
        self.left -= 1
        parameter = self._parameter()
        if parameter is None:
            return False
        before, self._version = self._version, parameter._version
        return self._version != before


class _Open(threading.local):
    """A thread's steps that have not ended."""

    def __init__(self):
        self.steps = []


class _Step:
    """One call of an optimizer's step that has not ended."""

    __slots__ = ("_optimizer", "began", "begin_ns", "_probe")

    def __init__(self, probe, optimizer):
        self._optimizer = weakref.ref(optimizer)  # weak: a step that raised stays open, and must not keep it alive
        self.began = False
        self.begin_ns = 0  # start of its own work; 0 while a closure runs
        self._probe = probe

    @property
    def optimizer(self):
        return self._optimizer()

    def goes_on(self):
        if not self.began:
            self._probe.optimizer_begins()
            self.began = True
        if not self.begin_ns:
            self.begin_ns = now_ns()

    def pauses(self, known):
        if self.begin_ns:
            _, name, parameters = known
            self._probe.range(OPTIMIZER, name, self.begin_ns, now_ns(), parameters)
        self.begin_ns = 0


class _Numbers:
    """Numbers optimizers. A training function that is called again builds its optimizer again at the same line: where
    the previous one is gone, the new one takes over its number. If that one is kept alive, the step clock detects it
    (probes/preload/step_clock.h)."""

    def __init__(self):
        self._holders = {}  # kind and line -> {number: weak reference to the optimizer that has it}
        self._count = 0

    def of(self, optimizer, kind_and_place):
        holders = self._holders.setdefault(kind_and_place, {})
        number = next((number for number, holder in holders.items() if holder() is None), None)
        if number is None:
            number = self._count = self._count + 1
        holders[number] = weakref.ref(optimizer)
        return number


def _numel(parameter):
    try:
        return parameter.numel()
    except Exception as error:  # of a lazy module that has not seen its input
        if is_programs(error):
            raise
        return 0


def _facts(optimizer, parameters, place):
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    facts = {"class": type(optimizer).__name__, "parameters": parameters}
    for key in ("foreach", "fused"):
        if key in group:
            facts[key] = {None: "default", True: "on", False: "off"}.get(group[key], group[key])
    facts["where"] = place
    return facts

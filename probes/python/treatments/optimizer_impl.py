"""optimizer.impl=fused|foreach|single: how torch's optimizers update their parameters."""

import inspect
import weakref

from .. import hooks, wrapping

KEY = "optimizer.impl"
NOTHING = "no optimizer of torch.optim was built"
REVERSIBLE = True

_SWITCHES = {
    "fused": {"fused": True, "foreach": False},
    "foreach": {"fused": False, "foreach": True},
    "single": {"fused": False, "foreach": False},
}


def apply(value, report):
    switches = _SWITCHES.get(value)
    if switches is None:
        return report.not_applicable(f"no such implementation: {value} (fused, foreach, single)")
    if report.live:
        return _switch(switches, value, report)
    building = []  # a class that passes its arguments to its base class is treated once
    optim = report.torch.optim
    for one in list(vars(optim).values()):
        if isinstance(one, type) and issubclass(one, optim.Optimizer) and "__init__" in vars(one):
            if one is not optim.Optimizer:
                wrapping.replace(
                    one, "__init__", lambda original: _wrapper(original, value, switches, building, report)
                )


def _wrapper(original, value, switches, building, report):
    known = inspect.signature(original).parameters

    def __init__(optimizer, params, *positional, **named):
        name = type(optimizer).__name__
        if building:
            return original(optimizer, params, *positional, **named)
        if value in _SWITCHES and value != "single" and value not in known:
            report.not_applicable(f"{name} has no {value} implementation")
            return original(optimizer, params, *positional, **named)
        params = list(params)  # a failed first try would exhaust a generator
        wanted = {**named, **{key: on for key, on in switches.items() if key in known}}
        building.append(optimizer)
        try:
            original(optimizer, params, *positional, **wanted)
        except (RuntimeError, ValueError) as error:
            report.not_applicable(f"{name} refuses {value}: {error}")
            return original(optimizer, params, *positional, **named)
        finally:
            building.pop()
        old, group = _implementation(named), optimizer.param_groups[0]
        if old == value:
            return report.not_applicable(f"{name} is {value} already", had=value)
        report.applied(old, value, read_back=lambda: _implementation(group))

    return __init__


def _switch(switches, value, report):
    """Optimizers read their groups' switches in every step."""
    optimizers = weakref.WeakKeyDictionary()  # -> the program's own switches, by group; None: cannot be switched

    def own(optimizer):
        known = inspect.signature(type(optimizer).__init__).parameters
        groups = optimizer.param_groups
        elsewhere = any(one.device.type != "cpu" for group in groups for one in group["params"])
        if not all(key in known for key in switches):
            report.not_applicable(f"{type(optimizer).__name__} has no {value} implementation")
        elif elsewhere and (value == "fused" or any(group.get("fused") for group in groups)):
            report.not_applicable(
                "on a GPU a fused optimizer keeps its state elsewhere: that cannot be switched between steps"
            )
        elif all(_implementation(group) == value for group in groups):
            report.not_applicable(f"{type(optimizer).__name__} is {value} already")
        else:
            return [{key: group.get(key) for key in switches} for group in groups]
        return None

    def switch(on):
        for optimizer, groups in optimizers.items():
            for group, before in zip(optimizer.param_groups, groups or []):
                group.update(switches if on else before)

    def begins(optimizer):
        if optimizer not in optimizers:
            optimizers[optimizer] = own(optimizer)
            if report.on:
                switch(True)
        if report.on and optimizers[optimizer]:
            report.acted()
            if not report.has_places():
                report.applied(_implementation(optimizers[optimizer][0]), value)

    report.on_switch.append(switch)
    hooks.step_begins.append(begins)


def _implementation(options):
    if options.get("fused"):
        return "fused"
    if options.get("foreach"):
        return "foreach"
    return "single" if options.get("foreach") is False else "default"

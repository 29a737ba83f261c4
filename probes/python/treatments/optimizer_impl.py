"""optimizer.impl=fused|foreach|single: how torch's optimizers update their parameters."""

import inspect

from .. import wrapping

KEY = "optimizer.impl"
NOTHING = "no optimizer of torch.optim was built"

_SWITCHES = {
    "fused": {"fused": True, "foreach": False},
    "foreach": {"fused": False, "foreach": True},
    "single": {"fused": False, "foreach": False},
}


def apply(value, report):
    switches = _SWITCHES.get(value)
    if switches is None:
        return report.not_applicable(f"no such implementation: {value} (fused, foreach, single)")
    building = []  # a class that hands its arguments on to its base class is asked once
    optim = report.torch.optim
    for one in list(vars(optim).values()):
        if isinstance(one, type) and issubclass(one, optim.Optimizer) and "__init__" in vars(one):
            if one is not optim.Optimizer:
                wrapping.replace(one, "__init__", lambda original: _wrapper(original, value, switches, building, report))


def _wrapper(original, value, switches, building, report):
    known = inspect.signature(original).parameters

    def __init__(optimizer, params, *positional, **named):
        name = type(optimizer).__name__
        if building:
            return original(optimizer, params, *positional, **named)
        if value in _SWITCHES and value != "single" and value not in known:
            report.not_applicable(f"{name} has no {value} implementation")
            return original(optimizer, params, *positional, **named)
        params = list(params)  # a generator would be used up by a first try that fails
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


def _implementation(options):
    if options.get("fused"):
        return "fused"
    if options.get("foreach"):
        return "foreach"
    return "single" if options.get("foreach") is False and options.get("fused") is False else "default"

"""optimizer=sgd|momentum|adam|adamw|lars|lamb|novograd: another update rule for every optimizer that the program builds, with
its parameter groups and learning rates, and its weight decay where it has one; changes the training."""

import inspect

from .. import hooks, update_rules

KEY = "optimizer"
NOTHING = "no optimizer of torch.optim was built"

_KEPT = ("params", "lr", "initial_lr", "foreach", "fused", "maximize", "differentiable", "capturable")


def apply(value, report):
    rules = update_rules.of(report.torch)
    if value not in rules:
        return report.not_applicable(f"no such update rule: {value} ({', '.join(rules)})")
    kind, options = rules[value]

    def made(optimizer):
        old = _name(optimizer, report.torch)
        if old == value:
            return report.not_applicable(f"it is {value} already", had=value)
        _become(optimizer, kind, options)
        report.applied(old, value, read_back=lambda: value if type(optimizer) is kind else type(optimizer).__name__)
        return None

    hooks.optimizer_made.insert(0, made)  # the other hooks then see the new class


def _become(optimizer, kind, options):
    """Before the first step there is no state to convert."""
    known = inspect.signature(kind.__init__).parameters.values()
    defaults = {one.name: one.default for one in known if one.default is not inspect.Parameter.empty}
    defaults.update(options)
    for group in optimizer.param_groups:
        kept = {
            key: group[key] for key in _KEPT if key in group and (key in defaults or key in ("params", "initial_lr"))
        }
        if group.get("weight_decay"):
            kept["weight_decay"] = group["weight_decay"]
        group.clear()
        group.update({**defaults, **kept})
    optimizer.defaults = defaults
    optimizer.__class__ = kind
    optimizer._patch_step_function()  # torch calls step hooks only for classes that it has patched


def _name(optimizer, torch):
    name = type(optimizer).__name__
    if type(optimizer) is torch.optim.SGD:
        return "momentum" if optimizer.defaults.get("momentum") else "sgd"
    return name.lower() if type(optimizer) in (torch.optim.Adam, torch.optim.AdamW) else name

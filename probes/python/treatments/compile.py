"""compile=on: modules with parameters are compiled at their first outermost call in training."""

import weakref

from .. import hooks

KEY = "compile"
NOTHING = "no module with parameters was called in training mode"


def apply(value, report):
    torch = report.torch
    if value != "on":
        return report.not_applicable(f"only compile=on is known, not {value}")
    seen = weakref.WeakSet()

    def begins(module):
        if module in seen or not module.training or not torch.is_grad_enabled():
            return None
        seen.add(module)
        if next(module.parameters(), None) is None:
            return None
        if any(hasattr(one, "_orig_mod") or one._compiled_call_impl is not None for one in module.modules()):
            report.not_applicable("the program compiles its model already")
            return None
        module.compile()
        report.applied("eager", "compiled", where=type(module).__qualname__)
        return None

    hooks.forward_begins.append(begins)

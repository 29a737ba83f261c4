"""Compiles modules at their first outermost call in training, for all treatments that ask for it at once, since a
module can be compiled only once."""

import weakref

from . import hooks

_asked = []  # (report, now, mode of torch.compile or None, f(parameter) -> whether the treatment fits such a model)
_seen = weakref.WeakSet()


def ask(report, now, mode=None, fits=lambda parameter: True):
    if not _asked:
        hooks.forward_begins.append(_begins)
    _asked.append((report, now, mode, fits))


def _begins(module):
    if module in _seen or not module.training or not _asked[0][0].torch.is_grad_enabled():
        return None
    _seen.add(module)
    parameters = list(module.parameters())
    asked = [one for one in _asked if parameters and all(map(one[3], parameters))]
    if any(hasattr(one, "_orig_mod") or one._compiled_call_impl is not None for one in module.modules()):
        for report, *_ in asked:
            report.not_applicable("the program compiles its model already")
        return None
    modes = [mode for _, _, mode, _ in asked if mode]
    if asked:
        module.compile(**({"mode": modes[0]} if modes else {}))
    for report, now, *_ in asked:
        report.applied("eager", now, where=type(module).__qualname__)
    return None

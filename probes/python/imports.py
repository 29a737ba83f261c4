"""Calls back once a module has been imported; costs one dictionary look-up per import until then."""

import sys


class _Finder:
    def __init__(self, callbacks):
        self._callbacks = callbacks
        self._busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self._callbacks or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = self._find_further(name, path, target)
        finally:
            self._busy.discard(name)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            self._call_back_after(spec)
        return spec

    def _find_further(self, name, path, target):
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find else None
            if spec is not None:
                return spec
        return None

    def _call_back_after(self, spec):
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)  # already removed if another finder waits for this module too
            execute(module)
            callback = self._callbacks.pop(spec.name, None)
            if not self._callbacks and self in sys.meta_path:
                sys.meta_path.remove(self)
            if callback:
                callback(module)

        loader.exec_module = exec_module


def after(callbacks):
    """`callbacks`: module name -> function of the module. One already imported is called back at once."""
    waiting = {}
    for name, callback in callbacks.items():
        if name in sys.modules:
            callback(sys.modules[name])
        else:
            waiting[name] = callback
    if waiting:
        sys.meta_path.insert(0, _Finder(waiting))

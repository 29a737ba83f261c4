"""The shim's notes on the program's objects, kept apart: attributes would show in their vars() and pickles."""

import functools
import weakref


class Notes:
    """One note per object, for its lifetime. By identity: a class may override equality."""

    def __init__(self):
        self._kept = {}  # id -> (weak reference, note)

    def set(self, owner, note):
        """Returns whether it could: an object with slots may refuse weak references."""
        key = id(owner)
        # No Python code here: a signal handler might run in it, and its exceptions would be lost in a callback.
        forget = functools.partial(self._kept.pop, key)  # its argument, the reference, is pop's default
        try:
            self._kept[key] = weakref.ref(owner, forget), note
        except TypeError:
            return False
        return True

    def of(self, owner, default=None):
        reference, note = self._kept.get(id(owner), (None, None))
        return note if reference is not None and reference() is owner else default

    def take(self, owner, default=None):
        """Reads it and removes it."""
        note = self.of(owner, default)
        self._kept.pop(id(owner), None)
        return note

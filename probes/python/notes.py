"""What the shim knows about the program's objects, beside them: an attribute would show in their vars() and their pickles."""

import functools
import weakref


class Notes:
    """One note on each object, for as long as it lives. By identity: a class may have its own idea of what is equal."""

    def __init__(self):
        self._kept = {}  # id -> (weak reference, note)

    def set(self, owner, note):
        """Returns whether it could: an object with slots may refuse weak references."""
        key = id(owner)
        # Without a line of Python, in which a signal's handler might run: what it raises would be lost in a callback.
        forget = functools.partial(self._kept.pop, key)  # its argument, the reference, is what pop gives where none is
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

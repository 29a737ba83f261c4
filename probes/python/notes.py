"""What the shim notes on the program's objects. Neither read nor written through an object's __dict__: CPython 3.11 and 3.12
make that dict only when asked for it, and every attribute of the object is slower from then on."""

_read, _write, _remove = object.__getattribute__, object.__setattr__, object.__delattr__


def note(owner, name, value):
    _write(owner, name, value)


def noted(owner, name, default=None):
    try:
        return _read(owner, name)
    except AttributeError:
        return default


def take(owner, name, default=None):
    """Reads it and removes it."""
    value = noted(owner, name, default)
    if value is not default:
        _remove(owner, name)
    return value

"""Replacing functions of torch by wrappers that look like them."""

import functools
import inspect


def replace(owner, name, make_wrapper):
    """`make_wrapper(original)` takes the place of `owner.name`."""
    original = getattr(owner, name)
    setattr(owner, name, functools.wraps(original)(make_wrapper(original)))


def with_arguments(owner, name, changes, skip_first=True):
    """Before each call of `owner.name`, every function of `changes` may edit its arguments, given by name with
    defaults left out. A call whose arguments do not fit is passed on as it is, to raise its own error."""

    def make(original):
        signature = inspect.signature(original)

        def wrapper(*positional, **named):
            try:
                bound = signature.bind(*positional, **named)
            except TypeError:
                return original(*positional, **named)
            for change in changes:
                change(bound.arguments)
            return original(*bound.args, **bound.kwargs)

        return wrapper

    replace(owner, name, make)

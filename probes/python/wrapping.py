"""Replacing functions of torch by wrappers that look like them."""

import functools
import inspect
import types


def replace(owner, name, make_wrapper):
    """`make_wrapper(original)` takes the place of `owner.name`."""
    original = getattr(owner, name)
    setattr(owner, name, functools.wraps(original)(make_wrapper(original)))


def replace_method(instance, name, make_wrapper):
    """The same for one object: a bound method, as others that wrap it (learning rate schedulers) expect."""
    original = getattr(instance, name)
    wrapper = make_wrapper(original)

    @functools.wraps(original)
    def method(_, *positional, **named):
        return wrapper(*positional, **named)

    setattr(instance, name, types.MethodType(method, instance))


def with_arguments(owner, name, changes):
    """Before each call of `owner.name`, every function of `changes` may edit its arguments: a dict by name in which
    those left to their defaults are missing. A call whose arguments do not fit is passed on, to raise its own error."""

    def make(original):
        signature = inspect.signature(original)
        order = list(signature.parameters)

        def wrapper(*positional, **named):
            try:
                bound = signature.bind(*positional, **named)
            except TypeError:
                return original(*positional, **named)
            for change in changes:
                change(bound.arguments)
            # What was added must stand in the order of the parameters, or BoundArguments drops it.
            bound.arguments = {key: bound.arguments[key] for key in order if key in bound.arguments}
            return original(*bound.args, **bound.kwargs)

        return wrapper

    replace(owner, name, make)

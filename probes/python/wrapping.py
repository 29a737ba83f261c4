"""Functions of torch and others, observed without a wrapper, or replaced by look-alikes (treatments)."""

import functools
import inspect
import types

from .faults import is_programs


def watch(probe, owner, name, before=None, after=None):
    """Calls before(...) with the arguments of each call of the function `owner.name`, and after(token, owner, result,
    raised) at its end: what `before` returned, the call's first argument, its result, and whether it raised. The
    function itself stays the same: its attributes, its pickle, and the frames in warnings and tracebacks."""
    setattr(owner, name, watched(probe, getattr(owner, name), before, after))


def watched(probe, original, before=None, after=None):
    """The replacement that watch() installs."""
    if probe.around:
        return probe.around(original, before, after)

    @functools.wraps(original)
    def call(*positional, **named):
        token, result, raised = before(*positional, **named) if before else None, None, True
        try:
            result = original(*positional, **named)
            raised = False
            return result
        finally:
            if after:
                after(token, positional[0] if positional else None, result, raised)

    return call


def watch_arguments(probe, owner, name, see):
    """Before each call of `owner.name`, `see` gets its arguments: a dict by name in which those left to their defaults
    are missing. Calls with invalid arguments are skipped."""
    signature = inspect.signature(getattr(owner, name))

    def before(*positional, **named):
        try:
            bound = signature.bind(*positional, **named)
        except TypeError:
            return
        see(bound.arguments)

    watch(probe, owner, name, before)


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
    those left to their defaults are missing. A call with invalid arguments is passed on, to raise its own error."""

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
            # Added arguments must be in parameter order, or BoundArguments drops them.
            bound.arguments = {key: bound.arguments[key] for key in order if key in bound.arguments}
            return original(*bound.args, **bound.kwargs)

        return wrapper

    replace(owner, name, make)


def classes_from(base):
    """`base` and all that derive from it."""
    found, classes = {base}, [base]
    for one in classes:
        fresh = [derived for derived in one.__subclasses__() if derived not in found]
        found.update(fresh)
        classes.extend(fresh)
    return classes


def each_class(base, see):
    """Calls see(a class) for `base` and all that derive from it, those to come as soon as they are made."""
    for one in classes_from(base):
        see(one)
    own = vars(base).get("__init_subclass__")

    def __init_subclass__(cls, **named):
        if own is not None:
            own.__func__(cls, **named)
        else:
            super(base, cls).__init_subclass__(**named)
        try:
            see(cls)
        except Exception as error:
            if is_programs(error):
                raise

    base.__init_subclass__ = classmethod(__init_subclass__)

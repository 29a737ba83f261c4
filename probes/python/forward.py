"""Outermost calls of modules: forward passes, and which of them evaluate. In the detail window all calls, by name."""

import contextlib
import functools
import sys
import threading
import weakref

from . import hooks
from .faults import is_programs, shielded
from .probe import EVALUATION, FORWARD, MODULE, now_ns, text

_OUTSIDE, _INSIDE, _NAMING = 0, 1, 2
_WRAPPERS = ("module.", "_orig_mod.")  # prefixes that parallel and compiled models add to a name


class _Thread(threading.local):
    """A thread's place: outside of any module's call, or inside one, whose inner calls are recorded by name or not."""

    place = _OUTSIDE  # without the builtin
    names = {}  # names of the modules inside the outermost one, by id


class _Root:
    """A module that was called as the outermost one."""

    def __init__(self, module, when_it_goes):
        # A builtin: exceptions of a signal handler in a Python callback would be lost.
        self.module = weakref.ref(module, when_it_goes)
        self.name = text(type(module).__name__)
        self._names = None
        self.ran = False  # in training mode, before the first backward that followed
        self.trained = False  # a call in training mode was followed by a backward
        self.looked = None  # the set of modules that trained, when those inside were looked for
        self.holds_trained = False

    def names(self, module):
        """Names of the modules inside, by id."""
        if self._names is None:
            self._names = {}
            try:
                self._names.update((id(one), text(_name(name, one))) for name, one in module.named_modules())
            except Exception as error:  # a module may override how it lists its parts
                if is_programs(error):
                    raise
        return self._names


def _name(path, module):
    """ "layer1.0.conv1"; its class for the whole model, however wrapped."""
    path += "."
    for wrapper in _WRAPPERS:
        while path.startswith(wrapper):
            path = path[len(wrapper) :]
    return path.strip(".") or type(module).__name__


class Forward:
    """Wraps Module.__call__; a call within a call costs a look at the thread's place."""

    def __init__(self, probe, torch):
        self._probe = probe
        self._torch = torch
        self._thread = _Thread()
        self._roots = {}  # by id
        self._ran = []  # roots that ran
        self._trained = set()  # those that trained, by id
        self._evaluation = None  # (begin, end) of the forward passes in evaluation mode since the last in training mode

    def install(self):
        module, is_compiling = self._torch.nn.Module, self._torch.compiler.is_compiling
        self._original = module.__call__
        # torch.compile does not trace the call that exists when it is loaded, but traces one set later.
        if self._probe.around_modules and "torch._dynamo" not in sys.modules:
            treated = bool(hooks.forward_begins or hooks.forward_ends)
            module.__call__ = self._probe.around_modules(
                self._original,
                self._run_treated,
                shielded(self._names, {}),
                shielded(self._note, b""),
                is_compiling,
                treated,
            )
            # Pickled by its original name.
            if vars(module).get(self._original.__name__) is self._original:
                setattr(module, self._original.__name__, module.__call__)
        else:
            module.__call__ = self._wrapped(self._original, is_compiling)

    def _wrapped(self, original, is_compiling):
        """The same as around_modules (probes/preload/python/builtins.h)."""
        thread, outermost, named_call = self._thread, self._outermost, self._named_call

        @functools.wraps(original)
        def __call__(self_, *positional, **named):
            # First, since torch.compile also traces this: nothing here may break its graph.
            if is_compiling() or thread.place == _INSIDE:
                return original(self_, *positional, **named)
            return (named_call if thread.place == _NAMING else outermost)(self_, positional, named)

        return __call__

    def _outermost(self, module, positional, named):
        thread = self._thread
        thread.place = _INSIDE
        if self._probe.in_detail():
            thread.names = self._names(module)
            thread.place = _NAMING
        begin_ns = now_ns()
        try:
            if hooks.forward_begins or hooks.forward_ends:
                return self._run_treated(module, *positional, **named)
            return (self._named_call if thread.place == _NAMING else self._run)(module, positional, named)
        finally:
            thread.place = _OUTSIDE
            self._note(module, begin_ns, now_ns())

    def _run(self, module, positional, named):
        return self._original(module, *positional, **named)

    def _named_call(self, module, positional, named):
        begin_ns = now_ns()
        try:
            return self._original(module, *positional, **named)
        finally:
            name = self._thread.names.get(id(module)) or text(type(module).__name__)
            self._probe.range(MODULE, name, begin_ns, now_ns(), 0)

    def _names(self, module):
        return self._root(module).names(module)

    def _run_treated(self, module, *positional, **named):
        with contextlib.ExitStack() as scopes:
            for function in hooks.forward_begins:
                scope = function(module)
                if scope is not None:
                    scopes.enter_context(scope)
            output = self._original(module, *positional, **named)
        for function in hooks.forward_ends:
            output = function(module, output)
        return output

    def _root(self, module):
        key = id(module)
        root = self._roots.get(key)
        if root is not None and root.module() is not module:  # the id was another module's
            root = None
            self._roots = {one: known for one, known in self._roots.items() if known.module() is not None}
        if root is None:
            root = self._roots[key] = _Root(module, self._probe.modules_changed)
        return root

    def _note(self, module, begin_ns, end_ns):
        """Returns the module's name if its further calls in training mode only need a range recorded, b"" if not, None
        where that has changed for all modules."""
        root = self._root(module)
        self._probe.range(FORWARD, root.name, begin_ns, end_ns, 0)
        if module.training:
            if not root.trained and not root.ran and self._torch.is_grad_enabled():
                root.ran = True
                self._ran.append(root)
                self._probe.backward_is_due()
            if self._evaluation and root.trained:
                self._close_evaluation()
            return root.name if root.trained else b""
        if not root.trained and not self._holds_trained(root, module):
            return b""
        begin_ns = self._evaluation[0] if self._evaluation else begin_ns
        self._evaluation = (begin_ns, end_ns)
        self._probe.backward_is_due()
        return None

    def backward_begins(self):
        """Earlier calls were training; by this rule a model that trains in evaluation mode never evaluates."""
        self._evaluation = None
        for root in self._ran:
            root.ran, root.trained = False, True
        if self._ran:
            self._trained = {key for key, root in self._roots.items() if root.trained}
        self._ran.clear()

    def _holds_trained(self, root, module):
        """A policy that acts as a whole may train by its parts."""
        if root.looked is not self._trained:
            root.looked = self._trained
            root.holds_trained = not self._trained.isdisjoint(root.names(module))
        return root.holds_trained

    def _close_evaluation(self):
        self._probe.range(EVALUATION, b"evaluation", *self._evaluation, 0)
        self._evaluation = None

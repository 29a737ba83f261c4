"""Outermost calls of modules: forward passes, and which of them evaluate. In the detail window all calls, by name."""

import contextlib
import functools
import threading
import weakref

from . import hooks
from .probe import EVALUATION, FORWARD, MODULE, now_ns, text

_OUTSIDE, _INSIDE, _NAMING = 0, 1, 2
_WRAPPERS = ("module.", "_orig_mod.")  # what parallel and compiled models put before a name


class _Thread(threading.local):
    """Where a thread is: outside of any module's call, or inside one, whose inner calls are recorded by name or not."""

    place = _OUTSIDE
    names = None  # of the modules inside the outermost one, by id


class _Root:
    """A module that was called outermost."""

    def __init__(self, module, forget):
        self.module = weakref.ref(module, forget)
        self.name = text(type(module).__name__)
        self._names = None
        self.ran = False  # in training mode, before the first backward that followed
        self.trained = False  # a call in training mode was followed by a backward

    def names(self, module):
        """Of the modules inside, by id."""
        if self._names is None:
            self._names = {}
            with contextlib.suppress(Exception):  # of a module that lists its parts in a way of its own
                self._names.update((id(one), text(_name(name, one))) for name, one in module.named_modules())
        return self._names


def _name(path, module):
    """"layer1.0.conv1"; its class for the whole model, however wrapped."""
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
        self._evaluation = None  # (begin, end) of the forward passes in evaluation mode since the last in training mode

    def install(self):
        module = self._torch.nn.Module
        original = module.__call__
        thread = self._thread
        outermost, named_call = self._outermost, self._named_call
        is_compiling = self._torch.compiler.is_compiling

        @functools.wraps(original)
        def __call__(self_, *positional, **named):
            # First, since torch.compile traces this too: it must find nothing here that would break its graph.
            if is_compiling() or thread.place == _INSIDE:
                return original(self_, *positional, **named)
            if thread.place == _NAMING:
                return named_call(original, self_, positional, named)
            return outermost(original, self_, positional, named)

        module.__call__ = __call__

    def _outermost(self, original, module, positional, named):
        thread = self._thread
        thread.place = _INSIDE
        begin_ns = now_ns()
        if self._probe.in_detail():
            thread.names = self._root(module).names(module)
            thread.place = _NAMING
            original = self._by_name(original)
        try:
            if hooks.forward_begins or hooks.forward_ends:
                return self._treated(original, module, positional, named)
            return original(module, *positional, **named)
        finally:
            thread.place = _OUTSIDE
            self._note(module, begin_ns, now_ns())

    def _by_name(self, original):
        return lambda module, *positional, **named: self._named_call(original, module, positional, named)

    def _named_call(self, original, module, positional, named):
        begin_ns = now_ns()
        try:
            return original(module, *positional, **named)
        finally:
            name = self._thread.names.get(id(module)) or text(type(module).__name__)
            self._probe.range(MODULE, name, begin_ns, now_ns(), 0)

    @staticmethod
    def _treated(original, module, positional, named):
        with contextlib.ExitStack() as scopes:
            for function in hooks.forward_begins:
                scope = function(module)
                if scope is not None:
                    scopes.enter_context(scope)
            output = original(module, *positional, **named)
        for function in hooks.forward_ends:
            output = function(module, output)
        return output

    def _root(self, module):
        key = id(module)
        root = self._roots.get(key)
        if root is None:
            roots = self._roots
            root = roots[key] = _Root(module, lambda _: roots.pop(key, None))
        return root

    def _note(self, module, begin_ns, end_ns):
        root = self._root(module)
        self._probe.range(FORWARD, root.name, begin_ns, end_ns, 0)
        if module.training:
            if not root.trained and not root.ran and self._torch.is_grad_enabled():
                root.ran = True
                self._ran.append(root)
                self._probe.backward_is_due()
            if self._evaluation and root.trained:
                self._close_evaluation()
        elif root.trained:
            begin_ns = self._evaluation[0] if self._evaluation else begin_ns
            self._evaluation = (begin_ns, end_ns)
            self._probe.backward_is_due()

    def backward_begins(self):
        """The calls before it trained; a model that trains in evaluation mode never evaluates by this rule."""
        self._evaluation = None
        for root in self._ran:
            root.ran, root.trained = False, True
        self._ran.clear()

    def _close_evaluation(self):
        self._probe.range(EVALUATION, b"evaluation", *self._evaluation, 0)
        self._evaluation = None

"""Outermost calls of modules: forward passes, and which of them evaluate."""

import contextlib
import functools
import threading
import weakref

from . import hooks
from .probe import EVALUATION, FORWARD, now_ns


class Forward:
    """Wraps Module.__call__; a call within a call costs a look at a thread's depth."""

    def __init__(self, probe, torch):
        self._probe = probe
        self._torch = torch
        self._thread = threading.local()
        self._thread.depth = 0
        self._ran = weakref.WeakSet()  # roots called in training mode since the last backward
        self._trained = weakref.WeakSet()  # roots whose call in training mode was followed by a backward
        self._evaluation = None  # (begin, end) of the forward passes in evaluation mode since the last in training mode

    def install(self):
        module = self._torch.nn.Module
        original = module.__call__
        thread = self._thread

        @functools.wraps(original)
        def __call__(self_, *positional, **named):
            if getattr(thread, "depth", 0):
                return original(self_, *positional, **named)
            return outermost(original, self_, positional, named)

        outermost = self._outermost
        module.__call__ = __call__

    def _outermost(self, original, module, positional, named):
        self._thread.depth = 1
        begin_ns = now_ns()
        try:
            with contextlib.ExitStack() as scopes:
                for function in hooks.forward_begins:
                    scope = function(module)
                    if scope is not None:
                        scopes.enter_context(scope)
                output = original(module, *positional, **named)
            for function in hooks.forward_ends:
                output = function(module, output)
            return output
        finally:
            self._thread.depth = 0
            end_ns = now_ns()
            self._probe.range(FORWARD, type(module).__name__.encode(), begin_ns, end_ns, 0)
            self._note(module, begin_ns, end_ns)

    def _note(self, module, begin_ns, end_ns):
        if module.training:
            if self._torch.is_grad_enabled():
                self._ran.add(module)
            if module in self._trained:
                self._close_evaluation()
        elif module in self._trained:
            begin_ns = self._evaluation[0] if self._evaluation else begin_ns
            self._evaluation = (begin_ns, end_ns)

    def backward_begins(self):
        """The calls before it trained; a model that trains in evaluation mode never evaluates by this rule."""
        self._evaluation = None
        self._trained.update(self._ran)
        self._ran.clear()

    def trained(self, module):
        """Whether `module` was called in training mode and a backward followed."""
        return module in self._trained

    def _close_evaluation(self):
        if self._evaluation:
            self._probe.range(EVALUATION, b"evaluation", *self._evaluation, 0)
        self._evaluation = None

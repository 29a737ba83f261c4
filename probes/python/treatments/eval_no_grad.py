"""eval.no_grad=on: evaluation records no graph.

Which calls evaluate is learned from the program: those of a model in evaluation mode that was trained in training mode
before, and those on batches of a loader that was iterated once without a backward pass, while training was in progress."""

import weakref

from .. import hooks

KEY = "eval.no_grad"
NOTHING = (
    "no evaluation with gradients enabled was seen, neither of a trained model nor on a loader that is never trained on"
)


def apply(value, report):
    torch = report.torch
    called, trained = weakref.WeakSet(), weakref.WeakSet()
    loaders = _Loaders()

    def begins(module):
        if not torch.is_grad_enabled():
            return None
        if loaders.evaluates() or not module.training and module in trained:
            report.applied("records a graph", "no_grad")
            return torch.no_grad()
        if module.training:
            called.add(module)
        return None

    def backward(roots):
        trained.update(called)
        called.clear()
        loaders.backward()
        return roots

    hooks.batch_given.append(loaders.gave)
    hooks.pass_ended.append(loaders.ended)
    hooks.forward_begins.append(begins)
    hooks.backward_begins.append(backward)


class _Loaders:
    """Which loaders only evaluate: they were iterated while training was in progress, without a backward pass."""

    def __init__(self):
        self._backwards = 0
        self._begun = weakref.WeakKeyDictionary()  # loader -> backward passes at its pass's first batch
        self._evaluate = weakref.WeakSet()
        self._last = None  # weak: the loader of the current pass

    def gave(self, loader):
        if loader is not None:
            self._begun.setdefault(loader, self._backwards)
            self._last = weakref.ref(loader)

    def ended(self, loader):
        self._last = None
        if loader is not None and self._begun.pop(loader, -1) == self._backwards > 0:
            self._evaluate.add(loader)

    def backward(self):
        self._backwards += 1
        loader = self._last() if self._last is not None else None
        if loader is not None:
            self._evaluate.discard(loader)

    def evaluates(self):
        return self._last is not None and self._last() in self._evaluate

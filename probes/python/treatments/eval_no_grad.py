"""eval.no_grad=on: a model that trains in training mode records no graph when it is called in evaluation mode."""

import weakref

from .. import hooks

KEY = "eval.no_grad"
NOTHING = "no trained model was called in evaluation mode with gradients on"


def apply(value, report):
    torch = report.torch
    called, trained = weakref.WeakSet(), weakref.WeakSet()

    def begins(module):
        if not torch.is_grad_enabled():
            return None
        if module.training:
            called.add(module)
            return None
        if module not in trained:
            return None
        report.applied("records a graph", "no_grad")
        return torch.no_grad()

    def backward(roots):
        trained.update(called)
        called.clear()
        return roots

    hooks.forward_begins.append(begins)
    hooks.backward_begins.append(backward)

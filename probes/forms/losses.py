"""Losses that are written out."""

import torch
import torch.nn.functional as F
from works import Pair, inputs


def _logits(work):
    x = inputs(work)[0].random()
    return x, torch.rand(x.shape).to(x.dtype)


def _after_sigmoid(work):
    x, labels = _logits(work)

    def before():
        return F.binary_cross_entropy(torch.sigmoid(x), labels)

    return Pair(before, lambda: F.binary_cross_entropy_with_logits(x, labels), [x])


def _binary(work):
    x, labels = _logits(work)

    def before():
        p = torch.sigmoid(x)
        return -(labels * torch.log(p + 1e-8) + (1 - labels) * torch.log(1 - p + 1e-8)).mean()

    return Pair(before, lambda: F.binary_cross_entropy_with_logits(x, labels), [x])


def _log_of_softmax(work):
    scores, labels = inputs(work)[:2]
    x, classes = scores.random(), labels.below(scores.sizes[1])
    return Pair(lambda: F.nll_loss(torch.log(torch.softmax(x, 1)), classes), lambda: F.cross_entropy(x, classes), [x])


def _one_hot(work):
    scores = inputs(work)[0]
    rows, size = scores.sizes
    x, classes = scores.random(), torch.randint(0, size, (rows,))
    labels = F.one_hot(classes, size)

    def before():
        return -(labels * F.log_softmax(x, -1)).sum(-1).mean()

    return Pair(before, lambda: F.cross_entropy(x, classes), [x])


def _probabilities(work):
    scores = inputs(work)[0]
    rows, size = scores.sizes
    x, classes = scores.random(), torch.randint(0, size, (rows,))
    return Pair(
        lambda: F.cross_entropy(x, F.one_hot(classes, size).to(x.dtype)), lambda: F.cross_entropy(x, classes), [x]
    )


FORMS = {
    "loss-after-sigmoid": _after_sigmoid,
    "binary-loss-written-out": _binary,
    "log-of-softmax": _log_of_softmax,
    "one-hot-labels": _one_hot,
    "one-hot-probabilities": _probabilities,
}

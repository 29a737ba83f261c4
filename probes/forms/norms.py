"""Norms that are written out, or that have a cheaper operator."""

import torch
import torch.nn.functional as F
from works import Pair, inputs, leaf, leaves_of


def _layer_norm(work):
    x = inputs(work)[0].random()
    size = x.size(-1)
    weight, bias = (leaf(size, dtype=x.dtype) for _ in range(2))

    def before():
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        return weight * ((x - mean) / torch.sqrt(variance + 1e-5)) + bias

    return Pair(before, lambda: F.layer_norm(x, (size,), weight, bias), [x, weight, bias])


def _batch_norm(work):
    x = inputs(work)[0].random()
    dims = [dim for dim in range(x.dim()) if dim != 1]

    def before():
        mean = x.mean(dims, keepdim=True)
        variance = ((x - mean) ** 2).mean(dims, keepdim=True)
        return (x - mean) / torch.sqrt(variance + 1e-5)

    return Pair(before, lambda: F.batch_norm(x, None, None, training=True), [x])


def _instance_norm(work):
    image, weight, bias, *_ = inputs(work)
    x = image.random()
    w, b = (one.random() if one else None for one in (weight, bias))
    return Pair(
        lambda: F.instance_norm(x, weight=w, bias=b), lambda: F.group_norm(x, x.size(1), w, b), leaves_of(x, w, b)
    )


FORMS = {
    "layer-norm-written-out": _layer_norm,
    "batch-norm-written-out": _batch_norm,
    "instance-norm": _instance_norm,
}

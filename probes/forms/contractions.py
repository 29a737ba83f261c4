"""Sums of products: number by number, in a costly order, with a matrix that is written out for nothing."""

import torch
import torch.nn.functional as F
from works import Pair, inputs, leaves_of, numbers


def _by_broadcast(work):
    text, summed = work.split("|")
    a, b = (one.random() for one in inputs(text)[:2])
    dims = [dim % a.dim() for dim in numbers(summed)]
    letters = "abcdefghijkl"[: a.dim()]
    one, other = ("".join(letter for letter, size in zip(letters, tensor.shape) if size > 1) for tensor in (a, b))
    kept = "".join(letter for i, letter in enumerate(letters) if i not in dims and letter in one + other)

    def after():
        return torch.einsum(f"{one},{other}->{kept}", a.squeeze(), b.squeeze())

    return Pair(lambda: (a * b).sum(dims).squeeze(), after, [a, b])


def _order(work):
    side, first, second = work.split("|")
    a, b = (one.random() for one in inputs(first)[:2])
    c = inputs(second)[1 if side == "left" else 0].random()
    if side == "left":
        return Pair(lambda: (a @ b) @ c, lambda: a @ (b @ c), [a, b, c])
    return Pair(lambda: c @ (a @ b), lambda: (c @ a) @ b, [a, b, c])


def _diagonal(work):
    side, vector, reader = work.split("|")
    v = inputs(vector)[0].random()
    x = inputs(reader)[1 if side == "left" else 0].random()
    if side == "left":
        return Pair(lambda: torch.diag(v) @ x, lambda: v.view(-1, *[1] * (x.dim() - 1)) * x, [v, x])
    return Pair(lambda: x @ torch.diag(v), lambda: x * v, [v, x])


def _bilinear(work):
    first, second, weight, bias = inputs(work)
    x1, x2, w = first.random(), second.random(), weight.random()
    b = bias.random() if bias else None

    def after():
        half = (x1 @ w.permute(1, 0, 2).flatten(1)).unflatten(-1, (w.size(0), w.size(2)))
        out = (half @ x2.unsqueeze(-1)).squeeze(-1)
        return out if b is None else out + b

    return Pair(lambda: F.bilinear(x1, x2, w, b), after, leaves_of(x1, x2, w, b))


def _one_for_all(work):
    side, how, text = work.split("|")
    a, b = inputs(text)[:2]
    one, other = (a, b) if side == "left" else (b, a)
    matrix, batch = one.random(sizes=one.sizes[1:]), other.random()
    count = one.sizes[0]

    def for_all():
        return matrix.repeat(count, 1, 1) if how == "aten::repeat" else matrix.expand(count, *matrix.shape)

    if side == "right":
        return Pair(lambda: batch @ for_all(), lambda: batch @ matrix, [matrix, batch])

    def turned():
        return (batch.transpose(1, 2) @ matrix.T).transpose(1, 2)

    return Pair(lambda: for_all() @ batch, turned, [matrix, batch])


FORMS = {
    "product-by-broadcast": _by_broadcast,
    "product-order": _order,
    "diagonal-product": _diagonal,
    "bilinear": _bilinear,
    "one-matrix-for-all": _one_for_all,
}

"""Sorting where less would do."""

import torch
from works import Pair, inputs, leaves_of


def _sort(work):
    text, kept, name = work.split("|")
    shape, dim, descending = inputs(text)[:3]
    x, dim, kept = shape.random(), int(dim), int(float(kept))
    largest = descending == "true"
    place = 1 if name == "aten::argsort" else 0

    def before():
        return torch.sort(x, dim, largest)[place].narrow(dim, 0, kept)

    return Pair(before, lambda: torch.topk(x, kept, dim, largest)[place], leaves_of(x))


def _quantile(work):
    shape, q, dim, *_ = inputs(work)
    if not isinstance(q, str):
        return None
    x, q = shape.random(), float(q)
    flat = x if dim else x.flatten()
    dim = int(dim) if dim else 0
    rank = min(int(q * (flat.size(dim) - 1)) + 1, flat.size(dim))
    return Pair(lambda: torch.quantile(flat, q, dim=dim), lambda: flat.kthvalue(rank, dim)[0], leaves_of(x))


FORMS = {"sort-for-few": _sort, "quantile-by-sort": _quantile}

"""Rows that are taken from a table."""

import torch
import torch.nn.functional as F
from works import Pair, inputs


def _rows(work):
    table, (index,) = inputs(work)[:2]
    x, rows = table.random(), index.below(table.sizes[0])

    def after():
        return x.index_select(0, rows.reshape(-1)).unflatten(0, rows.shape)

    return Pair(lambda: x[rows], after, [x])


def _elements(work):
    table, index = inputs(work)[:2]
    x, dim = table.random(), next(i for i, one in enumerate(index) if one)
    taken = [one.below(table.sizes[dim + i]) for i, one in enumerate(index[dim:])]

    def before():
        return x[(*[slice(None)] * dim, *taken)]

    def after():
        flat = taken[0] if len(taken) == 1 else taken[0] * x.size(dim + 1) + taken[1]
        whole = x.flatten(dim, dim + len(taken) - 1)
        return whole.index_select(dim, flat.reshape(-1)).unflatten(dim, flat.shape)

    return Pair(before, after, [x])


def _gathered(work):
    table, dim, index = inputs(work)[:3]
    x, dim = table.random(), int(dim)
    rows = torch.randint(0, table.sizes[-2], index.sizes[:-1])
    width = index.sizes[-1]

    def after():
        if x.dim() == 2:
            return x.index_select(0, rows)
        offsets = torch.arange(x.size(0)).unsqueeze(1) * x.size(1)
        return x.flatten(0, 1).index_select(0, (rows + offsets).flatten()).unflatten(0, rows.shape)

    return Pair(lambda: x.gather(dim, rows.unsqueeze(-1).expand(*rows.shape, width)), after, [x])


def _scattered(work):
    table, _, index, source = inputs(work)[:4]
    into, added = table.random(False), source.random()
    rows = torch.randint(0, table.sizes[0], index.sizes[:1])

    def before():
        return into.scatter_add(0, rows.unsqueeze(-1).expand(index.sizes), added)

    return Pair(before, lambda: into.index_add(0, rows, added), [added])


def _picked(work):
    text, product = work.split("|")
    labels, classes = inputs(text)
    x = next(one for one in inputs(product) if one.dtype.is_floating_point).random()
    rows = labels.below(int(classes))

    def before():
        return (x * F.one_hot(rows, int(classes)).to(x.dtype)).sum(-1)

    return Pair(before, lambda: x.gather(-1, rows.unsqueeze(-1)).squeeze(-1), [x])


def _masked(work):
    x = inputs(work)[0].random()
    mask = torch.rand(x.shape) < 0.5
    return Pair(lambda: x[mask].sum() / mask.sum(), lambda: (x * mask).sum() / mask.sum(), [x])


def _renormalized(work):
    count, *texts = work.split("|")
    table = inputs(texts[0])[0]
    weight = table.random(False)
    rows = [inputs(text)[1].below(table.sizes[0]) for text in texts]
    rows = [rows[i % len(rows)] for i in range(int(count))]

    def before():
        for one in rows:
            torch.embedding_renorm_(weight, one, 1.0, 2.0)
        return weight

    return Pair(before, lambda: weight.renorm_(2, 0, 1.0), [])


def _sparse(work):
    count, *texts = work.split("|")
    table = inputs(texts[0])[0]
    rows = [inputs(text)[1].below(table.sizes[0]) for text in texts]
    rows = [rows[i % len(rows)] for i in range(int(count))]

    def step(sparse):
        weight = torch.nn.Parameter(table.random(False))
        optimizer = torch.optim.SparseAdam([weight]) if sparse else torch.optim.Adam([weight], fused=True)

        def run():
            optimizer.zero_grad()
            sum(F.embedding(one, weight, sparse=sparse).sum() for one in rows).backward()
            optimizer.step()
            return weight.detach()

        return run

    return Pair(step(True), step(False), [])


def _summed(work):
    text, mode = work.split("|")
    table, indices = inputs(text)[:2]
    weight, rows = table.random(), indices.below(table.sizes[0])

    def before():
        taken = F.embedding(rows, weight)
        return taken.sum(1) if mode == "sum" else taken.mean(1)

    return Pair(before, lambda: F.embedding_bag(rows, weight, mode=mode), [weight] if weight.requires_grad else [])


def _one_hot(work):
    text, name, reader = work.split("|")
    labels, classes = inputs(text)
    classes = int(classes)
    rows = labels.below(classes)
    # A linear layer's weight has its classes last.
    other = inputs(reader)[1].random()
    matrix = (lambda: other.T) if name == "aten::linear" else (lambda: other)
    dtype = other.dtype

    def before():
        return F.one_hot(rows, classes).to(dtype) @ matrix()

    return Pair(before, lambda: F.embedding(rows, matrix()), [other] if other.requires_grad else [])


FORMS = {
    "rows-by-index": _rows,
    "elements-by-index": _elements,
    "rows-by-gather": _gathered,
    "rows-by-scatter": _scattered,
    "picked-by-one-hot": _picked,
    "elements-by-mask": _masked,
    "renormalized-lookup": _renormalized,
    "sparse-gradients": _sparse,
    "lookup-then-sum": _summed,
    "one-hot-product": _one_hot,
}

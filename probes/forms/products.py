"""Products, decompositions and transforms."""

import torch
import torch.nn.functional as F
from works import Pair, inputs, leaves_of, numbers


def _pairs(work):
    text, kind = work.split("|")
    a, b = (one.random() for one in inputs(text)[:2])
    swapped = a.size(-2) > 1
    rows, columns = (b, a) if swapped else (a, b)
    rows, columns = rows.squeeze(-2), columns.squeeze(-3)

    def before():
        difference = a - b
        if kind == "abs":
            return difference.abs().sum(-1)
        return difference.norm(dim=-1) if kind == "norm" else (difference**2).sum(-1)

    def after():
        if kind != "sum":
            return torch.cdist(rows, columns, p=1.0 if kind == "abs" else 2.0)
        squares = rows.pow(2).sum(-1).unsqueeze(-1) + columns.pow(2).sum(-1).unsqueeze(-2)
        return squares - 2 * rows @ columns.transpose(-1, -2)

    return Pair(before, after, [a, b])


def _cosines(work):
    a, b = (one.random() for one in inputs(work)[:2])
    rows, columns = (b, a) if a.size(-2) > 1 else (a, b)

    def after():
        one, other = F.normalize(rows.squeeze(-2), dim=-1), F.normalize(columns.squeeze(-3), dim=-1)
        return one @ other.transpose(-1, -2)

    return Pair(lambda: F.cosine_similarity(a, b, dim=-1), after, [a, b])


def _one_by_one(work):
    count, name, text = work.split("|")
    count = int(count)
    parts = inputs(text)
    left, right = (parts[1], parts[2]) if name == "aten::addmm" else (parts[0], parts[1])
    if len(right.sizes) != 2:
        return None
    lefts = left.random(sizes=[count, *left.sizes])
    rights = right.random(sizes=[count, *right.sizes])
    turned = (lambda one: one.transpose(-1, -2)) if name == "aten::linear" else (lambda one: one)

    def before():
        return [one @ turned(other) for one, other in zip(lefts.unbind(0), rights.unbind(0))]

    return Pair(before, lambda: torch.bmm(lefts, turned(rights)), leaves_of(lefts, rights))


def _inverse(work):
    first, second = work.split("|")
    square = inputs(first)[0]
    size = square.sizes[-1]
    a = (torch.eye(size) * size + torch.randn(square.sizes)).to(square.dtype).requires_grad_(square.requires_grad)
    b = inputs(second)[1].random()
    vector = b.dim() == 1
    if vector or b.size(-2) != size:
        return None
    return Pair(lambda: torch.linalg.inv(a) @ b, lambda: torch.linalg.solve(a, b), leaves_of(a, b))


def _fast_length(length):
    """The next one whose prime factors are 2, 3 and 5."""
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def _transform(work):
    name, text = work.split("|")
    image, length, dim, _ = inputs(text)
    dim = int(dim)
    length = int(length) if length else image.sizes[dim]
    x = image.random()
    apply = {"aten::fft_fft": torch.fft.fft, "aten::fft_rfft": torch.fft.rfft, "aten::fft_ifft": torch.fft.ifft}[name]
    fast = _fast_length(length)
    return Pair(lambda: apply(x, length, dim).abs(), lambda: apply(x, fast, dim).abs(), [x])


def _full_matrices(work):
    x = inputs(work)[0].random(False)
    return Pair(lambda: torch.linalg.svd(x), lambda: torch.linalg.svd(x, full_matrices=False), [])


def _antialiased(work):
    name, text = work.split("|")
    image, size = inputs(text)[:2]
    x, size = image.random(), numbers(size or "")
    if len(size) != 2:
        return None
    mode = "bicubic" if "bicubic" in name else "bilinear"

    def form(antialias):
        return lambda: F.interpolate(x, size=size, mode=mode, antialias=antialias)

    return Pair(form(True), form(False), leaves_of(x))


FORMS = {
    "differences-of-pairs": _pairs,
    "cosines-of-pairs": _cosines,
    "product-by-product": _one_by_one,
    "inverse-then-product": _inverse,
    "transform-length": _transform,
    "full-matrices": _full_matrices,
    "antialiased-resize": _antialiased,
}

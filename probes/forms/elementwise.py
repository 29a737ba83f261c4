"""Activations that are written out."""

import math

import torch
import torch.nn.functional as F
from works import Pair, inputs, leaves_of, numbers


def _gelu(work):
    text, approximate = work.split("|")
    x = inputs(text)[0].random()

    def with_tanh():
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))

    def with_erf():
        return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))

    return Pair(with_tanh if approximate == "tanh" else with_erf, lambda: F.gelu(x, approximate=approximate), [x])


def _silu(work):
    x = inputs(work)[0].random()
    return Pair(lambda: x * torch.sigmoid(x), lambda: F.silu(x), [x])


def _softmax(work):
    text, dims = work.split("|")
    x = inputs(text)[0].random()
    (dim,) = numbers(dims)

    def before():
        powers = torch.exp(x - x.max(dim, keepdim=True)[0])
        return powers / powers.sum(dim, keepdim=True)

    return Pair(before, lambda: torch.softmax(x, dim), [x])


def _hardswish(work):
    x = inputs(work)[0].random()
    return Pair(lambda: x * F.relu6(x + 3) / 6, lambda: F.hardswish(x), [x])


def _relu(work):
    how, kind, text = work.split("|")
    x = inputs(text)[0].random()

    def before():
        other = 0.01 * x if kind == "leaky" else torch.zeros_like(x)
        return torch.where(x > 0, x, other) if how == "where" else torch.maximum(x, other)

    return Pair(before, lambda: F.leaky_relu(x, 0.01) if kind == "leaky" else torch.relu(x), [x])


def _power(work):
    shape, exponent = inputs(work)[:2]
    x = shape.random(False).abs().add_(0.1).requires_grad_(shape.requires_grad)
    exponent = float(exponent)
    better = {
        0.5: lambda: torch.sqrt(x),
        -0.5: lambda: torch.rsqrt(x),
        1.5: lambda: x * torch.sqrt(x),
        3: lambda: x * x * x,
        4: lambda: (x * x) * (x * x),
    }[exponent]
    # Whole exponents are passed as such.
    exponent = int(exponent) if exponent == int(exponent) else exponent
    return Pair(lambda: torch.pow(x, exponent), better, leaves_of(x))


_OPERATORS = {"aten::add": torch.add, "aten::sub": torch.sub, "aten::mul": torch.mul, "aten::div": torch.div}


def _repeat(work):
    text, name, reader = work.split("|")
    shape, repeats = inputs(text)
    x, repeats = shape.random(), numbers(repeats)
    apply = _OPERATORS[name]
    whole = x.repeat(repeats).shape
    other = next((one for one in inputs(reader)[:2] if hasattr(one, "sizes") and one.sizes != list(whole)), None)
    other = (other or inputs(reader)[1]).random()
    return Pair(lambda: apply(x.repeat(repeats), other), lambda: apply(x.expand(whole), other), leaves_of(x, other))


FORMS = {
    "gelu-written-out": _gelu,
    "silu-written-out": _silu,
    "softmax-written-out": _softmax,
    "hardswish-written-out": _hardswish,
    "relu-written-out": _relu,
    "power-of-number": _power,
    "repeat-to-broadcast": _repeat,
}

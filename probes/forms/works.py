"""Tensors of the shapes and types that a work states: the texts of inputs in probes/wire.h."""

import functools
import operator
import re
from typing import NamedTuple

import torch

_TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "b1": torch.bool,
    "c64": torch.complex64,
}
_TENSOR = re.compile(r"([a-z]+\d+)\[([\d,]*)\](!?)")


class Pair(NamedTuple):
    """Two forms of the same work: each a function without arguments that gives a tensor or several."""

    before: object
    after: object
    leaves: list  # tensors; of those that ask for a gradient it is taken


class Shape:
    """A tensor in a work: its type, sizes, and whether it asks for a gradient."""

    def __init__(self, dtype, sizes, requires_grad):
        self.dtype, self.sizes, self.requires_grad = _TYPES.get(dtype), sizes, requires_grad

    def random(self, requires_grad=None, sizes=None):
        wanted = self.requires_grad if requires_grad is None else requires_grad
        sizes = self.sizes if sizes is None else sizes
        if not self.dtype.is_floating_point and not self.dtype.is_complex:
            return torch.zeros(sizes, dtype=self.dtype)
        return torch.randn(sizes).to(self.dtype).requires_grad_(wanted)

    def below(self, limit):
        """Whole numbers under `limit`."""
        return torch.randint(0, max(int(limit), 1), self.sizes)


def shape(text):
    found = _TENSOR.fullmatch(text)
    if not found:
        return None
    return Shape(found[1], [int(one) for one in found[2].split(",") if one], found[3] == "!")


def inputs(text):
    """What `text` lists: a Shape, a list of them, None for what is undefined, else the text of a number."""
    return [_input(one) for one in text.split(";")]


def _input(text):
    if text == "-":
        return None
    if text.startswith("(") and text.endswith(")"):
        return [shape(one) for one in text[1:-1].split()]
    return shape(text) or text


def numbers(text):
    """[1, 1] of "[1, 1]", or of "1"."""
    return [int(one) for one in re.findall(r"-?\d+", text)]


def leaf(*sizes, dtype=torch.float32):
    return torch.randn(*sizes).to(dtype).requires_grad_()


def product(sizes):
    return functools.reduce(operator.mul, sizes, 1)


def leaves_of(*tensors):
    return [one for one in tensors if torch.is_tensor(one) and one.requires_grad]

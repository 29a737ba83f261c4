"""Other forms of operators: both halves have the same names, and both forms of each give the same result."""

import importlib
import re
import sys

import pytest

from conftest import ROOT

FORMS = ROOT / "probes" / "forms"
# One work for each form, as analyzers/forms writes it.
WORKS = {
    "attention-weights": "f32[4,24,24]!;-1;-|8|8|0|0",
    "attention-written-out": "f32[2,3,24,24]!;-1;-|8|8|1|0",
    "gelu-written-out": "f32[4,64]!|tanh",
    "silu-written-out": "f32[4,64]!",
    "layer-norm-written-out": "f32[4,16,64]!;f32[4,16,1]!;1",
    "softmax-written-out": "f32[4,16,64]!|[-1]",
    "power-of-number": "f32[4,64]!;3",
    "repeat-to-broadcast": "f32[4,1,8]!;[1, 5, 1]|aten::add|f32[4,5,8]!;f32[4,5,8]!;1",
    "rows-by-index": "f32[40,8]!;(i64[6])",
    "elements-by-mask": "f32[4,64]!;(b1[4,64])",
    "renormalized-lookup": "2|f32[40,8]!;i64[6];1;2|f32[40,8]!;i64[9];1;2",
    "sparse-gradients": "1|f32[40,8]!;i64[6];-1;false;true",
    "lookup-then-sum": "f32[40,8]!;i64[6,5];-1;false;false|mean",
    "one-hot-product": "i64[10];64|aten::matmul|f32[10,64];f32[64,8]!",
    "loss-after-sigmoid": "f32[8,5]!;f32[8,5];-;1",
    "binary-loss-written-out": "f32[8,5]!",
    "log-of-softmax": "f32[8,5]!;i64[8];-;1;-100",
    "one-hot-labels": "f32[8,5]!;-1;-",
    "packed-sequences": "aten::lstm|f32[60,8];i64[12];(f32[1,6,16] f32[1,6,16]);(f32[64,8]! f32[64,16]!);true;1;0;true;false",
    "cell-by-cell": "9|aten::lstm_cell|f32[6,8];(f32[6,16] f32[6,16]);f32[64,8]!;f32[64,16]!",
    "growing-cat": "9|(f32[4,9,8]! f32[4,1,8]!);1",
    "differences-of-pairs": "f32[6,1,8]!;f32[1,7,8]!;1|sum",
    "product-by-product": "8|aten::linear|f32[6,8];f32[5,8]!",
    "inverse-then-product": "f32[8,8]!|f32[8,8]!;f32[8,4]!",
    "kernel-of-one": "f32[2,8,20]!;f32[5,8,1]!;f32[5]!;[1];[0];[1];1",
    "channels-first": "f32[2,8,12,12]!;f32[16,8,3,3]!;f32[16]!;[1, 1];[1, 1];[1, 1];1",
    "unfolded-convolution": "f32[2,3,8,8]!;[3, 3];[1, 1];[1, 1];[1, 1]|f32[5,27]!;f32[2,27,64]!",
    "transform-length": "aten::fft_rfft|f32[4,61]!;-;-1;-",
    "full-matrices": "f32[12,5];true;-",
    "antialiased-resize": "aten::_upsample_bilinear2d_aa|f32[2,3,16,16];[8, 8];false;-",
    "sort-for-few": "f32[4,64]!;-1;true|8|aten::sort",
    "quantile-by-sort": "f32[4,64]!;0.5;-1;false;?",
}
# Forms that give other numbers, or that draw their own at random.
OTHER_NUMBERS = {
    "sparse-gradients",
    "packed-sequences",
    "cell-by-cell",
    "transform-length",
    "full-matrices",
    "antialiased-resize",
    "quantile-by-sort",
    "renormalized-lookup",
}


@pytest.fixture(scope="module")
def catalogue():
    sys.path.insert(0, str(FORMS))
    try:
        yield importlib.import_module("catalogue")
    finally:
        sys.path.remove(str(FORMS))


def names_in_tables():
    folder = ROOT / "analyzers" / "forms"
    return {name for path in folder.glob("form_*.cpp") for name in re.findall(r'\.id = "([a-z-]+)"', path.read_text())}


def test_each_form_has_both_halves(catalogue):
    assert names_in_tables() == set(catalogue.FORMS) == set(WORKS)


@pytest.mark.parametrize("name", sorted(WORKS))
def test_both_forms_run_and_agree(catalogue, name):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    pair = catalogue.FORMS[name](WORKS[name])
    before, after = pair.before(), pair.after()
    flat = [
        torch.stack(list(one)) if isinstance(one, (list, tuple)) and name == "product-by-product" else one
        for one in (before, after)
    ]
    if name in OTHER_NUMBERS:
        return
    torch.testing.assert_close(flat[0], flat[1], rtol=1e-3, atol=1e-4)

"""Appended to each script: prints what training came to and what lies about, so that two launches can be compared."""

import copy
import gc
import hashlib
import io
import pickle
import pickletools
import sys
import types
import weakref


def _pickled(one):
    try:
        steps = pickletools.genops(pickle.dumps(one))
        # Without numbers and bytes: storages are named by their addresses.
        words = [(step.name, word if isinstance(word, str) and not word.isdigit() else "") for step, word, _ in steps]
        words = [word for word in words if word[0] not in ("FRAME", "BINBYTES", "SHORT_BINBYTES")]
        return hashlib.sha256(repr(words).encode()).hexdigest()[:16]
    except Exception as error:
        return f"{type(error).__name__}: {error}".split(" at 0x")[0]


def _bits(torch, one):
    file = io.BytesIO()
    state = one.state_dict() if hasattr(one, "state_dict") else one
    torch.save(state, file)
    return hashlib.sha256(file.getvalue()).hexdigest()[:16]


def _shown(torch, name, one):
    """Lines about one of the script's objects."""
    if isinstance(one, (torch.nn.Module, torch.optim.Optimizer)):
        yield f"{name}: bits {_bits(torch, one)}, attributes {sorted(vars(one))}"
    elif isinstance(one, torch.Tensor):
        yield f"{name}: bits {_bits(torch, one.detach())}"
    elif isinstance(one, torch.utils.data.DataLoader):
        yield f"{name}: attributes {sorted(vars(one))}, pickle {_pickled(one)}, copied {type(copy.copy(one)).__name__}"
    if isinstance(one, torch.optim.Optimizer):
        yield f"{name}: pickle {_pickled(one)}"


def _functions(torch):
    """Functions of the libraries, whose kind a program may ask for."""
    data, optim = torch.utils.data, torch.optim
    yield print, torch.nn.Module.__call__, torch.nn.Module.zero_grad, optim.Optimizer.zero_grad
    yield data.DataLoader.__init__, data.DataLoader.__iter__, optim.Optimizer.__init__, torch.autograd.backward
    yield data.dataloader._BaseDataLoaderIter.__next__, torch.nn.parallel.DistributedDataParallel.__init__


def show(names):
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "optim"):
        return
    for name, one in sorted(names.items()):
        for line in _shown(torch, name, one):
            print(line)
    gc.collect()
    kinds = {}
    for one in gc.get_objects():
        kind = type(one)
        mine = kind.__module__ == "__main__" or issubclass(
            kind, (torch.utils.data.DataLoader, torch.utils.data.Dataset, torch.optim.Optimizer, torch.nn.Module)
        )
        if mine and not isinstance(one, type):
            kinds[kind.__qualname__] = kinds.get(kind.__qualname__, 0) + 1
    print("alive:", sorted(kinds.items()))
    for group in _functions(torch):
        for one in group:
            kinds = isinstance(one, types.FunctionType), isinstance(one, types.BuiltinFunctionType)
            print(one.__qualname__, kinds, _pickled(one), copy.deepcopy(one) is one, weakref.ref(one)() is one)

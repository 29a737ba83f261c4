"""Whether the workers of an iterable data set each give the same records: each has a copy of the whole data set."""

import ctypes
import inspect
import itertools
import sys
import zlib

from . import frames
from .faults import is_programs

_BYTES = 1 << 16  # of a tensor that are compared
_DEPTH = 4  # of a batch's lists and dictionaries
_ITEMS = 64  # of each of them
_ROUNDS = 2  # batches per worker: those of one worker must differ, or they prove nothing


class Repeats:
    """Keeps a checksum of each of a pass's first batches. Batches come from the workers in turn."""

    def __init__(self, workers, place):
        self._workers = workers
        self.place = place  # where the data set's iterator is defined; empty if not in Python
        self._seen = []

    def look(self, batch):
        """None until enough were seen; then whether all workers gave the same batches."""
        try:
            self._seen.append(_checksum(batch))
        except Exception as error:  # a batch's content is the program's
            if is_programs(error):
                raise
            self._seen.append(None)
        if len(self._seen) < _ROUNDS * self._workers and self._seen[-1] is not None:
            return None
        rounds = [set(self._seen[begin : begin + self._workers]) for begin in range(0, len(self._seen), self._workers)]
        return len(rounds) == _ROUNDS == len(set.union(*rounds)) and None not in self._seen


def of(loader):
    """None if workers cannot repeat each other's records, or their batches do not come in turn."""
    try:
        return _of(loader)
    except Exception as error:  # a loader and its data set are the program's
        if is_programs(error):
            raise
        return None


def _of(loader):
    data = sys.modules["torch.utils.data"]
    workers = getattr(loader, "num_workers", 0)
    if not isinstance(getattr(loader, "dataset", None), data.IterableDataset) or workers < 2:
        return None
    return Repeats(workers, _place(loader.dataset)) if getattr(loader, "in_order", True) else None


def _place(dataset):
    code = getattr(inspect.unwrap(type(dataset).__iter__), "__code__", None)
    return f"{frames.shown(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""


def _checksum(batch, depth=_DEPTH):
    """Checksum of its tensors, arrays, numbers and strings, without operators; None if it contains anything else."""
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    if type(batch) is torch.Tensor:
        if not (batch.is_cpu and batch.layout is torch.strided and batch.is_contiguous()):
            return None
        return zlib.crc32(ctypes.string_at(batch.data_ptr(), min(batch.nbytes, _BYTES))) if batch.nbytes else 0
    if numpy is not None and type(batch) is numpy.ndarray:
        return zlib.crc32(batch.tobytes()[:_BYTES]) if batch.dtype != object and batch.nbytes <= _BYTES else None
    if type(batch) in (int, float, str, bytes, bool):
        return zlib.crc32(repr(batch).encode())
    if depth and isinstance(batch, (tuple, list, dict)):
        # Use the base class's: the program's own class may compute its attributes.
        base = next(one for one in (dict, list, tuple) if isinstance(batch, one))
        items = dict.values(batch) if base is dict else base.__iter__(batch)
        parts = [_checksum(one, depth - 1) for one in itertools.islice(items, _ITEMS)]
        return None if None in parts else zlib.crc32(repr(parts).encode())
    return None

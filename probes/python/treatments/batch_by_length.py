"""batch.by_length=on: samples of similar length share a batch, batches come in random order; changes the training.

For loaders that shuffle a data set whose samples differ in length. The lengths are read once, when the loader is built."""

import random
import sys

from .. import hooks

KEY = "batch.by_length"
NOTHING = "no DataLoader that shuffles was built"

_MOST_SAMPLES = 200_000  # each is read once
_BLUR = 4  # random jitter added to lengths: otherwise the same samples would share a batch in each epoch


def apply(value, report):
    torch = report.torch

    def change(arguments):
        if not arguments.get("shuffle"):
            return None  # evaluation
        if arguments.get("sampler") is not None or arguments.get("batch_sampler") is not None:
            return report.not_applicable("the DataLoader has its own sampler")
        size, data = arguments.get("batch_size", 1), arguments["dataset"]
        if size is None or not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
            return report.not_applicable("the data set cannot be read in any order")
        if len(data) > _MOST_SAMPLES:
            return report.not_applicable(f"the data set has {len(data)} samples: reading their lengths would take long")
        lengths = _lengths(data, torch)
        if lengths is None:
            return report.not_applicable("samples are not sequences")
        if min(lengths) == max(lengths):
            return report.not_applicable("all samples have the same length: the data set pads them itself")
        drop = bool(arguments.get("drop_last"))
        arguments.update(
            batch_sampler=_Batches(lengths, size, drop, torch), batch_size=1, shuffle=None, drop_last=False
        )
        report.applied("random order", f"by length, {min(lengths)} to {max(lengths)}")
        return None

    hooks.loader_arguments.append(change)


def _lengths(data, torch):
    """None if a sample has no length. Restores the random state that the data set used."""
    numpy = sys.modules.get("numpy")
    states = random.getstate(), torch.get_rng_state(), numpy and numpy.random.get_state()
    try:
        lengths = [_length(data[index]) for index in range(len(data))]
    finally:
        random.setstate(states[0])
        torch.set_rng_state(states[1])
        if numpy:
            numpy.random.set_state(states[2])
    return None if not lengths or None in lengths else lengths


def _length(sample):
    """Length of a sample's input: the first part of a tuple, "input_ids" or the first part of a dictionary."""
    if isinstance(sample, dict):
        sample = sample.get("input_ids", next(iter(sample.values()), None))
    elif isinstance(sample, tuple):
        sample = sample[0] if sample else None
    try:
        return len(sample)
    except TypeError:
        return None


class _Batches:
    def __init__(self, lengths, size, drop_last, torch):
        self._lengths, self._size, self._drop, self._torch = lengths, size, drop_last, torch

    def __len__(self):
        whole, rest = divmod(len(self._lengths), self._size)
        return whole + (1 if rest and not self._drop else 0)

    def __iter__(self):
        torch = self._torch
        blurred = torch.tensor(self._lengths) + _BLUR * torch.rand(len(self._lengths))
        order = blurred.argsort().tolist()
        batches = [order[at : at + self._size] for at in range(0, len(order), self._size)]
        if self._drop and len(batches[-1]) < self._size:
            batches.pop()
        for at in torch.randperm(len(batches)).tolist():
            yield batches[at]

"""schedule=constant|onecycle|cyclic|warmup-cosine: the learning rate over ten epochs, or in cycles of ten epochs, up to the
program's own rate; replaces its scheduler; changes the training."""

import math
import weakref

from .. import hooks

KEY = "schedule"
NOTHING = "no optimizer took a step"

_EPOCHS = 10
_START, _END = 1 / 25, 1 / 10_000  # of the peak
_RISE, _WARMUP = 0.3, 0.1  # shares of the whole


def _anneal(begin, end, share):
    """From `begin` to `end` along half a cosine."""
    return end + (begin - end) * (1 + math.cos(math.pi * share)) / 2


def _onecycle(progress):
    share = min(1.0, progress)
    return _anneal(_START, 1, share / _RISE) if share < _RISE else _anneal(1, _END, (share - _RISE) / (1 - _RISE))


def _cyclic(progress):
    return _START + (1 - _START) * (1 - abs(2 * (progress % 1) - 1))


def _warmup_cosine(progress):
    share = min(1.0, progress)
    return share / _WARMUP if share < _WARMUP else _anneal(1, 0, (share - _WARMUP) / (1 - _WARMUP))


_SHAPES = {"constant": lambda progress: 1.0, "onecycle": _onecycle, "cyclic": _cyclic, "warmup-cosine": _warmup_cosine}


def apply(value, report):
    shape = _SHAPES.get(value)
    if shape is None:
        return report.not_applicable(f"no such schedule: {value} ({', '.join(_SHAPES)})")
    given = weakref.WeakKeyDictionary()  # loader -> batches that it gave
    last = []  # weak: the loader of the last batch
    peaks = {}  # id(optimizer) -> its groups' learning rates

    def gave(loader):
        given[loader] = given.get(loader, 0) + 1
        last[:] = [weakref.ref(loader)]

    def begins(optimizer):
        loader = last[0]() if last else None
        if loader is None:
            return report.not_applicable(
                "no DataLoader gave a batch before the step, so the length of an epoch is unknown"
            )
        try:
            batches = len(loader)
        except TypeError:
            return report.not_applicable("the data set has no length, so the length of an epoch is unknown")
        groups = optimizer.param_groups
        if id(optimizer) not in peaks:
            peaks[id(optimizer)] = [_peak(group) for group in groups]
        factor = shape(given[loader] / (_EPOCHS * max(1, batches)))
        for group, peak in zip(groups, peaks[id(optimizer)]):
            _set(group, peak * factor)
        report.applied("the program's own", value, where=f"{type(optimizer).__name__}, learning rate")
        return None

    hooks.batch_given.append(gave)
    hooks.step_begins.append(begins)


def _peak(group):
    """The rate that the program intends: its scheduler may start below it."""
    return float(group.get("max_lr", group.get("initial_lr", group["lr"])))


def _set(group, rate):
    if isinstance(group["lr"], float):
        group["lr"] = rate
    else:
        group["lr"].fill_(rate)  # a tensor, which a graph may hold

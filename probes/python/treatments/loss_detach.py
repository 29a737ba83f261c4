"""loss.detach=on: sums of losses keep no graphs.

A loss that is summed up after its backward pass releases its graph once backward is done. One that is added before is
found by its line: where a sum of scalars repeatedly includes its own result from before a backward pass, that graph can
never be used again, and the line adds detached values from then on."""

import sys
import weakref

from .. import frames, hooks, wrapping

KEY = "loss.detach"
NOTHING = "no backward pass had a graph that could be released"

_ROUNDS = 2  # backward passes that a sum must span to count as running across steps


def apply(value, report):
    sums = _Sums(report)

    def ends(roots, keeps_graph):
        sums.passes += 1
        if keeps_graph:
            sums.graphs_are_kept = True
            return report.not_applicable("backward is asked to keep its graph")
        for root in roots:
            if getattr(root, "grad_fn", None) is not None and not root._is_view():
                root.detach_()
                if not report.has_places():
                    report.applied("holds its graph", "detached")

    hooks.backward_ends.append(ends)
    for name in ("__add__", "__radd__", "__iadd__"):
        wrapping.replace(report.torch.Tensor, name, sums.wrap)


class _Sums:
    """Additions of scalars that record a graph, by line."""

    def __init__(self, report):
        self.passes = 0  # backward passes so far
        self.graphs_are_kept = False
        self._report = report
        self._lines = {}  # (code, line) -> _Sum

    def wrap(self, original):
        def add(one, other, *positional, **named):
            if one.dim() == 0 and (one.requires_grad or getattr(other, "requires_grad", False)):
                return self._add(original, one, other)
            return original(one, other, *positional, **named)

        return add

    def _detached(self, value):
        return value.detach() if isinstance(value, self._report.torch.Tensor) else value

    def _add(self, original, one, other):
        frame = sys._getframe(2)
        key = (frame.f_code, frame.f_lineno)
        line = self._lines.setdefault(key, _Sum())
        if line.runs_on and not self.graphs_are_kept:
            return original(self._released(one, original), self._detached(other))
        result = original(one, other)
        if result is not NotImplemented:
            line.added(one, other, result, self.passes)
        if line.runs_on:
            self._report.applied("a sum holds its graphs", "detached", where=frames.place())
        return result

    def _released(self, value, original):
        if original.__name__ != "__iadd__":
            return self._detached(value)
        return value.detach_() if value.grad_fn is not None and not value._is_view() else value


class _Sum:
    """The sum of one line."""

    def __init__(self):
        self._last = None  # weak: its last result
        self._passes = 0  # backward passes at that time
        self._rounds = 0
        self.runs_on = False

    def added(self, one, other, result, passes):
        last = self._last() if self._last is not None else None
        goes_on = last is not None and (one is last or other is last)
        if goes_on and passes > self._passes:
            self._rounds += 1
        elif not goes_on:
            self._rounds = 0
        self.runs_on = self._rounds >= _ROUNDS
        self._last, self._passes = weakref.ref(result), passes

"""Treatments that Python applies: one module each in treatments/, named as in profiler/treatments/treatments.def.

A module has KEY, NOTHING (why nothing was changed, where no other reason was given) and apply(value, report), called
after torch was imported and before the program's own code; it adds to the hooks or replaces functions of torch.

One that says REVERSIBLE = True can be switched between steps: it changes nothing while report.on is false, and calls
report.acted() whenever it changes something."""

import contextlib
import importlib
import os

from . import frames
from .probe import FAILED, LOST, NOT_APPLICABLE, text

_MOST_PLACES = 32


@contextlib.contextmanager
def _changed(name, value):
    """An environment variable, for a moment."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class Report:
    """What one treatment did: places with old and new values, or why it did nothing."""

    def __init__(self, key, torch, live):
        self.torch = torch
        self.live = live  # switched between steps
        self.on = not live
        self.on_switch = []  # f(on): at ends of steps, if the treatment has to undo something
        self._acted = False
        self._key = key
        self._places = {}  # where -> (old, new, read_back or None)
        self._reason = None  # (flag, text)
        self._had = ""  # the requested value, if it was already set

    def has_gpu(self):
        """Whether there is an NVIDIA GPU for CUDA, without starting CUDA: children that are forked later could not use
        it any more. Asked of NVML; where that is missing, torch asks CUDA after all."""
        with _changed("PYTORCH_NVML_BASED_CUDA_CHECK", "1"):
            return self.torch.cuda.is_available()

    def applied(self, old, new, where=None, read_back=None):
        """Something at `where` (the user's line by default) changed from `old` to `new`. `read_back()` returns the
        value in effect at the end of the run; None: its owner is gone."""
        where = where or frames.place() or self._key
        if where not in self._places and len(self._places) < _MOST_PLACES:
            self._places[where] = (str(old), str(new), read_back)

    def acted(self):
        self._acted = True

    def switch(self, on):
        """Returns whether it changed something since the last switch."""
        acted, self._acted = self._acted, False
        if on != self.on:
            self.on = on
            for function in self.on_switch:
                function(on)
        return acted

    def not_applicable(self, reason, had=""):
        """`had`: the requested value, if the program already has it."""
        self._had = self._had if self._reason else str(had)
        self._reason = self._reason or (NOT_APPLICABLE, reason)

    def failed(self, message):
        self._reason = (FAILED, message)

    def has_places(self):
        return bool(self._places)

    def write(self, probe, nothing):
        if self._reason and self._reason[0] == FAILED or not self._places:
            flag, reason = self._reason or (NOT_APPLICABLE, nothing)
            probe.applied(text(self._key), b"", text(self._had), text(reason), flag)
            return
        for where, (old, new, read_back) in self._places.items():
            current = read_back() if read_back and not self.live else None
            lost = current is not None and str(current) != new
            now = str(current) if lost else new
            probe.applied(text(self._key), text(where), text(old), text(now), LOST if lost else 0)


class Treatments:
    """Applies those of LOOPSCOPE_TREATMENT and LOOPSCOPE_LIVE_TREATMENT that have a module here."""

    def __init__(self, torch, wanted, live):
        self._all = []  # (module, value, report)
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "treatments")
        for key, value in {**wanted, **live}.items():
            stem = key.replace(".", "_")
            if stem.isidentifier() and os.path.exists(os.path.join(folder, stem + ".py")):
                module = importlib.import_module(".treatments." + stem, __package__)
                if key not in live or getattr(module, "REVERSIBLE", False):
                    self._all.append((module, value, Report(key, torch, key in live)))
        self._all.sort(key=lambda one: not getattr(one[0], "BEFORE_OTHERS", False))

    def keys(self):
        return [module.KEY for module, _, _ in self._all]

    def apply(self):
        for module, value, report in self._all:
            try:
                module.apply(value, report)
            except Exception as error:
                report.failed(f"{type(error).__name__}: {error}")

    def switch(self, key, on):
        """For live pairs; see Report.switch. Returns 1 or 0."""
        for module, _, report in self._all:
            if report.live and module.KEY == key.decode():
                try:
                    return int(report.switch(bool(on)))
                except Exception as error:
                    report.failed(f"{type(error).__name__}: {error}")
        return 0

    def report(self, probe):
        for module, _, report in self._all:
            report.write(probe, module.NOTHING)

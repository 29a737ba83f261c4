"""Treatments that Python applies: one module each in treatments/, named as its row in profiler/treatments/.

A module has KEY, NOTHING (why nothing was changed, said when no other reason was given) and apply(value, report), called
after torch was imported and before the program's own code; it adds to the hooks or replaces functions of torch."""

import importlib
import os

from . import frames
from .probe import FAILED, LOST, NOT_APPLICABLE, text

_MOST_PLACES = 32


class Report:
    """What one treatment did: places with old and new values, or why it did nothing."""

    def __init__(self, key, torch):
        self.torch = torch
        self._key = key
        self._places = {}  # where -> (old, new, read_back or None)
        self._reason = None  # (flag, text)
        self._had = ""  # the value that was asked for and was there already

    def applied(self, old, new, where=None, read_back=None):
        """Something at `where` (the user's line by default) went from `old` to `new`. `read_back()` is asked at the
        end of the run what stands; None: gone."""
        where = where or frames.place() or self._key
        if where not in self._places and len(self._places) < _MOST_PLACES:
            self._places[where] = (str(old), str(new), read_back)

    def not_applicable(self, reason, had=""):
        """`had`: what was asked for, where the program does it by itself."""
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
            stands = read_back() if read_back else None
            lost = stands is not None and str(stands) != new
            now = str(stands) if lost else new
            probe.applied(text(self._key), text(where), text(old), text(now), LOST if lost else 0)


class Treatments:
    """Those of LOOPSCOPE_TREATMENT that have a module here."""

    def __init__(self, torch, wanted):
        self._all = []  # (module, value, report)
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "treatments")
        # The number of workers first: what else a loader is given depends on it.
        for key, value in sorted(wanted.items(), key=lambda pair: pair[0] != "loader.workers"):
            stem = key.replace(".", "_")
            if stem.isidentifier() and os.path.exists(os.path.join(folder, stem + ".py")):
                module = importlib.import_module(".treatments." + stem, __package__)
                self._all.append((module, value, Report(key, torch)))

    def keys(self):
        return [module.KEY for module, _, _ in self._all]

    def apply(self):
        for module, value, report in self._all:
            try:
                module.apply(value, report)
            except Exception as error:
                report.failed(f"{type(error).__name__}: {error}")

    def report(self, probe):
        for module, _, report in self._all:
            report.write(probe, module.NOTHING)

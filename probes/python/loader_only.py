"""The loader alone (LOOPSCOPE_TREATMENT loader.only=on): batches are loaded and not trained on. The first backward pass
shows which loader is used for training; from then on it is iterated repeatedly instead of the loop."""

from .probe import EPOCH_END, EPOCH_START, NOT_APPLICABLE, text

KEY = "loader.only"


class LoaderOnly:
    def __init__(self, probe, loaders):
        self._probe, self._loaders = probe, loaders
        self._where = ""
        self._reason = "no backward pass was seen, so the training loader is unknown"

    def take_over(self):
        """At a backward pass. The probe ends the program from within step_end() when the window closes; if the data
        ends before, training goes on."""
        loader = self._loaders.last()
        if loader is None:
            self._reason = "the first backward pass came before any batch of a DataLoader"
            return
        self._where = self._loaders.place(loader) or KEY
        self._reason = ""
        self._loaders.end_last_pass()  # its workers would compete with the measured ones
        while self._one_pass(loader):
            pass
        self._reason = "its data can be read only once"

    def _one_pass(self, loader):
        batches = 0
        for _ in loader:
            self._probe.step_end(self._loaders.last_samples)
            batches += 1
        # The boundary between two passes is timed separately from the batches, as in training.
        self._probe.mark(EPOCH_END, b"", 0)
        self._probe.mark(EPOCH_START, b"", 0)
        return batches

    def write(self):
        if self._reason:
            self._probe.applied(text(KEY), b"", b"", text(self._reason), NOT_APPLICABLE)
        else:
            self._probe.applied(text(KEY), text(self._where), b"trained on", b"on", 0)

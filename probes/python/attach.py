"""Joins the shim to a process that has just imported torch: the capture, the wrappers, the treatments."""

import atexit
import contextlib
import os
import signal
import sys

from . import check, frames, hooks, output, torch_probe, writers
from .appliers import Treatments
from .backward import Backward
from .contention import Contention
from .facts import Facts
from .forward import Forward
from .loader import Loaders
from .loader_only import KEY, LoaderOnly
from .optimizer import Optimizers
from .probe import Missing, Probe, text

# Processes that import torch but may never train: their capture is opened at the first optimizer, so that others leave
# none.
_HELPERS = (
    "--multiprocessing-fork",
    "multiprocessing.forkserver",
    "multiprocessing.resource_tracker",
    "loky.backend",
    "torch.distributed.run",
    "torch.distributed.launch",
    "torch._inductor",
)
_LAUNCHERS = ("torchrun", "accelerate", "deepspeed")
_FIRST_LOSSES = 3  # kept on each of several ranks while tracing


def attach(torch, settings):
    try:
        probe = Probe()
    except Missing as error:
        sys.stderr.write(f"loopscope: the probes are not in this process: {error}; training goes on unobserved\n")
        return
    session = _Session(torch, settings, probe)
    session.install()
    if not _is_helper():
        session.start()


def _is_helper():
    words = getattr(sys, "orig_argv", sys.argv)
    return any(part in word for word in words for part in _HELPERS) or any(
        os.path.basename(word) in _LAUNCHERS for word in words[:3]
    )


def _losses(torch, probe, settings):
    if settings.mode == "check":
        return check.Losses(torch, probe)
    # Ranks whose first losses are the same have trained on the same samples.
    return check.Losses(torch, probe, most=_FIRST_LOSSES) if settings.mode == "trace" and settings.ranks > 1 else None


def _unlink_semaphores():
    """What the interpreter does at exit, which is not reached here: otherwise the resource tracker (with spawned or
    fork server processes) reports leaks on the user's terminal."""
    synchronize, util = (sys.modules.get(f"multiprocessing.{name}") for name in ("synchronize", "util"))
    if synchronize is None or util is None:
        return
    for finalizer in list(util._finalizer_registry.values()):
        if finalizer._callback == synchronize.SemLock._cleanup:
            finalizer()


class _Session:
    """One process's part of a run."""

    def __init__(self, torch, settings, probe):
        self._torch, self._settings, self._probe = torch, settings, probe
        self._pid = 0  # the process that started; its forked children record nothing
        self._losses = _losses(torch, probe, settings)
        self._treatments = Treatments(torch, settings.treatment, settings.live)
        self._loaders = Loaders(probe, settings)
        self._optimizers = Optimizers(probe, settings, self._optimizer_made)
        self._facts = Facts(probe)
        self._contention = Contention(probe) if settings.mode == "trace" else None
        self._forward = None
        self._alone = LoaderOnly(probe, self._loaders) if settings.treatment.get(KEY) == "on" else None

    def install(self):
        self._treatments.apply()
        if self._settings.hash_samples and self._settings.seed is not None:
            check.fix_sample_draws(self._torch, self._loaders, self._settings)
        if self._settings.mode == "trace" or hooks.forward_begins or hooks.forward_ends:
            self._forward = Forward(self._probe, self._torch)
            self._forward.install()
        if self._settings.mode == "trace":
            output.install(self._probe)
        from torch.utils.data import dataloader

        self._loaders.install(dataloader)
        self._optimizers.install(self._torch)
        self._facts.install(self._torch, self._settings)
        keep_losses = self._losses.keep if self._losses else None
        self._backward = Backward(self._probe, self._backward_begins, self._gradient_taken, keep_losses)
        self._backward.install(self._torch)
        if self._settings.seed is not None:
            self._torch.manual_seed(self._settings.seed)

    def start(self):
        if self._pid:
            return
        self._pid = os.getpid()
        reason = self._probe.start()
        if reason:
            return  # the preloaded library has reported why
        self._facts.start()
        self._probe.code_folders(text(frames.START_FOLDER), text(frames.temporary_folder()))
        self._probe.foreign_code(text("\n".join(frames.foreign_folders())))
        for key in self._treatments.keys():
            self._probe.claim(text(key))
        torch_probe.load(self._torch, self._probe)
        self._probe.set_finish(self._bounded_run_ends)
        if self._contention:
            self._probe.set_look(self._contention.look)
        if self._settings.live:
            self._probe.set_switch(self._treatments.switch)
        atexit.register(self._program_ends)

    def _optimizer_made(self):
        self._backward.forget_gradients()
        self.start()

    def _gradient_taken(self):
        self.start()
        self._loaders.describe_training()
        self._probe.gradient_taken()

    def _backward_begins(self):
        if not self._pid:
            self.start()
        self._loaders.describe_training()
        if self._optimizers.looks_for_updates():
            if self._optimizers.updated_out_of_sight():
                self._probe.updated_out_of_sight()
            self._probe.backward_is_due()
        if self._alone:
            self._alone.take_over()
            self._probe.backward_is_due()  # at each backward, until it has taken over
        if self._forward:
            self._forward.backward_begins()

    def _program_ends(self):
        if os.getpid() == self._pid:
            self._probe.set_finish(None)
            self._probe.interpreter_ends()
            self._finish()
            if getattr(sys, "last_type", None) is KeyboardInterrupt:
                self._probe.program_ends(128 + signal.SIGINT)  # Python will send itself the signal

    def _bounded_run_ends(self):
        if self._settings.mode == "trace":  # a timed trial's files are thrown away
            writers.wait()
            writers.remove_temporary_files()
        with contextlib.suppress(Exception):
            _unlink_semaphores()
        self._finish()

    def _finish(self):
        if os.getpid() != self._pid:
            return
        self._treatments.report(self._probe)
        if self._alone:
            self._alone.write()
        if self._losses:
            self._losses.write()
        if self._contention:
            self._contention.write()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass  # closed, or its reader is gone: nothing to flush

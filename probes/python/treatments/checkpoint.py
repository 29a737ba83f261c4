"""checkpoint=off: functions under torch.utils.checkpoint keep their activations instead of recomputing."""

import importlib

from .. import frames, wrapping

KEY = "checkpoint"
NOTHING = "torch.utils.checkpoint was not called"


def apply(value, report):
    if value != "off":
        return report.not_applicable("the script has to choose which blocks to recompute")
    module = importlib.import_module("torch.utils.checkpoint")
    options = {"use_reentrant", "context_fn", "determinism_check", "debug", "preserve_rng_state", "early_stop"}

    def keep(original):
        def run(function, *positional, **named):
            if not report.has_places():
                report.applied("recomputes", "keeps its activations", where=frames.place())
            return function(*positional, **{name: one for name, one in named.items() if name not in options})

        return run

    # checkpoint_sequential calls it through its module; scripts import the name after this.
    wrapping.replace(module, "checkpoint", keep)

"""batch.size=N: training in batches of N, with the learning rate scaled by the same factor; changes the training."""

import weakref

from .. import hooks

KEY = "batch.size"
NOTHING = "no DataLoader with a batch size of its own was built"


def apply(value, report):
    wanted = int(value)
    optimizers = weakref.WeakSet()
    factor = []  # new batch size over old, once known

    def change(arguments):
        old = arguments.get("batch_size", 1)
        shuffles = arguments.get("shuffle") or arguments.get("sampler") is not None
        if old is None or arguments.get("batch_sampler") is not None:
            return report.not_applicable("the loader's batches are made by a batch sampler")
        if not shuffles or old == wanted:
            return None  # not the training's, or nothing to change
        arguments["batch_size"] = wanted
        loader = weakref.ref(arguments["self"])
        report.applied(old, wanted, read_back=lambda: getattr(loader(), "batch_size", None))
        if not factor:
            factor.append(wanted / old)
            for optimizer in optimizers:
                _scale(optimizer, factor[0], report)

    def made(optimizer):
        optimizers.add(optimizer)
        if factor:
            _scale(optimizer, factor[0], report)

    hooks.loader_arguments.append(change)
    hooks.optimizer_made.append(made)


def _scale(optimizer, factor, report):
    """Linear scaling (Goyal et al. 2017), before any step was taken or schedule was set."""
    for group in optimizer.param_groups:
        old = group["lr"]
        group["lr"] = old * factor
        if "initial_lr" in group:
            group["initial_lr"] *= factor
    report.applied(f"lr {old:g}", f"lr {old * factor:g}", where=f"{type(optimizer).__name__}, learning rate")

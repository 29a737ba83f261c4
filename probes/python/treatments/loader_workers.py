"""loader.workers=N: every DataLoader over a map-style data set loads in N worker processes."""

import inspect
import io
import multiprocessing
import weakref

from .. import hooks

KEY = "loader.workers"
NOTHING = "no DataLoader was built"
BEFORE_OTHERS = True  # other arguments depend on the number of workers

# Modules whose objects hold open files or connections that do not survive a fork.
_HANDLES = ("h5py", "lmdb", "sqlite3", "tarfile", "zipfile", "psycopg2")


def apply(value, report):
    workers = int(value)

    def change(arguments):
        old = arguments.get("num_workers", 0)
        if old == workers:
            return report.not_applicable(f"the loader has {workers} workers already", had=workers)
        reason = _refusal(arguments.get("dataset"), report.torch) if workers > 0 else ""
        if reason:
            return report.not_applicable(reason)
        arguments["num_workers"] = workers
        if workers == 0:
            for name in ("persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout"):
                arguments.pop(name, None)
        loader = weakref.ref(arguments["self"])
        report.applied(old, workers, read_back=lambda: getattr(loader(), "num_workers", None))

    hooks.loader_arguments.append(change)


def _refusal(dataset, torch):
    if multiprocessing.current_process().daemon:
        return "this process is a daemon, which may not start workers"
    if isinstance(dataset, torch.utils.data.IterableDataset) and not _asks_for_worker(dataset):
        return "the data set is iterable and does not ask which worker it is in: each worker would give all of it"
    for name, held in _held(dataset):
        if isinstance(held, torch.Tensor) and held.device.type != "cpu":
            return f"the data set keeps tensors on {held.device} ({name}), which workers cannot share"
        if isinstance(held, io.IOBase) or type(held).__module__.split(".")[0] in _HANDLES:
            return f"the data set keeps an open {type(held).__name__} ({name}), which workers cannot share"
    return ""


def _asks_for_worker(dataset):
    try:
        return "get_worker_info" in inspect.getsource(type(dataset))
    except (OSError, TypeError):
        return False


def _held(dataset):
    """Attributes of the data set, and of data sets that it wraps (Subset, transforms)."""
    for _ in range(4):
        attributes = getattr(dataset, "__dict__", {})
        for name, held in attributes.items():
            yield name, held
            if isinstance(held, (list, tuple)) and held:
                yield name, held[0]
        dataset = attributes.get("dataset")
        if dataset is None:
            return

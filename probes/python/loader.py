"""DataLoaders: what they are built with, when the training thread asks them for a batch, which samples it gets."""

import collections
import ctypes
import functools
import inspect

from . import frames, hooks
from .probe import now_ns, text


class Loaders:
    """Wraps torch.utils.data.DataLoader and its iterators."""

    def __init__(self, torch, probe, settings):
        self._data = torch.utils.data
        self._probe = probe
        self._hash = settings.mode == "check"
        self._last = None  # the loader that gave the last batch
        self._described = set()
        self.passes = None  # counts the passes begun, where workers can see it (check.py)

    def install(self):
        from torch.utils.data import dataloader

        self._wrap_init(dataloader.DataLoader)
        self._wrap_iter(dataloader.DataLoader)
        self._wrap_next(dataloader._BaseDataLoaderIter)

    def _wrap_init(self, loader_class):
        original = loader_class.__init__
        signature = inspect.signature(original)

        @functools.wraps(original)
        def __init__(*positional, **named):
            if hooks.loader_arguments:
                try:
                    bound = signature.bind(*positional, **named)
                except TypeError:
                    return original(*positional, **named)
                for change in hooks.loader_arguments:
                    change(bound.arguments)
                positional, named = bound.args, bound.kwargs
            original(*positional, **named)
            positional[0].__dict__["_loopscope_place"] = frames.place()

        loader_class.__init__ = __init__

    def _wrap_iter(self, loader_class):
        original = loader_class.__iter__
        loaders, probe = self, self._probe

        @functools.wraps(original)
        def __iter__(self):
            begin_ns = now_ns()
            if loaders.passes is not None:
                loaders.passes.begin()
            iterator = original(self)
            iterator._loopscope = _Pass(self, type(iterator).__name__)
            probe.loader_started(id(self), begin_ns, iterator._loopscope.name)
            return iterator

        loader_class.__iter__ = __iter__

    def _wrap_next(self, iterator_class):
        original_next, original_index = iterator_class.__next__, iterator_class._next_index
        loaders, probe = self, self._probe

        @functools.wraps(original_index)
        def _next_index(self):
            index = original_index(self)
            one_pass = self.__dict__.get("_loopscope")
            # Workers are asked for batches before __iter__ has returned.
            drawn = self.__dict__.setdefault("_loopscope_drawn", collections.deque()) if one_pass is None else None
            (one_pass.drawn if one_pass is not None else drawn).append(index)
            return index

        @functools.wraps(original_next)
        def __next__(self):
            one_pass = self.__dict__.get("_loopscope")
            begin_ns = now_ns()
            try:
                batch = original_next(self)
            except StopIteration:
                if one_pass is not None:
                    probe.loader_ran_out(one_pass.loader_id, begin_ns, one_pass.name)
                raise
            if one_pass is not None:
                loaders._gave(self, one_pass, begin_ns)
            return batch

        iterator_class._next_index = _next_index
        iterator_class.__next__ = __next__

    def _gave(self, iterator, one_pass, begin_ns):
        early = iterator.__dict__.pop("_loopscope_drawn", None)
        if early:
            one_pass.drawn.extendleft(reversed(early))
        index = one_pass.drawn.popleft() if one_pass.drawn else None
        samples = len(index) if isinstance(index, (list, tuple)) else 1
        indices = _as_array(index) if self._hash else None
        self._probe.loader_gave(one_pass.loader_id, begin_ns, one_pass.name, indices, samples)
        self._last = one_pass.loader()

    def describe_training(self):
        """Facts about the loader whose batch is trained on; called at each backward."""
        loader = self._last
        if loader is None or id(loader) in self._described:
            return
        first = not self._described
        self._described.add(id(loader))
        prefix = "loader." if first else f"loader.{len(self._described)}."
        for key, value in _facts(loader).items():
            self._probe.fact(text(prefix + key), text(value))


class _Pass:
    """One pass over a loader."""

    def __init__(self, loader, iterator_class):
        import weakref

        self.loader = weakref.ref(loader)
        self.loader_id = id(loader)
        self.name = text(f"enumerate(DataLoader)#{iterator_class}.__next__")
        self.drawn = collections.deque()  # indices of batches asked for and not given yet


def _as_array(index):
    values = index if isinstance(index, (list, tuple)) else [index]
    numbers = [one if isinstance(one, int) else hash(one) for one in values]
    return (ctypes.c_size_t * len(numbers))(*(number % 2**64 for number in numbers))


def _facts(loader):
    return {
        "workers": loader.num_workers,
        "batch_size": loader.batch_size if loader.batch_size is not None else "",
        "pin_memory": loader.pin_memory,
        "persistent_workers": loader.persistent_workers,
        "prefetch_factor": loader.prefetch_factor if loader.prefetch_factor is not None else "",
        "drop_last": loader.drop_last,
        "dataset": type(loader.dataset).__qualname__,
        "sampler": type(loader.sampler).__qualname__,
        "where": loader.__dict__.get("_loopscope_place", ""),
    }

"""DataLoaders: what they are built with, when the training thread asks them for a batch, which samples it gets."""

import collections
import contextlib
import ctypes
import os
import weakref

from . import frames, hooks, loader_facts, wrapping
from .notes import note, noted, take
from .probe import now_ns, text


class Loaders:
    """Wraps torch.utils.data.DataLoader and its iterators."""

    def __init__(self, probe, settings):
        self._probe = probe
        self._hashes = settings.mode == "check"
        self._pass = None  # the one that gave the last batch
        self.last_samples = 0  # in it
        self._trained = None  # the pass whose batch was trained on last
        self._described = []  # weak references where the loader takes them
        self.on_pass = None  # called when a pass begins
        self._starting = 0  # calls of DataLoader.__iter__ that have not returned
        self._first_indices = settings.mode == "trace"  # recorded for each loader's first batch
        # Whether training batches only need recording, which builtins do.
        self._only_records = (
            bool(probe.around_next) and not self._hashes and settings.treatment.get("loader.only") != "on"
        )

    def install(self, dataloader):
        """`dataloader`: the module torch.utils.data.dataloader."""
        loader, iterator = dataloader.DataLoader, dataloader._BaseDataLoaderIter
        self._own = iterator
        if hooks.loader_arguments:
            wrapping.with_arguments(loader, "__init__", hooks.loader_arguments)
        wrapping.replace(loader, "__init__", self._init)
        wrapping.replace(loader, "__iter__", self._iter)
        for made in (dataloader._SingleProcessDataLoaderIter, dataloader._MultiProcessingDataLoaderIter):
            wrapping.replace(made, "__init__", self._iterator_init)
        self._only_records = self._only_records and not hooks.batch_given
        if self._only_records:
            give = iterator.__next__
            iterator.__next__ = self._probe.around_next(give, self._next(give), self._gave, self._iterator_ran_out)
        else:
            wrapping.replace(iterator, "__next__", self._next)
        self._keeps_indices = False
        if self._first_indices:
            os.register_at_fork(after_in_child=self._probe.forked)  # workers are followed for two batches
        if self._first_indices or not self._only_records:
            self._keep_indices()

    def _keep_indices(self):
        """From now on keeps the indices that iterators ask for, to know what a batch holds."""
        if self._keeps_indices:
            return
        self._keeps_indices = True
        if self._only_records:
            own = self._own._next_index
            self._own._next_index = self._probe.around_next_index(own, self._next_index(own))
        else:
            wrapping.replace(self._own, "_next_index", self._next_index)

    def _init(self, original):
        def __init__(loader, *positional, **named):
            original(loader, *positional, **named)
            note(loader, "_loopscope_place", frames.place())

        return __init__

    def _iter(self, original):
        def __iter__(loader):
            begin_ns = now_ns()
            self._pass_begins(begin_ns)
            kept = getattr(loader, "_iterator", None)  # with persistent workers: it asks for its first indices again
            if isinstance(kept, self._own):
                take(kept, "_loopscope_pass")
                for function in hooks.pass_resumes:
                    function(loader)
            sizes = loader_facts.sizes_of(loader)
            if sizes is None:  # workers are asked for batches before there is an iterator
                self._keep_indices()
            self._starting += 1
            try:
                iterator = original(loader)
            finally:
                self._starting -= 1
            if not isinstance(iterator, self._own):  # a subclass's own: the iterators inside it are seen
                return iterator
            self._note_pass(loader, iterator, sizes, begin_ns)
            return iterator

        return __iter__

    def _iterator_init(self, original):
        """Torch's iterators, made by others: by a subclass that keeps one for many passes, by a library's own loader."""

        def __init__(iterator, loader, *positional, **named):
            if self._starting:
                return original(iterator, loader, *positional, **named)
            begin_ns = now_ns()
            self._pass_begins(begin_ns)
            sizes = loader_facts.sizes_of(loader)
            if sizes is None:
                self._keep_indices()
            if noted(loader, "_loopscope_place") is None:
                with contextlib.suppress(AttributeError):  # an object with slots: its place stays unknown
                    note(loader, "_loopscope_place", frames.place())
            self._starting += 1
            try:
                original(iterator, loader, *positional, **named)
            finally:
                self._starting -= 1
            self._note_pass(loader, iterator, sizes, begin_ns)

        return __init__

    def _pass_begins(self, begin_ns):
        if self.on_pass:
            self.on_pass()
        self._end_whole(begin_ns)
        self._stop()

    def _note_pass(self, loader, iterator, sizes, begin_ns):
        one_pass = _Pass(loader, iterator, sizes, self._forget)
        self._probe.loader_started(one_pass.loader_id, begin_ns, one_pass.name)

    def _next_index(self, original):
        def _next_index(iterator):
            index = original(iterator)
            one_pass = noted(iterator, "_loopscope_pass")
            if one_pass is not None:
                one_pass.drawn.append(index)
            else:  # workers are asked for batches before __iter__ returns
                drawn = noted(iterator, "_loopscope_drawn")
                if drawn is None:
                    note(iterator, "_loopscope_drawn", [index])
                else:
                    drawn.append(index)
            return index

        return _next_index

    def _next(self, original):
        gave = self._gave

        def __next__(iterator):
            begin_ns = now_ns()
            try:
                batch = original(iterator)
            except StopIteration:
                self._iterator_ran_out(iterator, begin_ns)
                raise
            gave(iterator, begin_ns)
            return batch

        return __next__

    def _gave(self, iterator, begin_ns):
        one_pass = noted(iterator, "_loopscope_pass")
        if one_pass is None:
            return
        if one_pass.ran_out:  # whoever has the iterator began again with it
            one_pass.begin_again()
            self._probe.loader_started(one_pass.loader_id, begin_ns, one_pass.name)
        index = one_pass.drawn.popleft() if one_pass.drawn else None
        samples = one_pass.samples(index)
        if self._hashes:
            array = loader_facts.as_array(index)
            self._probe.loader_gave_indices(one_pass.loader_id, begin_ns, one_pass.name, array, samples)
        else:
            self._probe.loader_gave(one_pass.loader_id, begin_ns, one_pass.name, samples)
        self._stop()
        self._pass, self.last_samples = one_pass, samples
        if one_pass is not self._trained:
            self._probe.backward_is_due()
        elif self._only_records:
            self._probe.pass_goes_on(iterator, *one_pass.handed_over())
        loader = one_pass.loader() if one_pass.given.value == 0 else None
        if loader is not None:
            note(loader, "_loopscope_first", noted(loader, "_loopscope_first", index))
        for function in hooks.batch_given:
            function(one_pass.loader())
        one_pass.given.value += 1

    def _stop(self):
        """Takes back the pass whose batches builtins record."""
        if self._only_records:
            self._probe.pass_stops()

    def _forget(self, iterator):
        if self._pass is not None and self._pass.iterator is iterator:
            self._stop()

    def _end_whole(self, now_ns):
        """A loop that counts its batches (Lightning's) never asks for one too many: its pass is over when another begins."""
        last = self._pass
        if last is not None and not last.ran_out and last.given.value == last.batches:
            self._ran_out(last, now_ns)

    def _iterator_ran_out(self, iterator, begin_ns):
        one_pass = noted(iterator, "_loopscope_pass")
        if one_pass is not None:
            self._ran_out(one_pass, begin_ns)

    def _ran_out(self, one_pass, begin_ns):
        one_pass.ran_out = True
        self._probe.loader_ran_out(one_pass.loader_id, begin_ns, one_pass.name)
        for function in hooks.pass_ended:
            function(one_pass.loader())

    def last(self):
        """The loader that gave the last batch, if it is still alive."""
        return self._pass.loader() if self._pass else None

    def end_last_pass(self):
        """Ends the workers of a pass that will not continue; persistent ones serve the next pass."""
        iterator = self._pass.iterator() if self._pass else None
        shut_down = getattr(iterator, "_shutdown_workers", None)
        if shut_down and not getattr(iterator, "_persistent_workers", False):
            shut_down()

    def describe_training(self):
        """Writes facts about the loader whose batch is trained on, once each; called where `backward_is_due` was."""
        self._trained = self._pass
        loader = self.last()
        if loader is None or any(known() is loader for known in self._described):
            return
        self._described.append(weakref.ref(loader) if type(loader).__weakrefoffset__ else lambda: loader)
        number = len(self._described)
        prefix = "loader." if number == 1 else f"loader#{number}."
        for key, value in loader_facts.facts_of(loader).items():
            self._probe.fact(text(prefix + key), text(value))


class _Pass:
    """One pass over a loader, kept on its iterator."""

    __slots__ = ("loader", "iterator", "loader_id", "name", "drawn", "sizes", "given", "batches", "ran_out")

    def __init__(self, loader, iterator, sizes, forget):
        """`sizes`: of loader_facts.sizes_of(); `forget(reference)` is called when the iterator goes."""
        # A loader made in its loop's header is freed once it has given its iterator: this keeps it alive as long as
        # that. One with persistent workers keeps its iterator itself.
        keeps = getattr(loader, "persistent_workers", False) and type(loader).__weakrefoffset__
        self.loader = weakref.ref(loader) if keeps else lambda: loader
        self.iterator = weakref.ref(iterator, forget)
        self.loader_id = id(loader)
        # The name that torch's own profiler gives it; the importer knows from it that the range is the whole wait.
        self.name = text(f"enumerate(DataLoader)#{type(iterator).__name__}.__next__")
        # Indices of batches asked for and not given yet.
        self.drawn = collections.deque(take(iterator, "_loopscope_drawn", ()))
        self.sizes = sizes
        self.given = ctypes.c_uint64(0)
        self.batches = loader_facts.batches_of(loader)
        self.ran_out = False
        note(iterator, "_loopscope_pass", self)

    def begin_again(self):
        self.ran_out = False
        self.given.value = 0

    def samples(self, index):
        """The samples in the batch being given now."""
        if self.sizes is None:
            return loader_facts.samples_of(index)
        of_batch, of_pass = self.sizes
        left = of_pass - self.given.value * of_batch
        return min(of_batch, left) if left > 0 else of_batch

    def handed_over(self):
        """What the builtins need of it (probes/preload/python/loader.h)."""
        own = (None, None, *self.sizes) if self.sizes else (self.drawn.append, self.drawn.popleft, 0, 0)
        return ctypes.addressof(self.given), self.loader_id, self.name, *own

"""DataLoaders: their settings, when the training thread asks them for a batch, and which samples it gets."""

import os
import weakref

from . import frames, hooks, loader_facts, repeats, wrapping
from .facts import MOST_DESCRIBED
from .loader_pass import Known, Pass
from .notes import Notes
from .probe import now_ns, text


class Loaders:
    """Watches torch.utils.data.DataLoader and its iterators. Keeps none of them alive: a data set may fill the memory."""

    def __init__(self, probe, settings):
        self._probe = probe
        self._hashes = settings.mode == "check"
        self._known = Notes()  # loader -> Known
        self._slotted = {}  # the same by class, for loaders without weak references
        self._passes = Notes()  # iterator -> Pass
        self._drawn = Notes()  # iterator -> indices that it requested before its pass was known
        self._pass = None  # the one that gave the last batch
        self.last_samples = 0  # in it
        self._trained = None  # the pass whose batch was trained on last
        self._described = 0
        self.on_pass = None  # called when a pass begins
        self._starting = 0  # calls of DataLoader.__iter__ that have not returned
        self._asked, self._drawing = set(), set()  # iterators in __next__, in _next_index, without builtins
        self._first_indices = settings.mode == "trace"  # recorded for each loader's first batch
        self._alone = settings.treatment.get("loader.only") == "on"
        # Whether training batches only need recording, which the builtins can do.
        self._only_records = bool(probe.around_next) and not self._hashes and not self._alone

    def install(self, dataloader):
        """`dataloader`: the module torch.utils.data.dataloader."""
        loader, iterator = dataloader.DataLoader, dataloader._BaseDataLoaderIter
        self._own = iterator
        # A treatment that acts on the loader needs it during the whole pass.
        self._keeps_loaders = self._alone or bool(hooks.batch_given or hooks.pass_ended)
        if hooks.loader_arguments:
            wrapping.with_arguments(loader, "__init__", hooks.loader_arguments)
        wrapping.watch(self._probe, loader, "__init__", after=self._loader_made)
        wrapping.watch(self._probe, loader, "__iter__", self._iter_begins, self._iter_ends)
        self._only_records = self._only_records and not hooks.batch_given
        self._keeps_indices = False
        wrapping.each_class(iterator, self._watch_iterators)
        if self._first_indices:
            os.register_at_fork(after_in_child=self._probe.forked)  # workers are followed for two batches
        if self._first_indices or not self._only_records:
            self._keep_indices()

    def _watch_iterators(self, made):
        """Watches one class: torch's, or a derived one that may override anything (StatefulDataLoader)."""
        own = vars(made)
        if "__init__" in own:
            wrapping.watch(self._probe, made, "__init__", self._iterator_begins, self._iterator_ends)
        if "_reset" in own:
            wrapping.watch(self._probe, made, "_reset", self._iterator_resumes, self._iterator_ends)
        if "__next__" in own and self._probe.around_next:
            made.__next__ = self._probe.around_next(made.__next__, self._gave, self._iterator_ran_out)
        elif "__next__" in own:
            wrapping.replace(made, "__next__", self._next)
        if self._keeps_indices:
            self._watch_indices(made)

    def _keep_indices(self):
        """From now on keeps the indices that iterators ask for, to know what a batch holds."""
        if not self._keeps_indices:
            self._keeps_indices = True
            for made in wrapping.classes_from(self._own):
                self._watch_indices(made)

    def _watch_indices(self, made):
        if "_next_index" not in vars(made):
            return
        if self._probe.around_next:
            made._next_index = self._probe.around_next_index(made._next_index, self._keep_index)
        else:
            wrapping.watch(self._probe, made, "_next_index", self._index_is_asked, self._index_asked)

    def _of(self, loader):
        """The record of a loader."""
        known = self._known.of(loader) or self._slotted.get(type(loader))
        if known is None:
            known = Known()
            if not self._known.set(loader, known):
                self._slotted[type(loader)] = known
        return known

    def place(self, loader):
        return self._of(loader).place

    def _loader_made(self, _token, loader, _result, raised):
        if not raised:
            self._of(loader).place = frames.place()

    def _iter_begins(self, loader, *_, **__):
        begin_ns = now_ns()
        self._pass_begins(begin_ns)
        kept = getattr(loader, "_iterator", None)  # with persistent workers: it asks for its first indices again
        if isinstance(kept, self._own):
            self._passes.take(kept)
            for function in hooks.pass_resumes:
                function(loader)
        sizes = loader_facts.sizes_of(loader)
        if sizes is None:  # batches are requested from workers before there is an iterator
            self._keep_indices()
        self._starting += 1
        return sizes, begin_ns

    def _iter_ends(self, token, loader, iterator, raised):
        self._starting -= 1
        if not raised and isinstance(iterator, self._own):  # a subclass's own: torch's iterators inside it are watched
            self._note_pass(loader, iterator, *token)

    def _iterator_begins(self, _iterator, loader=None, *_, **__):
        """Torch's iterators made by others: a subclass that keeps one for many passes, or a library's own loader."""
        if self._starting or loader is None:
            return None
        begin_ns = now_ns()
        self._pass_begins(begin_ns)
        sizes = loader_facts.sizes_of(loader)
        if sizes is None:
            self._keep_indices()
        known = self._of(loader)
        if known.place is None:
            known.place = frames.place()
        self._starting += 1
        return loader, sizes, begin_ns

    def _iterator_resumes(self, iterator, loader=None, *_, **__):
        """A loader's own __iter__ begins a further pass with the iterator that it kept."""
        if self._starting or loader is None:
            return None
        self._passes.take(iterator)
        for function in hooks.pass_resumes:
            function(loader)
        return self._iterator_begins(iterator, loader)

    def _iterator_ends(self, token, iterator, _result, raised):
        if token is None:
            return
        self._starting -= 1
        if not raised:
            loader, sizes, begin_ns = token
            self._note_pass(loader, iterator, sizes, begin_ns)

    def _pass_begins(self, begin_ns):
        if self._pass is not None and self._pass.iterator() is None:
            self._pass.drawn.clear()  # the program's objects
        if self.on_pass:
            self.on_pass()
        self._end_whole(begin_ns)
        self._stop()

    def _note_pass(self, loader, iterator, sizes, begin_ns):
        known = self._of(loader)
        if known.facts is None:  # now: a loader made in its loop's header is freed once it has given its iterator
            known.facts = loader_facts.facts_of(loader)
        keeps = self._keeps_loaders or not type(loader).__weakrefoffset__
        reference = (lambda: loader) if keeps else weakref.ref(loader)
        # Only builtins at its end: exceptions of a signal handler in a Python callback would be lost.
        when_it_goes = self._probe.pass_stops if self._only_records else None
        one_pass = Pass(known, reference, loader, weakref.ref(iterator, when_it_goes), sizes)
        one_pass.drawn.extend(self._drawn.take(iterator, ()))
        if self._first_indices and known.first is None:
            one_pass.repeats = repeats.of(loader)
        self._passes.set(iterator, one_pass)
        self._probe.loader_started(one_pass.loader_id, begin_ns, one_pass.name)

    def _keep_index(self, iterator, index):
        one_pass = self._passes.of(iterator)
        drawn = one_pass.drawn if one_pass is not None else self._drawn.of(iterator)
        if drawn is not None:
            drawn.append(index)
        else:  # batches are requested from workers before __iter__ returns
            self._drawn.set(iterator, [index])

    def _index_is_asked(self, iterator):
        inner = id(iterator) in self._drawing  # by a derived class, which made this index
        self._drawing.add(id(iterator))
        return inner

    def _index_asked(self, inner, iterator, index, raised):
        if inner:
            return
        self._drawing.discard(id(iterator))
        if not raised:
            self._keep_index(iterator, index)

    def _next(self, original):
        gave, asked = self._gave, self._asked

        def __next__(iterator):
            if id(iterator) in asked:  # by a derived class, which makes the whole batch
                return original(iterator)
            begin_ns = now_ns()
            asked.add(id(iterator))
            try:
                batch = original(iterator)
            except StopIteration:
                self._iterator_ran_out(iterator, begin_ns)
                raise
            finally:
                asked.discard(id(iterator))
            gave(iterator, begin_ns, batch)
            return batch

        return __next__

    def _gave(self, iterator, begin_ns, batch):
        one_pass = self._passes.of(iterator)
        if one_pass is None:
            return
        if one_pass.ran_out:  # the iterator's owner restarted it
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
        elif self._only_records and one_pass.repeats is None:
            self._probe.pass_goes_on(iterator, *one_pass.handed_over())
        if one_pass.given.value == 0 and one_pass.known.first is None:
            one_pass.known.first = loader_facts.shown(index)
        for function in hooks.batch_given:
            function(one_pass.loader())
        one_pass.given.value += 1
        if one_pass.repeats is not None:
            self._look_for_repeats(one_pass, batch)

    def _look_for_repeats(self, one_pass, batch):
        found = one_pass.repeats.look(batch)
        if found is None:
            return
        iterates, known, one_pass.repeats = one_pass.repeats.place, one_pass.known, None
        if found:
            known.facts.update(repeats="workers", iterates=iterates)
            if known.prefix:
                self._describe(known, ("repeats", "iterates"))

    def _stop(self):
        """Takes back the pass whose batches builtins record."""
        if self._only_records:
            self._probe.pass_stops()

    def _end_whole(self, now_ns):
        """A loop that counts its batches (Lightning's) never exhausts the loader: its pass ends when another begins."""
        last = self._pass
        if last is not None and not last.ran_out and last.given.value == last.batches:
            self._ran_out(last, now_ns)

    def _iterator_ran_out(self, iterator, begin_ns):
        one_pass = self._passes.of(iterator)
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
        known = self._pass.known if self._pass else None
        if known is None or known.described:
            return
        known.described = True
        self._described += 1
        if self._described > MOST_DESCRIBED:
            return
        known.prefix = "loader." if self._described == 1 else f"loader#{self._described}."
        known.facts.update(first=known.first or "", where=known.place or "")
        self._describe(known, known.facts)

    def _describe(self, known, keys):
        for key in keys:
            self._probe.fact(text(known.prefix + key), text(known.facts[key]))

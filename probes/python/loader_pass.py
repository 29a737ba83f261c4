"""Records of a loader, and of one pass over it."""

import collections
import ctypes

from . import loader_facts
from .probe import text


class Known:
    """The record of a loader."""

    __slots__ = ("place", "facts", "first", "described", "prefix")

    def __init__(self):
        self.place = None  # where it was built
        self.facts = None  # of loader_facts.facts_of()
        self.first = None  # the indices of its first batch
        self.described = False
        self.prefix = ""  # prefix of the facts that were written; "": none


class Pass:
    """One pass over a loader, kept as long as its iterator."""

    __slots__ = (
        "known",
        "loader",
        "iterator",
        "loader_id",
        "name",
        "drawn",
        "sizes",
        "given",
        "batches",
        "ran_out",
        "repeats",
    )

    def __init__(self, known, reference, loader, iterator, sizes):
        """`sizes`: of loader_facts.sizes_of(); `reference` and `iterator` may later return None."""
        self.known = known
        self.loader = reference
        self.iterator = iterator
        self.loader_id = id(loader)
        # The same name as torch's own profiler uses; it shows the importer that the range is the whole wait.
        self.name = text(f"enumerate(DataLoader)#{type(iterator()).__name__}.__next__")
        self.drawn = collections.deque()  # indices of batches requested and not given yet
        self.sizes = sizes
        self.given = ctypes.c_uint64(0)
        self.batches = loader_facts.batches_of(loader)
        self.ran_out = False
        self.repeats = None  # of repeats.of(), until its answer is known

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
        """The arguments for the builtins (probes/preload/python/builtins.h)."""
        own = (None, None, *self.sizes) if self.sizes else (self.drawn.append, self.drawn.popleft, 0, 0)
        return ctypes.addressof(self.given), self.loader_id, self.name, *own

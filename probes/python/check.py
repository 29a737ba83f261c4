"""Check launches ("same training?"): exact losses, and random numbers that depend only on the sample."""

import mmap
import random
import sys

_STEP = 0x9E3779B97F4A7C15


class Losses:
    """The roots of backward: copies that stay on their device until the end, so that the run is not delayed."""

    def __init__(self, torch, probe, most=None):
        self._torch, self._probe, self._kept = torch, probe, []
        self._most = most  # backwards whose roots are kept; None: all

    def keep(self, roots):
        if self._most is not None:
            if self._most == 0:
                return
            self._most -= 1
        tensors = [root.detach().clone() for root in roots if isinstance(root, self._torch.Tensor)]
        self._kept.extend(tensors)

    def write(self):
        for tensor in self._kept:
            value = tensor.double()
            self._probe.loss(float(value if value.numel() == 1 else value.sum()))
        self._kept.clear()


def sample_seed(seed, epoch, index):
    """The generator's seed for one sample of one pass: 64 bits mixed as in SplitMix64."""
    value = (seed + (epoch + 1) * _STEP) % 2**64
    for part in (index + 1, epoch):
        value = (value ^ part) * 0xBF58476D1CE4E5B9 % 2**64
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
        value ^= value >> 31
    return value


def fix_sample_draws(torch, loaders, settings):
    """From now on a sample's random numbers come from hash(seed, pass, index), wherever and whenever it is loaded."""
    from torch.utils.data._utils import fetch

    passes = _SharedCount()
    loaders.on_pass = passes.advance
    original = fetch._MapDatasetFetcher.__init__

    def __init__(self, dataset, *positional, **named):
        original(self, _SeededDataset(dataset, torch, settings.seed, passes), *positional, **named)

    fetch._MapDatasetFetcher.__init__ = __init__


class _SharedCount:
    """Passes begun, counted in memory shared with forked workers."""

    def __init__(self):
        self._bytes = mmap.mmap(-1, 8)

    def value(self):
        return int.from_bytes(self._bytes[:8], sys.byteorder)

    def advance(self):
        self._bytes[:8] = (self.value() + 1).to_bytes(8, sys.byteorder)


class _SeededDataset:
    """A fetcher's view of a data set; the program keeps the data set itself."""

    def __init__(self, dataset, torch, seed, passes):
        self._dataset, self._torch, self._seed, self._passes = dataset, torch, seed, passes

    def __getattr__(self, name):
        if name == "__getitems__":  # fetched one by one, so that each has its own random numbers
            raise AttributeError(name)
        return getattr(self._dataset, name)

    def __getitem__(self, index):
        number = index if isinstance(index, int) else hash(index)
        seed = sample_seed(self._seed, self._passes.value(), number)
        numpy = sys.modules.get("numpy")
        kept = random.getstate(), self._torch.get_rng_state(), numpy.random.get_state() if numpy else None
        try:
            random.seed(seed)
            self._torch.default_generator.manual_seed(seed)
            if numpy:
                numpy.random.seed(seed % 2**32)
            return self._dataset[index]
        finally:
            random.setstate(kept[0])
            self._torch.set_rng_state(kept[1])
            if numpy:
                numpy.random.set_state(kept[2])

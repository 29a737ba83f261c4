"""Properties of a DataLoader, or of a library's object that looks like one."""

import ctypes
import sys
import zlib

from .faults import is_programs


def batches_of(loader):
    """Batches in one pass; None where unknown. Asks the sampler: len(loader) of an iterable data set warns."""
    try:
        batches = getattr(loader, "batch_sampler", None)
        return len(batches if batches is not None else loader.sampler)
    except Exception as error:
        if is_programs(error):
            raise
        return None


def sizes_of(loader):
    """Samples of a batch and of a pass where all batches but the last are equal, as torch's own samplers make them;
    None: each index has to be checked."""
    batches = getattr(loader, "batch_sampler", None)
    if type(batches).__name__ != "BatchSampler" or not all(
        map(_is_torchs, (batches, getattr(batches, "sampler", None)))
    ):
        return None
    try:
        sizes = int(batches.batch_size), len(batches.sampler)
    except Exception as error:
        if is_programs(error):
            raise
        return None
    return sizes if min(sizes) > 0 else None


def _is_torchs(sampler):
    return type(sampler).__module__.startswith("torch.utils.data.")


def samples_of(index):
    return len(index) if isinstance(index, (list, tuple)) else 1


def as_array(index):
    numbers = [_as_number(one) for one in (index if isinstance(index, (list, tuple)) else [index])]
    return (ctypes.c_size_t * len(numbers))(*numbers)


def _as_number(index):
    return index % 2**64 if isinstance(index, int) else zlib.crc32(repr(index).encode())


def facts_of(loader):
    def known(name):  # a library's own loader may lack some
        value = getattr(loader, name, None)
        return "none" if value is None else value

    dataset = getattr(loader, "dataset", None)
    return {
        "workers": getattr(loader, "num_workers", 0),
        "batch_size": known("batch_size"),
        "persistent": _on_off(getattr(loader, "persistent_workers", False)),
        "prefetch": known("prefetch_factor"),
        "rows": "tensors" if tensors_behind(dataset) else "none",
        "sampler": type(_sampler(loader)).__qualname__,
        "samples": _length(dataset),
        "pass": _length(_sampler(loader)),
    }


def tensors_behind(dataset):
    """The tensors, if samples are rows of tensors in memory (torch's own data set or a subset of it). Else None."""
    torch_data = sys.modules.get("torch.utils.data")
    while torch_data is not None and type(dataset) is torch_data.Subset:
        dataset = dataset.dataset
    return dataset.tensors if torch_data is not None and type(dataset) is torch_data.TensorDataset else None


def shown(index):
    """The samples of a batch."""
    return ",".join(str(_as_number(one)) for one in _indices(index))[:500]


def _sampler(loader):
    """The sampler that draws single samples; for a batch sampler, the one inside it."""
    sampler = getattr(loader, "sampler", None)
    if getattr(loader, "batch_sampler", None) is not None:
        sampler = getattr(loader.batch_sampler, "sampler", sampler)
    while getattr(sampler, "batch_size", None) is not None and hasattr(sampler, "sampler"):
        sampler = sampler.sampler
    return sampler


def _length(sized):
    """-1 where it is not known; an iterable data set's length is not read, since that makes the loader warn."""
    try:
        return len(sized)
    except Exception as error:
        if is_programs(error):
            raise
        return -1


def _indices(index):
    if index is None:
        return ()
    return index if isinstance(index, (list, tuple)) else (index,)


def _on_off(value):
    return "on" if value else "off"

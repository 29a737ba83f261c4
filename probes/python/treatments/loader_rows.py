"""loader.rows=batch: samples that are rows of tensors in memory are fetched a batch at a time, not row by row."""

import functools

from .. import hooks
from ..loader_facts import tensors_behind

KEY = "loader.rows"
NOTHING = "no DataLoader was built"


def apply(value, report):
    def change(arguments):
        reason = _why_not(arguments)
        if reason:
            return report.not_applicable(reason)
        _fetch_batches()
        report.applied("one by one", value)

    hooks.loader_arguments.append(change)


def _why_not(arguments):
    import torch
    from torch.utils.data import default_collate

    tensors = tensors_behind(arguments.get("dataset"))
    if tensors is None:
        return "samples are not rows of a TensorDataset"
    if any(type(one) is not torch.Tensor or one.layout is not torch.strided or one.requires_grad for one in tensors):
        return "its tensors are of a kind that is not indexed by rows"
    if arguments.get("collate_fn") not in (None, default_collate):
        return "the program puts batches together itself"
    if arguments.get("batch_size", 1) is None and arguments.get("batch_sampler") is None:
        return "whole batches are fetched already"
    context = arguments.get("multiprocessing_context")
    if arguments.get("num_workers", 0) > 0 and getattr(context, "_name", context) not in (None, "fork"):
        return "workers that are not forked do not see it"
    return None


@functools.cache
def _fetch_batches():
    import torch
    from torch.utils.data import default_collate
    from torch.utils.data._utils import fetch

    original = fetch._MapDatasetFetcher.fetch

    @functools.wraps(original)
    def in_one(self, index):
        tensors = tensors_behind(self.dataset) if self.auto_collation and self.collate_fn is default_collate else None
        if tensors is None or not all(type(one) is int for one in index):
            return original(self, index)
        rows = torch.tensor(_through_subsets(self.dataset, index))
        return [one[rows] for one in tensors]

    fetch._MapDatasetFetcher.fetch = in_one


def _through_subsets(dataset, index):
    while hasattr(dataset, "indices"):
        index = [dataset.indices[one] for one in index]
        dataset = dataset.dataset
    return [int(one) for one in index]

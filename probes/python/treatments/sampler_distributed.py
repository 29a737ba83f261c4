"""sampler.distributed=on: every rank's loader goes through its own share of the samples, in a new order each epoch.

Applies to loaders that shuffle and have no sampler of their own. Loaders that do not shuffle are not changed: they
evaluate, and would see only a share."""

import weakref

from .. import hooks, wrapping

KEY = "sampler.distributed"
NOTHING = "no DataLoader that shuffles was built after the process group"


def apply(value, report):
    from torch.utils.data import DataLoader, distributed

    ours = weakref.WeakKeyDictionary()  # sampler -> passes begun

    def change(arguments):
        ranks = report.torch.distributed
        if not ranks.is_available() or not ranks.is_initialized() or ranks.get_world_size() == 1:
            return report.not_applicable("only one rank exists where the DataLoader is built")
        if arguments.get("sampler") is not None or arguments.get("batch_sampler") is not None:
            return report.not_applicable("the DataLoader has its own sampler")
        if not arguments.get("shuffle"):
            return None
        arguments["sampler"] = distributed.DistributedSampler(arguments["dataset"])
        ours[arguments["sampler"]] = 0
        arguments["shuffle"] = False
        report.applied("every rank the whole data set", f"one of {ranks.get_world_size()} shares")
        return None

    def iterate(original):
        def __iter__(loader):
            if loader.sampler in ours:
                loader.sampler.set_epoch(ours[loader.sampler])
                ours[loader.sampler] += 1
            return original(loader)

        return __iter__

    hooks.loader_arguments.append(change)
    wrapping.replace(DataLoader, "__iter__", iterate)

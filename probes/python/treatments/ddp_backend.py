"""ddp.backend=nccl: GPU tensors are exchanged through NCCL, CPU tensors through gloo as before."""

import os

from .. import wrapping

KEY = "ddp.backend"
NOTHING = "no gloo process group was created"


def apply(value, report):
    torch = report.torch
    if value != "nccl":
        return report.not_applicable(f"only ddp.backend=nccl is supported, not {value}")
    if not torch.distributed.is_available():
        return report.not_applicable("this torch has no distributed training")
    if not (report.has_gpu() and torch.distributed.is_nccl_available()):
        return report.not_applicable("there is no GPU for NCCL")

    def change(arguments):
        backend = arguments.get("backend")
        if str(backend).lower() not in ("gloo", "cpu:gloo,cuda:gloo"):
            return
        ranks, gpus = _local_ranks(torch, arguments), torch.cuda.device_count()
        if ranks > gpus:
            return report.not_applicable(f"{ranks} ranks share {gpus} GPUs: NCCL takes one rank per GPU")
        arguments["backend"] = "cpu:gloo,cuda:nccl"
        report.applied(backend, "cpu:gloo,cuda:nccl")

    wrapping.with_arguments(torch.distributed, "init_process_group", [change])


def _local_ranks(torch, arguments):
    """Number of ranks on this machine: the launcher's, else all of them."""
    stated = os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("WORLD_SIZE")
    size = arguments.get("world_size", -1)
    return int(stated) if stated and stated.isdigit() else max(size, 1)

"""fsdp.reshard=off: FullyShardedDataParallel keeps the parameters that it gathered for the forward pass until the backward
pass is through with them."""

from .. import imports, wrapping

KEY = "fsdp.reshard"
NOTHING = "no fully_shard() that gives its parameters up after the forward pass was called"


def apply(value, report):
    if value != "off":
        return report.not_applicable(f"only fsdp.reshard=off is supported, not {value}")

    def change(arguments):
        old = arguments.get("reshard_after_forward")
        if old is not False:
            arguments["reshard_after_forward"] = False
            report.applied("default" if old is None else old, False)

    imports.after({"torch.distributed.fsdp": lambda module: _change_calls(module, change)})


def _change_calls(module, change):
    if hasattr(module, "fully_shard"):  # torch 2.6 and later
        wrapping.with_arguments(module, "fully_shard", [change])

"""fsdp.reshard=off: FullyShardedDataParallel, the newer and the older, keeps the parameters that it gathered for the forward
pass until the backward pass is through with them."""

from .. import imports, wrapping

KEY = "fsdp.reshard"
NOTHING = "no FullyShardedDataParallel that gives its parameters up after the forward pass was built"


def apply(value, report):
    if value != "off":
        return report.not_applicable(f"only fsdp.reshard=off is supported, not {value}")
    imports.after({"torch.distributed.fsdp": lambda module: _change(module, report)})


def _change(module, report):
    def of_function(arguments):
        old = arguments.get("reshard_after_forward")
        if old is not False:
            arguments["reshard_after_forward"] = False
            report.applied("default" if old is None else old, False)

    kinds = module.ShardingStrategy
    kept = {kinds.FULL_SHARD: kinds.SHARD_GRAD_OP, kinds.HYBRID_SHARD: kinds._HYBRID_SHARD_ZERO2}

    def of_class(arguments):
        old = arguments.get("sharding_strategy") or kinds.FULL_SHARD
        if old in kept:
            arguments["sharding_strategy"] = kept[old]
            report.applied(old.name, kept[old].name)

    if hasattr(module, "fully_shard"):  # torch 2.6 and later
        wrapping.with_arguments(module, "fully_shard", [of_function])
    wrapping.with_arguments(module.FullyShardedDataParallel, "__init__", [of_class])

"""Facts that only Python knows, beside those of loaders and optimizers: how a model is spread, which checks run."""

from . import frames, wrapping
from .probe import text


def install(torch, probe):
    def spread(prefix, names):
        def tell(arguments):
            for name in names:
                if name in arguments:
                    probe.fact(text(f"{prefix}.{name}"), text(arguments[name]))
            probe.fact(text(f"{prefix}.where"), text(frames.place()))

        return tell

    parallel = torch.nn.parallel
    ddp = ("find_unused_parameters", "bucket_cap_mb", "gradient_as_bucket_view", "static_graph", "broadcast_buffers")
    wrapping.with_arguments(parallel.DistributedDataParallel, "__init__", [spread("ddp", ddp)])
    wrapping.with_arguments(parallel.DataParallel, "__init__", [spread("data_parallel", ("device_ids",))])
    for name in ("gradcheck", "gradgradcheck"):
        wrapping.replace(torch.autograd, name, lambda original: _told(original, probe))


def _told(original, probe):
    def check(*positional, **named):
        probe.fact(text(original.__name__), text(frames.place()))
        return original(*positional, **named)

    return check

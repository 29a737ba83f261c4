"""ddp.bucket_mb=N: DistributedDataParallel exchanges gradients in buckets of N MiB."""

from .. import wrapping

KEY = "ddp.bucket_mb"
NOTHING = "no DistributedDataParallel model was built"
_DEFAULT = 25


def apply(value, report):
    wanted = float(value)

    def change(arguments):
        old = arguments.get("bucket_cap_mb")
        old = _DEFAULT if old is None else old
        if old == wanted:
            return report.not_applicable(f"its buckets have {old} MiB already")
        arguments["bucket_cap_mb"] = wanted
        report.applied(old, f"{wanted:g}")

    wrapping.with_arguments(report.torch.nn.parallel.DistributedDataParallel, "__init__", [change])

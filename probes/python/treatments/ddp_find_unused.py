"""ddp.find_unused=off: DistributedDataParallel does not search the graph for unused parameters in every step."""

from .. import wrapping

KEY = "ddp.find_unused"
NOTHING = "no DistributedDataParallel that searches for unused parameters was built"


def apply(value, report):
    def change(arguments):
        if arguments.get("find_unused_parameters"):
            arguments["find_unused_parameters"] = False
            report.applied(True, False)

    wrapping.with_arguments(report.torch.nn.parallel.DistributedDataParallel, "__init__", [change])

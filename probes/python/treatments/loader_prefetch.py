"""loader.prefetch=N: each worker keeps N batches ready."""

import weakref

from .. import hooks

KEY = "loader.prefetch"
NOTHING = "no DataLoader was built"


def apply(value, report):
    wanted = int(value)

    def change(arguments):
        if arguments.get("num_workers", 0) == 0:
            return report.not_applicable("the loader has no workers that could load ahead")
        old = arguments.get("prefetch_factor") or 2  # DataLoader's own default
        if old == wanted:
            return report.not_applicable(f"each worker keeps {wanted} batches ready already", had=wanted)
        arguments["prefetch_factor"] = wanted
        loader = weakref.ref(arguments["self"])
        report.applied(old, wanted, read_back=lambda: getattr(loader(), "prefetch_factor", None))

    hooks.loader_arguments.append(change)

"""loader.persistent=on: workers stay alive from one pass over the data to the next."""

import weakref

from .. import hooks

KEY = "loader.persistent"
NOTHING = "no DataLoader was built"


def apply(value, report):
    wanted = value == "on"

    def change(arguments):
        old = bool(arguments.get("persistent_workers", False))
        if arguments.get("num_workers", 0) == 0:
            return report.not_applicable("the loader has no workers to keep")
        if old == wanted:
            return report.not_applicable(f"persistent_workers is {'on' if wanted else 'off'} already", had=value)
        arguments["persistent_workers"] = wanted
        loader = weakref.ref(arguments["self"])
        report.applied(old, wanted, read_back=lambda: getattr(loader(), "persistent_workers", None))

    hooks.loader_arguments.append(change)

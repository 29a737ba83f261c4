"""loader.pin_memory=on|off: batches are given in page-locked memory, from where a device copies faster."""

import weakref

from .. import hooks

KEY = "loader.pin_memory"
NOTHING = "no DataLoader was built"


def apply(value, report):
    wanted = value == "on"

    def change(arguments):
        old = bool(arguments.get("pin_memory", False))
        if old == wanted:
            return report.not_applicable(f"pin_memory is {value} already", had=value)
        if not report.torch.accelerator.is_available():
            return report.not_applicable("there is no accelerator to copy to")
        arguments["pin_memory"] = wanted
        loader = weakref.ref(arguments["self"])
        report.applied(old, wanted, read_back=lambda: getattr(loader(), "pin_memory", None))

    hooks.loader_arguments.append(change)

"""relu.inplace=on: ReLU modules overwrite their input, which saves the memory of one activation each."""

import weakref

from .. import wrapping

KEY = "relu.inplace"
NOTHING = "no ReLU module that makes a copy was built"


def apply(value, report):
    def change(arguments):
        if arguments.get("inplace"):
            return
        arguments["inplace"] = True
        module = weakref.ref(arguments["self"])
        report.applied(False, True, read_back=lambda: getattr(module(), "inplace", None))

    wrapping.with_arguments(report.torch.nn.ReLU, "__init__", [change])

"""compile=on: modules with parameters are compiled at their first outermost call in training."""

from .. import compiling

KEY = "compile"
NOTHING = "no module with parameters was called in training mode"


def apply(value, report):
    if value != "on":
        return report.not_applicable(f"only compile=on is supported, not {value}")
    compiling.ask(report, "compiled")

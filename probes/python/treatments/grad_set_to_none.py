"""grad.set_to_none=on: zero_grad releases gradients instead of filling them with zeros."""

from .. import hooks

KEY = "grad.set_to_none"
NOTHING = "zero_grad was never called to fill gradients with zeros"
REVERSIBLE = True


def apply(value, report):
    wanted = value == "on"
    reported = set()

    def change(owner, arguments):
        if not report.on or bool(arguments["set_to_none"]) == wanted:
            return
        report.acted()
        arguments["set_to_none"] = wanted
        if id(owner) not in reported:
            reported.add(id(owner))
            report.applied("zeros" if wanted else "none", "none" if wanted else "zeros")

    hooks.zero_grad_arguments.append(change)

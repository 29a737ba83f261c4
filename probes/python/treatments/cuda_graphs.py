"""cuda_graphs=on: models on a GPU are compiled so that what they launch is recorded and launched as a whole."""

from .. import compiling

KEY = "cuda_graphs"
NOTHING = "it needs a GPU: no model on one was called in training mode"


def apply(value, report):
    if value != "on":
        return report.not_applicable(f"only cuda_graphs=on is supported, not {value}")
    compiling.ask(report, "compiled, in CUDA graphs", mode="reduce-overhead", fits=lambda parameter: parameter.is_cuda)

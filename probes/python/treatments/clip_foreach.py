"""clip.foreach=on: gradient norms are computed over all parameters at once."""

from .. import wrapping

KEY = "clip.foreach"
NOTHING = "gradients are not clipped by torch.nn.utils"
REVERSIBLE = True


def apply(value, report):
    utils = report.torch.nn.utils
    wanted = value == "on"

    def change(arguments):
        if not report.on:
            return None
        old = arguments.get("foreach")
        if old is wanted:
            return report.not_applicable("clipping is done for all parameters together already", had=value)
        arguments["foreach"] = wanted
        report.acted()
        if not report.has_places():
            report.applied("default" if old is None else old, wanted)

    for name in ("clip_grad_norm_", "clip_grad_value_"):
        wrapping.with_arguments(utils.clip_grad, name, [change])
        setattr(utils, name, getattr(utils.clip_grad, name))

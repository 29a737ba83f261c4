"""loss.detach=on: once backward is through, the loss lets go of its graph, so that a sum of losses keeps none."""

from .. import hooks

KEY = "loss.detach"
NOTHING = "no backward pass whose graph could be let go of"


def apply(value, report):
    def ends(roots, keeps_graph):
        if keeps_graph:
            return report.not_applicable("backward is asked to keep its graph")
        for root in roots:
            if getattr(root, "grad_fn", None) is not None and not root._is_view():
                root.detach_()
                if not report.has_places():
                    report.applied("holds its graph", "detached")

    hooks.backward_ends.append(ends)

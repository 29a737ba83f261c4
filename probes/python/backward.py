"""torch.autograd.backward, which Tensor.backward calls too."""

from . import hooks, wrapping
from .probe import now_ns


class Backward:
    """Records each outermost backward; lets treatments and checks see its roots."""

    def __init__(self, probe, on_begin):
        self._probe = probe
        self._on_begin = on_begin  # f(roots): before it

    def install(self, torch):
        self._tensor = torch.Tensor
        # Where a gradient edge can be a root too; it is a tuple itself.
        self._root = (torch.Tensor, getattr(torch.autograd.graph, "GradientEdge", torch.Tensor))
        wrapping.replace(torch.autograd, "backward", self._wrap)

    def _wrap(self, original):
        def backward(tensors, *positional, **named):
            roots = (tensors,) if isinstance(tensors, self._root) else tuple(tensors)
            losses = tuple(root for root in roots if isinstance(root, self._tensor))
            self._on_begin(losses)
            if len(losses) == len(roots):
                for change in hooks.backward_begins:
                    roots = losses = change(roots)
            begin_ns = now_ns()
            self._probe.backward_begins()
            raised = 1
            try:
                result = original(roots, *positional, **named)
                raised = 0
            finally:
                if not raised:
                    self._after(losses, positional, named)
                self._probe.backward_ends(begin_ns, raised)
            return result

        return backward

    @staticmethod
    def _after(losses, positional, named):
        keeps = bool(named.get("retain_graph") or named.get("create_graph") or any(positional[1:3]))
        for function in hooks.backward_ends:
            function(losses, keeps)

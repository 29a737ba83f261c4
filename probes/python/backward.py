"""torch.autograd.backward, which Tensor.backward calls too."""

from . import hooks, wrapping
from .probe import now_ns


class Backward:
    """Records each outermost backward; lets treatments and checks see its roots."""

    def __init__(self, probe, on_begin):
        self._probe = probe
        self._on_begin = on_begin  # f(roots): before it

    def install(self, torch):
        wrapping.replace(torch.autograd, "backward", self._wrap)

    def _wrap(self, original):
        def backward(tensors, *positional, **named):
            roots = tuple(tensors) if isinstance(tensors, (list, tuple)) else (tensors,)
            self._on_begin(roots)
            for change in hooks.backward_begins:
                roots = change(roots)
            begin_ns = now_ns()
            self._probe.backward_begins()
            raised = 1
            try:
                result = original(roots, *positional, **named)
                raised = 0
            finally:
                if not raised:
                    self._after(roots, positional, named)
                self._probe.backward_ends(begin_ns, raised)
            return result

        return backward

    @staticmethod
    def _after(roots, positional, named):
        keeps = bool(named.get("retain_graph") or named.get("create_graph") or any(positional[1:3]))
        for function in hooks.backward_ends:
            function(roots, keeps)

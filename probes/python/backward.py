"""torch.autograd.backward, which Tensor.backward calls too; and torch.autograd.grad, which torch.func.grad calls too."""

from . import hooks, wrapping
from .probe import now_ns


class Backward:
    """Records each outermost backward; lets treatments and checks see its roots."""

    def __init__(self, probe, on_begin, on_gradient, keep_losses=None):
        self._probe = probe
        self._begin = on_begin  # before the first, and before those that follow backward_is_due()
        self._on_gradient = on_gradient  # after gradients were taken, until forget_gradients()
        self._unwatched = None  # (torch.autograd, its function) while gradients are watched
        self._keep_losses = keep_losses  # f(losses): before it; may be None

    def install(self, torch):
        self._watch_gradients(torch.autograd)
        if self._probe.around_backward:
            torch.autograd.backward = self._probe.around_backward(torch.autograd.backward, self._on_begin)
        else:
            wrapping.replace(torch.autograd, "backward", self._wrap)
        if self._keep_losses or hooks.backward_begins or hooks.backward_ends:
            self._tensor = torch.Tensor
            # A gradient edge can be a root too; it is itself a tuple.
            self._root = (torch.Tensor, getattr(torch.autograd.graph, "GradientEdge", torch.Tensor))
            wrapping.replace(torch.autograd, "backward", self._show_roots)

    def _on_begin(self):
        self.forget_gradients()
        self._begin()

    def _watch_gradients(self, autograd):
        """Both kinds of passes go through this function, which is private to torch and may be missing."""
        name = "_engine_run_backward"
        if hasattr(autograd, name):
            self._unwatched = autograd, name, getattr(autograd, name)
            wrapping.replace(autograd, name, self._see_gradients)

    def forget_gradients(self):
        """A backward pass or an optimizer has been seen: gradients taken besides (penalties, attacks, forces) do not
        end a step."""
        if self._unwatched:
            setattr(*self._unwatched)
            self._unwatched = None

    def _see_gradients(self, original):
        def run(*positional, **named):
            result = original(*positional, **named)
            if not named.get("accumulate_grad", True) and self._unwatched:
                self._on_gradient()
            return result

        return run

    def _wrap(self, original):
        on_begin, probe = self._on_begin, self._probe

        def backward(*positional, **named):
            on_begin()
            begin_ns = now_ns()
            probe.backward_begins()
            raised = 1
            try:
                result = original(*positional, **named)
                raised = 0
                return result
            finally:
                probe.backward_ends(begin_ns, raised)

        return backward

    def _show_roots(self, original):
        def backward(tensors, *positional, **named):
            roots = (tensors,) if isinstance(tensors, self._root) else tuple(tensors)
            losses = tuple(root for root in roots if isinstance(root, self._tensor))
            if self._keep_losses:
                self._keep_losses(losses)
            if len(losses) == len(roots):
                for change in hooks.backward_begins:
                    roots = losses = change(roots)
            result = original(roots, *positional, **named)
            keeps = bool(named.get("retain_graph") or named.get("create_graph") or any(positional[1:3]))
            for function in hooks.backward_ends:
                function(losses, keeps)
            return result

        return backward

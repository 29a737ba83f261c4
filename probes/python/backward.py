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
            wrapping.watch(self._probe, torch.autograd, "backward", self._pass_begins, self._pass_ends)
        self._tensor = torch.Tensor
        # A gradient edge can be a root too; it is itself a tuple.
        self._root = (torch.Tensor, getattr(torch.autograd.graph, "GradientEdge", torch.Tensor))
        if hooks.backward_begins or hooks.backward_ends:
            wrapping.replace(torch.autograd, "backward", self._show_roots)
        elif self._keep_losses:
            wrapping.watch(self._probe, torch.autograd, "backward", lambda *given, **named: self._show(given, named))

    def _on_begin(self):
        self.forget_gradients()
        self._begin()

    def _watch_gradients(self, autograd):
        """Both kinds of passes go through this function, which is private to torch and may be missing."""
        name = "_engine_run_backward"
        if hasattr(autograd, name):
            self._unwatched = autograd, name, getattr(autograd, name)
            wrapping.watch(self._probe, autograd, name, _takes_gradients, self._see_gradients)

    def forget_gradients(self):
        """A backward pass or an optimizer has been seen: gradients taken besides (penalties, attacks, forces) do not
        end a step."""
        if self._unwatched:
            setattr(*self._unwatched)
            self._unwatched = None

    def _see_gradients(self, takes, _tensors, _result, raised):
        if takes and not raised and self._unwatched:
            self._on_gradient()

    def _pass_begins(self, *_, **__):
        self._on_begin()
        self._probe.backward_begins()
        return now_ns()

    def _pass_ends(self, begin_ns, _tensors, _result, raised):
        self._probe.backward_ends(begin_ns, raised)

    def _show(self, given, named):
        """Passes them to the observer of losses."""
        tensors = given[0] if given else named.get("tensors", ())
        if isinstance(tensors, (*self._root, list, tuple)):  # not an iterator, which torch will consume
            self._keep_losses(self._losses(self._roots(tensors)))

    def _roots(self, tensors):
        return (tensors,) if isinstance(tensors, self._root) else tuple(tensors)

    def _losses(self, roots):
        return tuple(root for root in roots if isinstance(root, self._tensor))

    def _show_roots(self, original):
        def backward(tensors, *positional, **named):
            roots = self._roots(tensors)
            losses = self._losses(roots)
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


def _takes_gradients(*_, **named):
    return not named.get("accumulate_grad", True)

"""ddp.no_sync=on: while gradients are accumulated, only the last backward before a step exchanges them."""

from .. import hooks

KEY = "ddp.no_sync"
NOTHING = "no DistributedDataParallel model accumulates gradients"


class _Rhythm:
    """Backward passes per optimizer step: learned from two steps that agree."""

    def __init__(self):
        self.done = 0  # since the last step
        self.per_step = 0  # 0: not known
        self._before = 0

    def stepped(self):
        self.per_step = self.done if self.done == self._before else 0
        self._before, self.done = self.done, 0


def apply(value, report):
    parallel = report.torch.nn.parallel.DistributedDataParallel
    rhythm = _Rhythm()
    models = []

    def begins(module):
        if not isinstance(module, parallel) or not module.training:
            return None
        if module not in models:
            models.append(module)
        last = rhythm.per_step <= 1 or rhythm.done == rhythm.per_step - 1
        if not last and module.require_backward_grad_sync:
            report.applied("every backward", f"one of {rhythm.per_step} backwards")
        module.require_backward_grad_sync = last
        return None

    def ends(roots, keeps_graph):
        rhythm.done += 1

    def step(optimizer):
        if rhythm.done and any(not model.require_backward_grad_sync for model in models):
            report.failed(f"a step came after {rhythm.done} backward passes instead of {rhythm.per_step}")
        if rhythm.done:
            rhythm.stepped()

    hooks.forward_begins.append(begins)
    hooks.backward_ends.append(ends)
    hooks.step_begins.append(step)

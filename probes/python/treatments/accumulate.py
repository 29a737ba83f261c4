"""accumulate=N: the optimizer steps after every N backward passes, on the mean of their gradients; changes training."""

from .. import hooks, wrapping

KEY = "accumulate"
NOTHING = "no optimizer was built"


def apply(value, report):
    count = int(value)
    done = {}  # id(optimizer) -> backward passes since its last step

    def divide(roots):
        return tuple(root / count for root in roots)

    def made(optimizer):
        def make(original):
            def step(*positional, **named):
                done[id(optimizer)] = done.get(id(optimizer), 0) + 1
                if done[id(optimizer)] % count:
                    return None
                return original(*positional, **named)

            return step

        wrapping.replace_method(optimizer, "step", make)
        wrapping.replace_method(optimizer, "zero_grad", lambda original: _unless(original, done, id(optimizer), count))
        report.applied(1, count)

    hooks.backward_begins.append(divide)
    hooks.optimizer_made.append(made)


def _unless(original, done, key, count):
    def zero_grad(*positional, **named):
        if done.get(key, 0) % count == 0:
            original(*positional, **named)

    return zero_grad

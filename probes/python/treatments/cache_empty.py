"""cache.empty=off: torch.cuda.empty_cache does nothing once training has begun."""

from .. import hooks, wrapping

KEY = "cache.empty"
NOTHING = "empty_cache was not called in the training loop"
REVERSIBLE = True


def apply(value, report):
    steps = []

    def begins(optimizer):
        if not steps:
            steps.append(1)

    def make(original):
        def empty_cache():
            if not steps or not report.on:
                return original()
            report.acted()
            report.applied("empties the cache", "keeps it")

        return empty_cache

    hooks.step_begins.append(begins)
    wrapping.replace(report.torch.cuda, "empty_cache", make)

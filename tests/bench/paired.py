"""Paired comparisons of launches: arms in random order within each block, differences taken within a block."""

import math
import random
import statistics
import subprocess
import sys


class CannotMeasure(Exception):
    pass


def outcome(name, measure):
    """What `measure()` returns, an exit code; 3 when it cannot measure."""
    try:
        return measure()
    except (CannotMeasure, subprocess.TimeoutExpired, OSError, ValueError) as error:
        print(f"{name}: cannot measure: {error}", file=sys.stderr)
        return 3


def interval(values):
    """Hodges-Lehmann estimate and its 95 % interval from the exact signed-rank distribution."""
    walsh = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
    counts = [1]  # signed-rank sums: ways to reach each
    for rank in range(1, len(values) + 1):
        counts = [
            (counts[s] if s < len(counts) else 0) + (counts[s - rank] if s >= rank else 0)
            for s in range(len(counts) + rank)
        ]
    tail, cut = 0, 0
    while tail + counts[cut] <= 0.025 * 2 ** len(values):
        tail += counts[cut]
        cut += 1
    if cut == 0:
        return statistics.median(walsh), math.nan, math.nan
    return statistics.median(walsh), walsh[cut - 1], walsh[-cut]


def blocks(arms, launch, count, seed):
    """`count` blocks: {arm: launch(arm)} in an order drawn for each, after a discarded launch of every arm that warms
    caches."""
    order = random.Random(seed)
    for arm in arms:
        launch(arm)
    return [{arm: launch(arm) for arm in order.sample(arms, len(arms))} for _ in range(count)]

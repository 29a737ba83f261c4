"""Times other forms of a program's operators beside its own, on tensors of the shapes that were recorded.

    python try_forms.py ASKED ANSWER THREADS

ASKED has a line for each trial: the form's name, a tab, and its work as analyzers/forms writes it. ANSWER is written
anew after each trial, as JSON. Needs torch and nothing else; ends by itself after a few seconds.
"""

import gc
import json
import math
import os
import sys
import time
import warnings

BUDGET_S = 3.0  # for all trials
MOST_PAIRS, FEWEST_PAIRS = 15, 2


def main(asked, answer, threads):
    # Modules of the working folder are the program's.
    sys.path[:] = [path for path in sys.path if path]
    warnings.simplefilter("ignore")
    import catalogue
    import torch

    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    gc.disable()
    with open(asked, encoding="utf-8") as file:
        works = [line.rstrip("\n").split("\t") for line in file if "\t" in line]
    trials, end = [], time.perf_counter() + BUDGET_S
    for place, (form, work) in enumerate(works):
        left = end - time.perf_counter()
        if left <= 0:
            break
        trial = tried(torch, catalogue, form, work, left / (len(works) - place))
        if trial:
            trials.append(trial)
            write(answer, trials)
    write(answer, trials)


def tried(torch, catalogue, form, work, seconds):
    """None where the form does not apply to this work, or torch lacks it."""
    try:
        pair = catalogue.FORMS[form](work)
        if pair is None:
            return None
        before, after = (Timed(torch, one, pair.leaves) for one in (pair.before, pair.after))
        times = measured(before, after, seconds)
    except Exception as error:  # a trial that fails says nothing of the form
        sys.stderr.write(f"{form}: {type(error).__name__}: {error}\n")
        return None
    ratios = sorted(b / a for a, b in times)
    low, high = interval(ratios)
    return {
        "change": "form=" + form,
        "work": work,
        "before_ns": median(a for a, _ in times),
        "after_ns": median(b for _, b in times),
        "ratio_low": low,
        "ratio_high": high,
    }


class Timed:
    """One form: its result, and the gradients of `leaves` where the result has any."""

    def __init__(self, torch, run, leaves):
        self._torch, self._run = torch, run
        self._leaves = [one for one in leaves if one.requires_grad]
        self._gradients = None

    def __call__(self):
        begin = time.perf_counter_ns()
        results = self._run()
        results = [results] if self._torch.is_tensor(results) else list(results)
        results = [one for one in results if self._torch.is_tensor(one) and one.requires_grad]
        if results:
            if self._gradients is None:
                self._gradients = [self._torch.ones_like(one) for one in results]
            self._torch.autograd.grad(results, self._leaves, self._gradients, allow_unused=True)
        return max(time.perf_counter_ns() - begin, 1)


def measured(before, after, seconds):
    """(before, after) in ns, by turns, for about so long. The first pair prepares kernels and memory; it counts where it
    has taken more than the time there is."""
    begin = time.perf_counter()
    first = (before(), after())
    if time.perf_counter() - begin > seconds:
        return [first]
    times = []
    while len(times) < FEWEST_PAIRS or (len(times) < MOST_PAIRS and time.perf_counter() - begin < seconds):
        if len(times) % 2:
            second = after()
            times.append((before(), second))
        else:
            times.append((before(), after()))
    return times


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def interval(ordered):
    """Of the median, 90 %, by ranks; the whole span where there are few."""
    count = len(ordered)
    rank = max(0, math.floor((count - 1.645 * math.sqrt(count)) / 2))
    return ordered[rank], ordered[count - 1 - rank]


def write(answer, trials):
    part = answer + ".part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump({"schema": "loopscope.forms/1", "trials": trials}, file, indent=1)
    os.replace(part, answer)


if __name__ == "__main__":
    main(*sys.argv[1:4])

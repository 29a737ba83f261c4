# ctest labels: long measured
# ctest timeout: 2400
"""What one launch says of each fix of train_image's flaws (`prove --quick`) beside what launches say; writes the table of
docs/speedups.md."""

import time

from conftest import BUILD, ROOT
from pages import refill

NAIVE = ["--", str(BUILD / "workloads/train_image"), "--preset", "naive"]
LEAST = 0.03  # effects that both must see alike
MOST_TIME = 1 / 5


def prove(loopscope, *arguments):
    begin = time.monotonic()
    done, report = loopscope.report("prove", *arguments, *NAIVE, timeout=1200)
    assert done.code == 0, done.err
    return {row["treatment"]: row for row in report["trials"]}, time.monotonic() - begin, report["run"]


def measured(row):
    if row is None or row["speedup"] is None:
        return (row or {}).get("reason") or "not measured"
    return f"{row['speedup']:.2f}x [{row['ci95'][0]:.2f}, {row['ci95'][1]:.2f}], n={row['n']}"


def test_one_launch_agrees_with_many(loopscope):
    launches, launches_s, run = prove(loopscope, "-o", "launches")
    live, live_s, _ = prove(loopscope, "-o", "live", "--quick")
    lines = ["| fix | launches | one launch, live pairs |", "|---|---|---|"]
    both = []
    for treatment, row in launches.items():
        other = live.get(treatment)
        lines.append(f"| {treatment}={row['value']} | {measured(row)} | {measured(other)} |")
        if row["speedup"] and other and other["speedup"] and abs(row["speedup"] - 1) > LEAST:
            both.append((treatment, row["speedup"], other["speedup"]))
    host = run["host"]
    said = [
        f"On {host['cpu']}, {host['cores']} cores: `prove` took {launches_s:.0f} s, `prove --quick` {live_s:.0f} s, "
        f"{live_s / launches_s:.2f} of it; of the {len(both)} fixes that both measured and whose effect is above "
        f"{100 * LEAST:.0f} %, {sum((a > 1) == (b > 1) for _, a, b in both)} have the same sign.",
        "",
    ]
    print("\n".join(said + lines), flush=True)
    assert len(both) >= 3, both
    assert all((one > 1) == (other > 1) for _, one, other in both), both
    assert live_s <= MOST_TIME * launches_s
    refill(ROOT / "docs/speedups.md", "live pairs", said + lines)

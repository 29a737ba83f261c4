#!/usr/bin/env bash
# The main job on the reference workload: diagnose a training program with planted flaws, rerun it with each fix, report.
#   cmake/demo.sh --plan    what `make demo` is about to do, and for how long
#   cmake/demo.sh [OPTION…] options of `loopscope prove`
set -euo pipefail
cd "$(dirname "$0")/.."
budget=${DEMO_BUDGET:-3m}  # two minutes do on a quiet machine; beside other work four pairs take longer

if [ "${1:-}" = --plan ]; then
  echo "make demo: builds Loopscope and a training program with ten planted flaws (some minutes of all processors where"
  echo "nothing is built yet, $(nproc) here), then has Loopscope find the flaws, rerun the program with each fix and report"
  echo "the measured speedups (at most ${budget})."
  exit 0
fi

build/loopscope prove --budget "$budget" --json build/demo.json "$@" -- build/workloads/train_image --preset naive
cat <<'NEXT'

Your own program, started as it is:

  build/loopscope run -- python train.py      what slows its loop, by line
  build/loopscope prove -- python train.py    the same, then each fix measured by reruns
NEXT

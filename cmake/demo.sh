#!/usr/bin/env bash
# The main job on the reference workload: diagnose a training program with planted flaws, rerun it with each fix, report.
set -euo pipefail
cd "$(dirname "$0")/.."
exec build/loopscope prove --budget "${DEMO_BUDGET:-5m}" --blocks 9 --min-window 0.5s --json build/demo.json "$@" \
  -- build/workloads/train_image --preset naive

#!/usr/bin/env bash
# All benchmarks: reading captures and writing their page, reading traces beside simdjson, then what the probe adds to
# each op beside torch.profiler, and what recording one passes through.
set -euo pipefail
cd "$(dirname "$0")/../.."
build/tests/loopscope_bench
.venv/bin/python tests/bench/kineto_bench.py --build build
.venv/bin/python tests/bench/probe_cost.py --build build "$@"
.venv/bin/python tests/bench/python_overhead.py --build build
.venv/bin/python tests/bench/record_misses.py --build build || [ $? = 3 ]
.venv/bin/python tests/bench/follow_cost.py --build build

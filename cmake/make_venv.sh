#!/usr/bin/env bash
# Makes .venv from the given requirement files; does nothing when it was made from the same ones. The stamp holds their
# hash, so that a changed pin is installed and an interrupted install is repeated.
set -euo pipefail
cd "$(dirname "$0")/.."

for list in "$@"; do
  stamp=".venv/.$(basename "$list" .txt)"
  hash=$(sha256sum < "$list")
  [ "$(cat "$stamp" 2>/dev/null)" != "$hash" ] || continue
  echo "Python packages of $list go into .venv"
  [ -x .venv/bin/python ] || "${PYTHON:-/usr/bin/python3}" -m venv .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check -r "$list"
  echo "$hash" > "$stamp"
done

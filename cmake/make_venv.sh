#!/usr/bin/env bash
# Makes .venv from the given requirement files; does nothing when it was made from the same ones. The stamp holds their
# hash, so that a changed pin is installed and an interrupted install is repeated; a virtual environment that was
# interrupted before it had pip is made again.
set -euo pipefail
cd "$(dirname "$0")/.."

for list in "$@"; do
  stamp=".venv/.$(basename "$list" .txt)"
  hash=$(sha256sum < "$list")
  [ "$(cat "$stamp" 2>/dev/null)" != "$hash" ] || continue
  echo "Python packages of $list go into .venv"
  .venv/bin/python -m pip --version > /dev/null 2>&1 || "${PYTHON:-/usr/bin/python3}" -m venv .venv
  if ! .venv/bin/python -m pip install -q --disable-pip-version-check -r "$list"; then
    echo "$list is not installed: the reason stands above ($(df -h --output=avail . | tail -1 | tr -d ' ') are free here). The same command goes on from here." >&2
    exit 2
  fi
  echo "$hash" > "$stamp"
done

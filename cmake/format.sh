#!/usr/bin/env bash
# Formats all C++ (clang-format) and Python (ruff) of the repository; --check only says what is not formatted, and fails.
# Formatters differ by version: these are the ones that `make test` installs.
set -euo pipefail
cd "$(dirname "$0")/.."
ruff=.venv/bin/ruff
command -v clang-format-16 >/dev/null && [ -x "$ruff" ] || {
  echo "clang-format-16 or $ruff is missing: run make setup-test" >&2
  exit 2
}
# Files as they are on disk, also those that are not committed yet.
sources() { git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' file; do
  [ ! -f "$file" ] || printf '%s\0' "$file"; done; }

if [ "${1:-}" = --check ]; then
  status=0
  sources '*.h' '*.cpp' | xargs -0 clang-format-16 --dry-run --Werror || status=1
  "$ruff" format --quiet --diff . || status=1
  "$ruff" check . || status=1
  [ $status -eq 0 ] || echo "make format mends what a formatter can" >&2
  exit $status
fi
sources '*.h' '*.cpp' | xargs -0 clang-format-16 -i
"$ruff" format .
"$ruff" check --fix .

#!/usr/bin/env bash
# Installs the Debian packages named in the given lists that are missing, after saying which.
set -euo pipefail

missing=()
for list in "$@"; do
  while read -r package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done < "$list"
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Debian packages to install: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "not root, and there is no sudo: install the packages above, then run this again" >&2; exit 2; }
  as_root=(sudo)
fi
command -v apt-get >/dev/null || { echo "no apt-get here: install the packages above by your system's means, then run this again" >&2; exit 2; }
[ -z "$(dpkg --audit)" ] || "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a  # interrupted before
if ! "${as_root[@]}" apt-get update -q ||
   ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"; then
  echo "the Debian packages are not installed: the reason stands above. The same command goes on from here." >&2
  exit 2
fi

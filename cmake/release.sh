#!/usr/bin/env bash
# Makes a release of what is checked out: the version in CMakeLists.txt and CITATION.cff, a heading in the CHANGELOG, the
# wheel with its checksum in dist/, and a commit with its tag. Pushes nothing: it says what to push.
# Refused where a long test did not pass in the last 14 days (docs/long_tests.md).
# Usage: cmake/release.sh [--no-wheel] VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release: $*" >&2; exit 2; }

wheel=1
[ "${1:-}" != --no-wheel ] || { wheel= && shift; }
version=${1:-}
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "give the version as 1.2.3"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed: commit or stash them"
! git rev-parse -q --verify "refs/tags/v$version" > /dev/null || fail "there is a v$version already"
now=$(sed -n 's/^project(loopscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
if git rev-parse -q --verify "refs/tags/v$now" > /dev/null && [ "$(printf '%s\n' "$now" "$version" | sort -V | tail -1)" != "$version" ]; then
  fail "$version is older than $now"
fi
if ! stale=$(python3 tests/long_record.py --within 14); then
  fail "long tests did not pass in the last 14 days: run \`make long\`, commit docs/long_tests.md, then run this again
$stale"
fi
notes=$(awk '/^## / { found = ($2 == "Unreleased"); next } found && NF' CHANGELOG.md)
[ -n "$notes" ] || fail "CHANGELOG.md says nothing under Unreleased"

sed -i "s/^project(loopscope VERSION [0-9.]*/project(loopscope VERSION $version/" CMakeLists.txt
sed -i "s/^version: .*/version: $version/" CITATION.cff
sed -i "s/^## Unreleased$/## Unreleased\n\n## $version ($(date -u +%F))/" CHANGELOG.md
if [ -n "$wheel" ]; then
  make wheel
  (cd dist && sha256sum loopscope-"$version"-*.whl > SHA256SUMS)
  cat dist/SHA256SUMS
fi
git commit -qam "Version $version"
git tag -a "v$version" -m "Loopscope $version

$notes"
echo "v$version is made. Publish it with: git push --follow-tags"
[ -z "$wheel" ] || echo "and attach dist/loopscope-$version-*.whl and dist/SHA256SUMS to it."

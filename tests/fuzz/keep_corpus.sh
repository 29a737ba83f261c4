#!/usr/bin/env bash
# Keeps what the fuzzers have found: `keep_corpus.sh [BUILD]` merges the found inputs of each fuzzer in BUILD (build-fuzz)
# with those in corpus/NAME.tar.gz, leaves the fewest that cover as much, and packs them again.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build-fuzz}")

for name in kineto nsys; do
  kept=$(mktemp -d)
  "$build/${name}_fuzz" -set_cover_merge=1 -use_counters=0 -rss_limit_mb=2048 -max_len=131072 "$kept" \
    "$build/tests/fuzz/${name}_found.d" "$build/tests/fuzz/${name}_corpus.d"
  tar --sort=name --owner=0 --group=0 --mtime=@0 -C "$kept" -c . | gzip -9n > "tests/fuzz/corpus/$name.tar.gz"
  rm -r "$kept"
done
ls -l tests/fuzz/corpus

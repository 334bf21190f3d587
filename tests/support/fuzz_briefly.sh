#!/bin/sh
# Runs every fuzz target of a build for a while: fuzz_briefly.sh BUILD_DIRECTORY SECONDS
#
# Inputs that ended a target are left in BUILD_DIRECTORY/findings.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
build=$1
seconds=$2
findings=$build/findings
mkdir -p "$findings"

targets=$(find "$build" -type f -name '*_fuzz' -perm -u+x | LC_ALL=C sort)
[ -n "$targets" ] || {
  echo "fuzz_briefly: no fuzz target in $build" >&2
  exit 1
}
for target in $targets; do
  name=$(basename "$target")
  work=$findings/$name
  mkdir -p "$work/corpus"
  checked_in=$here/../fuzz/corpus/${name%_fuzz}
  [ -d "$checked_in" ] || checked_in=
  printf '== %s, %s s\n' "$name" "$seconds"
  # A quiet libFuzzer prints the reason when it stops early; its last line says how many rounds.
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$work/" "$work/corpus" ${checked_in:+"$checked_in"} \
    >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    echo "fuzz_briefly: $name found something; see $work" >&2
    exit 1
  }
  sed -n 's/^stat::number_of_executed_units:/   rounds:/p' "$work/log"
done

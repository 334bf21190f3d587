#!/bin/sh
# Checks that a backend exports its entry and nothing else.
#
#   tests/support/one_symbol.sh NM MODULE
set -eu

nm=$1
module=$2
wanted=loom_backend_entry_v1

found=$("$nm" --dynamic --defined-only "$module" | awk '{ print $NF }')
if [ "$found" != "$wanted" ]; then
  printf 'one_symbol: %s must export %s alone, and exports:\n%s\n' "$module" "$wanted" "$found" >&2
  exit 1
fi

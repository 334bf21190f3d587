#!/bin/sh
# Checks what a release build ships: check_release.sh BUILD_DIRECTORY
set -eu

build=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
failures=0

fail() {
  printf 'check_release: %s\n' "$*" >&2
  failures=$((failures + 1))
}

needed() { readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

without_seccomp() {
  [ -n "$(needed "$1")" ] || fail "$1: no dependency at all; the check looks at the wrong thing"
  case $(needed "$1") in
    *seccomp*) fail "$1 links libseccomp" ;;
  esac
}

# What LOOM_STATIC_RUNTIME promises: nothing to bind but the C library and, for a backend, libseccomp.
carries_its_runtime() {
  grep -q '^LOOM_STATIC_RUNTIME:BOOL=ON$' "$build/CMakeCache.txt" || return 0
  for library in $(needed "$1"); do
    case $library in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*.so.* | libseccomp.so.*) ;;
      *) fail "$1 needs $library" ;;
    esac
  done
}

static() {
  [ -z "$(needed "$1")" ] || fail "$1 is not static: needs $(needed "$1" | tr '\n' ' ')"
  if readelf --program-headers --wide "$1" | grep -q INTERP; then fail "$1 names an interpreter"; fi
}

# Position independent, relocations read-only, all bound at start.
hardened() {
  readelf --file-header --wide "$1" | grep -q 'Type: *DYN' || fail "$1 is not position independent"
  readelf --program-headers --wide "$1" | grep -q GNU_RELRO || fail "$1 has no read-only relocations"
  readelf --dynamic --wide "$1" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || fail "$1 binds lazily"
}

# A test build redirects calls to leave out a layer; nothing of that ships.
whole() {
  if nm "$1" 2>/dev/null | grep -q __wrap_; then fail "$1 has a redirected symbol"; fi
}

backends=0
for backend in "$build"/lib/loom-exec/backends/*.so; do
  [ -e "$backend" ] || continue
  "$here/one_symbol.sh" nm "$backend" || fail "$backend exports something else"
  hardened "$backend"
  carries_its_runtime "$backend"
  whole "$backend"
  backends=$((backends + 1))
done
[ "$backends" -ge 2 ] || fail "$backends backends in $build/lib/loom-exec/backends"
without_seccomp "$build/bin/loom-exec"
hardened "$build/bin/loom-exec"
carries_its_runtime "$build/bin/loom-exec"
whole "$build/bin/loom-exec"
static "$build/libexec/loom-exec/bwrap-stage2"

child=$(find "$build" -name 'child_entry.cc.o')
cmake -DNM=nm -DOBJECT="$child" -P "$here/child_symbols.cmake" ||
  fail "${child:-no child_entry.cc.o in $build} calls more than a forked child may"

[ "$failures" = 0 ] || exit 1
echo "check_release: $backends backends with one symbol each, helper without libseccomp, static stage 2"

#!/bin/sh
# Compiles every header of an installation alone, as strictly as an author might:
# compile_headers.sh PREFIX
#
# As C++20, and those that say that they are C's (they ask for __cplusplus) as C11 too, each twice in
# one source. A header that needs another one before it must be noticed, or the check proves nothing.
set -eu

prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

fail() {
  printf 'compile_headers: %s\n' "$*" >&2
  exit 1
}

# compile DIRECTORY HEADER LANGUAGE: whether it compiles; what the compiler said is in $work/said.
compile() {
  case $3 in
    c++) compiler="${CXX:-c++} -std=c++20" ;;
    c) compiler="${CC:-cc} -std=c11" ;;
  esac
  printf '#include <loom/%s>\n#include <loom/%s>\n' "$2" "$2" >"$work/alone"
  # shellcheck disable=SC2086 # a command and an option
  $compiler -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$1" -x "$3" "$work/alone" >"$work/said" 2>&1
}

# A copy: in a directory of the system a compiler keeps its warnings to itself.
mkdir "$work/include"
cp -R "$prefix/include/loom" "$work/include/loom"

headers=0
in_c=0
for file in "$work"/include/loom/*; do
  name=$(basename -- "$file")
  compile "$work/include" "$name" c++ || fail "$name alone, as C++20: $(cat "$work/said")"
  headers=$((headers + 1))
  if grep -q '__cplusplus' "$file"; then
    compile "$work/include" "$name" c || fail "$name alone, as C11: $(cat "$work/said")"
    in_c=$((in_c + 1))
  fi
done
[ "$headers" -gt 10 ] || fail "$headers headers in $prefix/include/loom"
grep -q '__cplusplus' "$work/include/loom/backend_abi.h" || fail "backend_abi.h is not C's any more"

mkdir -p "$work/wrong/loom"
echo 'inline std::string f(int unused) { return {}; }' >"$work/wrong/loom/needs.h"
echo 'inline int f(int unused) { return 0; }' >"$work/wrong/loom/warns.h"
echo 'using number = int;' >"$work/wrong/loom/twice.h"
echo 'inline int g() { return 0; }' >>"$work/wrong/loom/twice.h"
for name in needs.h warns.h twice.h; do
  if compile "$work/wrong" "$name" c++; then fail "a wrong header, $name, was not noticed"; fi
done
echo 'bool f(void);' >"$work/wrong/loom/needs_bool.h"
if compile "$work/wrong" needs_bool.h c; then fail "a header that is not C's was not noticed"; fi

echo "compile_headers: $headers headers compile alone, $in_c of them in C too"

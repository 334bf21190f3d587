#!/bin/sh
# Tries what an author of backends gets, against an installation: try_kit.sh PREFIX
#
# Headers compile alone. The projects to copy are copied elsewhere, built and judged: the template by the
# commands of its README, under a umask that leaves files to the group. And what judges can fail: a lie, a
# program that is not there, or one that cannot judge, is a failing test; a call that would add none is an
# error.
set -eu

prefix=$(CDPATH='' cd -- "$1" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
projects=$prefix/share/doc/libloom-exec-dev/examples
work=$(mktemp -d /var/tmp/loom-kit-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
umask 002
export CMAKE_PREFIX_PATH="$prefix" PATH="$prefix/bin:$PATH"
cd "$work"

fail() {
  printf 'try_kit: %s\n' "$*" >&2
  exit 1
}

quietly() {
  "$@" >"$work/said" 2>&1 || {
    cat "$work/said" >&2
    fail "$*"
  }
}

# fails_with TEXT COMMAND…: the command fails, and says so.
fails_with() {
  text=$1
  shift
  if "$@" >"$work/said" 2>&1; then fail "this succeeds, and should not: $*"; fi
  # What cmake says, it folds.
  tr -s ' \n' ' ' <"$work/said" | grep -q -e "$text" || {
    cat "$work/said" >&2
    fail "it does not say: $text"
  }
}

sh "$here/compile_headers.sh" "$prefix"

# --- the template ------------------------------------------------------------------------------------

cp -R "$projects/template-backend" mine
cd mine
sed -n 's/^    //p' README.md >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 4 ] || fail "the template's README has other commands than it had"
quietly sh -eux "$work/commands"
grep -q 'RESULT: conforming' build/Testing/Temporary/LastTest.log || fail "nothing was judged"
grep -q 'NOT held: jail: mine has no jail' "$work/said" || fail "the report does not name what is not held"
quietly cmake -S . -B strict -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
  -DCMAKE_CXX_FLAGS='-Wall -Wextra -Wpedantic -Werror'
quietly cmake --build strict
quietly env DESTDIR="$work/staged" cmake --install strict --prefix /usr
[ -f "$work/staged/usr/lib/loom-exec/backends/mine.so" ] || fail "it is not installed where helpers look"

built=$PWD/build/lib/loom-exec/backends/mine.so
mkdir "$work/workspace"
cd "$work/workspace"
quietly loom-exec run --backend "$built" --demand best-effort -- touch made
[ -e made ] || fail "the command did not run"
# A demand is what it was: nothing runs where nothing holds.
fails_with 'mine has no jail' loom-exec run --backend "$built" -- touch more
[ ! -e more ] || fail "the command ran"
cd "$work/mine"

# --- the test that judges can fail -------------------------------------------------------------------

# A project that says which program judges, and asks a part of the checks.
sed -i 's/^loom_add_conformance_test(mine)/loom_add_conformance_test(mine ONLY load clause.protected)/
/^find_package(loom-exec/a \
get_target_property(kinds loom::conformance IMPORTED_CONFIGURATIONS)\
if(PROGRAM)\
  set_target_properties(loom::conformance PROPERTIES IMPORTED_LOCATION_${kinds} ${PROGRAM})\
endif()' CMakeLists.txt
# A copy without a helper beside it: what is asked of jails, nobody can say.
mkdir -p alone/bin
cp "$prefix/bin/loom-conformance" alone/bin/

quietly cmake -S . -B build
quietly ctest --test-dir build --no-tests=error
grep -q '^  ok  *clause.protected' build/Testing/Temporary/LastTest.log || fail "ONLY asks for other checks"
if grep -q 'jail.masks' build/Testing/Temporary/LastTest.log; then fail "ONLY asks for all checks"; fi
quietly cmake -S . -B build -DPROGRAM="$work/nowhere/loom-conformance"
fails_with 'nowhere/loom-conformance' ctest --test-dir build --output-on-failure
sed -i 's/ONLY load clause.protected/ONLY jail.masks/' CMakeLists.txt
quietly cmake -S . -B build -DPROGRAM="$PWD/alone/bin/loom-conformance"
fails_with 'RESULT: could not judge' ctest --test-dir build --output-on-failure
sed -i 's/ONLY jail.masks/ONLY clause.protected/; ' CMakeLists.txt
sed -i '/"protected paths"/d' mine_backend.cc
quietly cmake -S . -B build -DPROGRAM=
quietly cmake --build build
fails_with 'contract clause.protected.*RESULT: not conforming' ctest --test-dir build --output-on-failure

# says TEXT LINE…: a project of these lines is configured, and ends with an error that has the text;
# without a text it is configured.
says() {
  text=$1
  shift
  rm -rf "$work/call"
  mkdir "$work/call"
  {
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(call LANGUAGES NONE)' \
      "include($(find "$prefix" -name loom_add_conformance_test.cmake))" "$@"
  } >"$work/call/CMakeLists.txt"
  set -- cmake -S "$work/call" -B "$work/call/build"
  if [ -n "$text" ]; then fails_with "$text" "$@"; else quietly "$@"; fi
}
backend='add_executable(x_backend IMPORTED)'
program='add_executable(loom::conformance IMPORTED)
set_target_properties(x_backend loom::conformance PROPERTIES IMPORTED_LOCATION /bin/true)'
call='loom_add_conformance_test(x)'
says '' "$backend" "$program" 'enable_testing()' "$call"
says 'has no loom-conformance' "$backend" 'enable_testing()' "$call"
says 'enable_testing() or include(CTest)' "$backend" "$program" "$call"
says 'there is no target x_backend' 'enable_testing()' "$call"
says 'nothing else: jail' "$backend" "$program" 'enable_testing()' 'loom_add_conformance_test(x jail)'
says 'nothing else: ONLY' "$backend" "$program" 'enable_testing()' 'loom_add_conformance_test(x ONLY)'
says '' "$backend" 'set(BUILD_TESTING OFF)' "$call"

# --- the other projects ------------------------------------------------------------------------------

tried=template-backend
cd "$work"
for project in "$projects"/*; do
  name=$(basename -- "$project")
  [ "$name" != template-backend ] || continue
  cp -R "$project" "$name"
  quietly cmake -S "$name" -B "$name/build"
  quietly cmake --build "$name/build"
  quietly ctest --test-dir "$name/build" --no-tests=error --output-on-failure
  grep -h 'RESULT: ' "$name/build/Testing/Temporary/LastTest.log" || fail "$name is not judged"
  tried="$tried, $name"
done
[ -d landlock-backend ] || fail "no example beside the template"
echo "try_kit: built against $prefix and judged: $tried"

#!/bin/sh
# Runs modules of a Python suite as an ordinary user:
# as_ordinary_user.sh PREFIX SUITE_DIRECTORY [NAME=FILE…] MODULE…
#
# PREFIX is the tree that holds bin/loom-exec. A checkout may lie where nobody else can look (in
# root's home, say), so the installation, the suite, the client it uses and each FILE, whose copy
# the suite finds in the variable NAME, go to where everybody can.
set -eu

prefix=$1
suite=$(basename -- "$2")
tests=$(CDPATH='' cd -- "$2/.." && pwd)
shift 2
[ "$(id -u)" = 0 ] || {
  echo "only the superuser can become another user"
  exit 77
}

place=$(mktemp -d /var/tmp/loom-test-user-XXXXXX)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM
mkdir "$place/bin" "$place/lib" "$place/libexec" "$place/home" "$place/tests"
cp "$prefix/bin/loom-exec" "$place/bin/"
cp -R "$prefix/lib/loom-exec" "$place/lib/"
cp -R "$prefix/libexec/loom-exec" "$place/libexec/"
for folder in support wire jail "$suite"; do
  mkdir -p "$place/tests/$folder"
  cp "$tests/$folder"/*.py "$place/tests/$folder/"
  [ ! -d "$tests/$folder/expected" ] || cp -R "$tests/$folder/expected" "$place/tests/$folder/"
done

# One word each: what the ordinary user's environment has besides.
files=0
for word in "$@"; do
  case $word in
    *=*)
      file=${word#*=}
      cp "$file" "$place/bin/"
      set -- "$@" "${word%%=*}=$place/bin/$(basename -- "$file")"
      files=$((files + 1))
      ;;
  esac
done
modules=$(($# - 2 * files))
chmod -R go+rX "$place"
chmod 0711 "$place"
chown nobody "$place/home"

# Behind the words as given stand the variables with the copies: "NAME=FILE… MODULE… NAME=COPY…".
shift "$files"
names=
while [ "$modules" -gt 0 ]; do
  names="$names $1"
  shift
  modules=$((modules - 1))
done

cd "$place/home"
status=0
# shellcheck disable=SC2086 # modules are words without white space
runuser -u nobody -- env "$@" \
  HOME="$place/home" TMPDIR="$place/home" LOOM_TEST_PLACE="$place/home" \
  LOOM_EXEC="$place/bin/loom-exec" PYTHONDONTWRITEBYTECODE=1 \
  /usr/bin/python3 "$place/tests/support/run_suite.py" "$place/tests/$suite" $names || status=$?
exit "$status"

#!/bin/sh
# Runs a module of the wire suite as an ordinary user: as_ordinary_user.sh PREFIX FIXTURES MODULE
#
# PREFIX is the tree that holds bin/loom-exec. A checkout may lie where nobody else can look (in
# root's home, say), so the installation and the suite are copied to where everybody can.
set -eu

prefix=$1
fixtures=$2
module=$3
suite=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ "$(id -u)" = 0 ] || {
  echo "only the superuser can become another user"
  exit 77
}

place=$(mktemp -d /var/tmp/loom-wire-user-XXXXXX)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM
mkdir "$place/bin" "$place/lib" "$place/libexec" "$place/tmp" "$place/suite"
cp "$prefix/bin/loom-exec" "$place/bin/"
cp -R "$prefix/lib/loom-exec" "$place/lib/"
cp -R "$prefix/libexec/loom-exec" "$place/libexec/"
cp "$suite"/*.py "$fixtures" "$place/suite/"
chmod -R go+rX "$place"
chown nobody "$place/tmp"

cd "$place/tmp"
runuser -u nobody -- env \
  HOME="$place/tmp" TMPDIR="$place/tmp" LOOM_WIRE_TMP="$place/tmp" \
  LOOM_EXEC="$place/bin/loom-exec" LOOM_FIXTURES="$place/suite/$(basename -- "$fixtures")" \
  PYTHONDONTWRITEBYTECODE=1 \
  /usr/bin/python3 "$place/suite/run.py" "$module"

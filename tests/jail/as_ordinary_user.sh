#!/bin/sh
# Runs modules of the jail suite as an ordinary user: as_ordinary_user.sh PREFIX CARELESS_BWRAP MODULE…
#
# PREFIX is the tree that holds bin/loom-exec. A checkout may lie where nobody else can look (in
# root's home, say), so the installation and the suite are copied to where everybody can.
set -eu

prefix=$1
careless=$2
shift 2
suite=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ "$(id -u)" = 0 ] || {
  echo "only the superuser can become another user"
  exit 77
}

place=$(mktemp -d /var/tmp/loom-jail-user-XXXXXX)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM
mkdir "$place/bin" "$place/lib" "$place/libexec" "$place/home" "$place/jail" "$place/wire"
cp "$prefix/bin/loom-exec" "$careless" "$place/bin/"
cp -R "$prefix/lib/loom-exec" "$place/lib/"
cp -R "$prefix/libexec/loom-exec" "$place/libexec/"
cp "$suite"/*.py "$place/jail/"
cp "$suite/../wire/client.py" "$place/wire/"
chmod -R go+rX "$place"
chmod 0711 "$place"
chown nobody "$place/home"

cd "$place/home"
status=0
runuser -u nobody -- env \
  HOME="$place/home" TMPDIR="$place/home" LOOM_JAIL_TMP="$place/home" \
  LOOM_EXEC="$place/bin/loom-exec" LOOM_CARELESS_BWRAP="$place/bin/$(basename -- "$careless")" \
  PYTHONDONTWRITEBYTECODE=1 \
  /usr/bin/python3 "$place/jail/run.py" "$@" || status=$?
exit "$status"

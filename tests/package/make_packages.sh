#!/bin/sh
# Makes Debian packages of a build that is there: make_packages.sh BUILD_DIRECTORY
# They come to lie in BUILD_DIRECTORY/packages. Their time is the newest entry's of the changelog.
set -eu

build=$(CDPATH='' cd -- "$1" && pwd)
changelog=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)/docs/packaging/debian/changelog

# The archive around a package's members has their modes.
umask 022
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog --file "$changelog" --show-field Timestamp)
export SOURCE_DATE_EPOCH
rm -rf "$build/packages"
cpack --config "$build/CPackConfig.cmake" >"$build/cpack.log" 2>&1 || {
  cat "$build/cpack.log" >&2
  exit 1
}
rm -rf "$build/packages/_CPack_Packages"

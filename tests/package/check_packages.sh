#!/bin/sh
# Looks at Debian packages without installing them: check_packages.sh PACKAGES
set -eu

packages=$(CDPATH='' cd -- "$1" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
sources=$(CDPATH='' cd -- "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failures=0

fail() {
  printf 'check_packages: %s\n' "$*" >&2
  failures=$((failures + 1))
}

multiarch=$(dpkg-architecture --query DEB_HOST_MULTIARCH)
architecture=$(dpkg-architecture --query DEB_HOST_ARCH)
version=$(dpkg-parsechangelog --file "$sources/docs/packaging/debian/changelog" --show-field Version)

field() { dpkg-deb --field "$packages/$1_${version}_$architecture.deb" "$2"; }

# needs PACKAGE FIELD TEXT: the field has the text.
needs() {
  case ", $(field "$1" "$2")," in
    *", $3,"* | *", $3 ("*) ;;
    *) fail "$1: $2 lacks $3: $(field "$1" "$2")" ;;
  esac
}

# Everything but documents, whose names follow the sources: mode, owner, name, target.
for package in libloom-exec-dev loom-exec loom-exec-backend-bwrap loom-exec-backend-unsupported; do
  file=$packages/${package}_${version}_$architecture.deb
  [ -f "$file" ] || {
    fail "no $file"
    continue
  }
  echo "== $package"
  dpkg-deb --contents "$file" | sed "s/$multiarch/MULTIARCH/" | awk '{ $3 = $4 = $5 = ""; print }' |
    tr -s ' ' | grep -v -e '/share/doc/loom-exec/docs/' -e '/share/doc/libloom-exec-dev/examples/.*/' |
    LC_ALL=C sort -k 3
  dpkg-deb --raw-extract "$file" "$work/$package"
  (cd "$work/$package" && md5sum --quiet --check DEBIAN/md5sums) || fail "$package: md5sums"
  [ "$(find "$work/$package" -path "$work/$package/DEBIAN" -prune -o -type f -print | wc -l)" = \
    "$(wc -l <"$work/$package/DEBIAN/md5sums")" ] || fail "$package: md5sums are not of all files"
done >"$work/contents"
diff "$here/contents.txt" "$work/contents" ||
  fail "the contents are not those of tests/package/contents.txt; they are in packages/contents.txt"
cp "$work/contents" "$packages/contents.txt"

needs loom-exec Depends "loom-exec-backend-bwrap (= $version) | loom-exec-backend (= 1)"
needs loom-exec Depends libc6
needs loom-exec-backend-bwrap Depends bubblewrap
needs loom-exec-backend-bwrap Depends libseccomp2
needs loom-exec-backend-bwrap Provides "loom-exec-backend (= 1)"
needs loom-exec-backend-unsupported Provides "loom-exec-backend (= 1)"
needs libloom-exec-dev Depends "loom-exec (= $version)"
needs libloom-exec-dev Depends libc6
needs libloom-exec-dev Depends libexpected-dev
needs libloom-exec-dev Depends libsodium-dev
# What is linked in is no dependency.
for words in gtest stdc++ gcc fmt spdlog; do
  case $(field libloom-exec-dev Depends) in
    *"$words"*) fail "libloom-exec-dev depends on $words" ;;
  esac
done
for project in template-backend landlock-backend; do
  [ -f "$work/libloom-exec-dev/usr/share/doc/libloom-exec-dev/examples/$project/CMakeLists.txt" ] ||
    fail "no $project to copy"
done
# The number that the packages promise each other is the table's.
grep -q '^#define LOOM_BACKEND_ABI 1u' "$work/libloom-exec-dev/usr/include/loom/backend_abi.h" ||
  fail "LOOM_BACKEND_ABI is another number than loom-exec-backend's"

# No word of where it was built.
place=$(CDPATH='' cd -- "$packages/.." && pwd)
for words in "$sources" "$place"; do
  ! grep --recursive --files-with-matches --fixed-strings "$words" "$work" || fail "names $words"
done

if command -v lintian >/dev/null 2>&1; then
  lintian --allow-root --fail-on error "$packages"/*.deb || fail "lintian finds errors"
else
  fail "no lintian"
fi

[ "$failures" = 0 ] || exit 1
echo "check_packages: four packages, as listed, without errors of lintian"

#!/bin/sh
# Installs packages in a fresh system, tries them there, removes them, and looks for what is left:
# try_in_root.sh PACKAGES PLACE
#
# PLACE keeps a debootstrap of this machine's release, with a compiler and with what apt has to know and to
# fetch for the packages' dependencies; remove it to renew it. Its system is entered by pivot_root in namespaces of
# its own, never by chroot: in a changed root a kernel refuses user namespaces, and so every jail.
# Needs the superuser; the first time, the network too.
set -eu

packages=$(CDPATH='' cd -- "$1" && pwd)
mkdir -p "$2"
place=$(CDPATH='' cd -- "$2" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

fail() {
  printf 'try_in_root: %s\n' "$*" >&2
  exit 1
}
[ "$(id -u)" = 0 ] || fail "only the superuser can make and enter another system"

# What an author of backends has on a system before our packages come.
AUTHOR_PACKAGES='cmake g++ make patch python3 libgtest-dev'

# Lists of a mirror, packages that apt will want, an author's tools and an ordinary user: one tar archive.
make_base() {
  suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" | sort -u | head -n 1)
  rm -rf "$place/making"
  debootstrap --variant=minbase --include=man-db "$suite" "$place/making" "$mirror" \
    >"$place/debootstrap.log" 2>&1 || fail "debootstrap: see $place/debootstrap.log"
  # Of what the packages depend on nothing is installed yet.
  # shellcheck disable=SC2016 # the inner shell's variables
  in_root "$place/making" /bin/sh -euc '
    install="apt-get install --yes --no-install-recommends"
    apt-get update
    $install $1
    $install --download-only $2
    useradd --create-home tester' sh "$AUTHOR_PACKAGES" "$(outer_dependencies)" \
    >"$place/base.log" 2>&1 || fail "apt-get in the new system: see $place/base.log"
  tar --create --file "$place/base.tar.part" --directory "$place/making" .
  rm -rf "$place/making"
  mv "$place/base.tar.part" "$place/base.tar"
  outer_needs >"$place/base.needs"
}

# The names of what our packages depend on; of alternatives the first that is not ours.
outer_dependencies() {
  for package in "$packages"/*.deb; do
    dpkg-deb --field "$package" Depends | tr ',' '\n'
  done | sed 's/|.*//; s/(.*//; s/ //g' | grep -v '^\(lib\)\?loom-exec' | sort -u
}

# What the archive was made for; another makes it anew.
outer_needs() { echo "$AUTHOR_PACKAGES" "$(outer_dependencies)"; }

# in_root DIRECTORY COMMAND…: in a system of its own, whose root the directory is.
in_root() {
  root=$1
  shift
  # shellcheck disable=SC2016 # the inner shell's variables
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} \
    unshare --mount --pid --fork --kill-child sh -euc '
      root=$1
      shift
      mount --make-rprivate /
      mount --bind "$root" "$root"
      mount -t proc proc "$root/proc"
      mount --rbind /sys "$root/sys"
      mount --rbind /dev "$root/dev"
      mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
      mount -t tmpfs tmpfs "$root/run"
      cp /etc/resolv.conf "$root/etc/resolv.conf"
      cd "$root"
      pivot_root . mnt
      cd /
      umount -l /mnt
      exec "$@"' sh "$root" "$@"
}

{ [ -s "$place/base.tar" ] && outer_needs | cmp -s "$place/base.needs" -; } || make_base
rm -rf "$place/root"
mkdir "$place/root"
tar --extract --file "$place/base.tar" --directory "$place/root"
mkdir "$place/root/packages"
chmod 0755 "$place/root/packages"
cp "$packages"/*.deb "$here/in_root.sh" "$here/compile_headers.sh" "$here/try_kit.sh" "$here/follow_guide.py" \
  "$place/root/packages/"
(cd "$place/root/packages" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)

in_root "$place/root" /bin/sh /packages/in_root.sh
for who in root tester; do
  /usr/bin/python3 "$here/../self_test/check_self_test.py" \
    --status "$(cat "$place/root/packages/self-test.$who.status")" \
    "$place/root/packages/self-test.$who" \
    "$here/../self_test/expected/no-cgroup.txt" "$here/../self_test/expected/no-erlang.txt" ||
    fail "the self-test of $who: see $place/root/packages/self-test.$who"
done
rm -rf "$place/root"
echo "try_in_root: installed, tried as root and as an ordinary user, removed; nothing is left"

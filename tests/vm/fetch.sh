#!/bin/sh
# Brings what the kernel matrix boots: fetch.sh PLACE leaves PLACE/vmlinuz and PLACE/busybox.
#
# Two packages are downloaded and unpacked, not installed: a kernel's installation would want an
# initramfs and a boot loader of this machine, and busybox-static would replace its busybox.
# apt must know its lists (apt-get update). What was fetched once is kept: remove PLACE to renew it.
set -eu

place=$1
[ ! -s "$place/vmlinuz" ] || [ ! -s "$place/busybox" ] || exit 0
mkdir -p "$place"
cd "$place"
rm -rf unpacked ./*.deb

# The package of that name only depends on the newest kernel's.
kernel=$(apt-cache depends linux-image-cloud-amd64 |
  sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
[ -n "$kernel" ] || {
  echo "fetch: apt knows no kernel behind linux-image-cloud-amd64" >&2
  exit 1
}
echo "+ apt-get download $kernel busybox-static" >&2
# The sandbox's user cannot write here; the packages are verified as always.
apt-get download -o APT::Sandbox::User=root "$kernel" busybox-static
for package in ./*.deb; do
  dpkg-deb --extract "$package" unpacked
done
cp unpacked/boot/vmlinuz-* vmlinuz
cp unpacked/bin/busybox busybox
rm -rf unpacked ./*.deb
echo "fetch: $kernel" >&2

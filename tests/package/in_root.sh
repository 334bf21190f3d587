#!/bin/sh
# Runs in the fresh system of try_in_root.sh, as its superuser: installs the packages of /packages,
# tries them, removes them. What the self-test said is left in /packages.
set -eu

fail() {
  printf 'in_root: %s\n' "$*" >&2
  exit 1
}
say() { printf '\n-- %s\n' "$*"; }

# Every name that is not apt's and dpkg's own record, with type, mode and owner.
files() {
  find / -xdev \( -path /packages -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache/apt \
    -o -path /var/cache/debconf -o -path /var/log -o -path /tmp -o -path /run -o -path /proc -o -path /sys \
    -o -path /dev \) -prune -o -printf '%M %u:%g %p %l\n' | LC_ALL=C sort
}

quietly() {
  "$@" >/tmp/said 2>&1 || {
    cat /tmp/said
    fail "$*"
  }
}

apt_get() { quietly apt-get --yes --no-install-recommends "$@"; }

# as_tester COMMAND…: as an ordinary user, in that user's home.
as_tester() { runuser -u tester -- env HOME=/home/tester sh -euc 'cd; exec "$@"' sh "$@"; }

say "installing"
echo 'deb [trusted=yes] file:/packages ./' >/etc/apt/sources.list.d/loom-exec.list
quietly apt-get update -o Dir::Etc::SourceList=/etc/apt/sources.list.d/loom-exec.list \
  -o Dir::Etc::SourceParts=/dev/null -o APT::Get::List-Cleanup=false
# The index of pages is made with the first page that comes after man-db, whosever it is.
quietly mandb --quiet
files >/packages/before
apt_get install loom-exec
dpkg-query --show --showformat '${Package} ${Version} ${db:Status-Status}\n' 'loom-exec*' bubblewrap
dpkg-query --show loom-exec-backend-bwrap bubblewrap >/dev/null
if dpkg-query --show loom-exec-backend-unsupported 2>/dev/null; then fail "a backend too many"; fi

say "a jail, as root and as an ordinary user"
for who in root tester; do
  case $who in
    root) as= ;;
    *) as=as_tester ;;
  esac
  workspace=/root
  [ "$who" = root ] || workspace=/home/tester
  cd "$workspace"
  $as loom-exec run --workspace "$workspace" -- true
  # What it may not do, beside what it may.
  if $as loom-exec run --report none --workspace "$workspace" -- touch made /etc/made 2>/dev/null; then
    fail "$who wrote into /etc"
  fi
  [ -e "$workspace/made" ] || fail "$who could not write the workspace"
  [ ! -e /etc/made ] || fail "/etc/made is there"
  rm "$workspace/made"
  status=0
  $as loom-exec --self-test >"/packages/self-test.$who" 2>&1 || status=$?
  echo "$status" >"/packages/self-test.$who.status"
  tail -n 1 "/packages/self-test.$who"
done

say "the other packages"
apt_get install loom-exec-backend-unsupported libloom-exec-dev
for page in loom-exec loom-exec-policy loom-exec-wire loom-exec-backend loom-conformance; do
  man -w "$page"
  # In another width than the usual one it leaves no formatted copy behind.
  MANWIDTH=72 man "$page" 2>/tmp/said | grep -q DESCRIPTION || fail "man $page"
  [ ! -s /tmp/said ] || fail "man $page warns: $(cat /tmp/said)"
done
for program in loom-exec loom-conformance; do
  bash -c '. "/usr/share/bash-completion/completions/$1" && complete -p "$1"' bash "$program"
done
loom-exec run --backend unsupported --demand best-effort --workspace /root -- true
quietly dpkg --verify loom-exec loom-exec-backend-bwrap loom-exec-backend-unsupported libloom-exec-dev

say "judging backends, and building one, as root and as an ordinary user"
for who in root tester; do
  case $who in
    root) as= ;;
    *) as=as_tester ;;
  esac
  for backend in bwrap unsupported; do
    $as loom-conformance --backend "$backend" >/tmp/said 2>&1 || {
      cat /tmp/said
      fail "$who: loom-conformance --backend $backend"
    }
    echo "$who, $backend: $(tail -n 1 /tmp/said)"
  done
  $as sh /packages/try_kit.sh /usr || fail "$who: try_kit"
done
as_tester python3 /packages/follow_guide.py /usr || fail "follow_guide"

say "without the backend it was installed with"
apt_get remove loom-exec-backend-bwrap
dpkg-query --show loom-exec >/dev/null || fail "another backend was there, and loom-exec went"
status=0
loom-exec run --workspace /root -- true 2>/tmp/said || status=$?
cat /tmp/said
[ "$status" = 125 ] || fail "status $status without a backend"
grep -q backends/bwrap.so /tmp/said || fail "what is missing is not named"

say "removing"
apt_get remove --auto-remove loom-exec loom-exec-backend-unsupported libloom-exec-dev
[ -z "$(dpkg --list 'loom-exec*' 'libloom-exec*' 2>/dev/null | grep '^rc' || :)" ] ||
  fail "something waits to be purged"
apt_get purge --auto-remove loom-exec loom-exec-backend-bwrap loom-exec-backend-unsupported libloom-exec-dev
files >/packages/after
diff /packages/before /packages/after || fail "removed packages leave something, or took something"
if grep -l loom /var/lib/dpkg/status /var/lib/dpkg/info/*loom* 2>/dev/null; then fail "dpkg remembers it"; fi

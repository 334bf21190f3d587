#!/bin/sh
# Does under the backend what people do all day, and what they must not be able to:
#
#   everyday.sh HELPER BACKEND.so NARROW
#
# Prints one line for each thing, and fails if one of them went wrong. Each refusal stands beside the
# same thing where it is granted.
set -u
helper=$1
backend=$2
narrow=$3
place=$(mktemp -d /var/tmp/landlock-everyday-XXXXXX)
trap 'rm -rf "$place"' EXIT
mkdir "$place/ws" "$place/beside"
echo secret >"$place/beside/file"
cd "$place/ws" || exit 1
failures=0

jail() { "$helper" run --backend "$backend" --demand best-effort --report none "$@"; }
said() {
  echo "$1: $2"
  [ "$1" = ok ] || failures=$((failures + 1))
}
# Whether a command ends well; and whether it does not.
works() {
  what=$1
  shift
  if jail "$@" >"$place/out" 2>&1; then said ok "$what"; else said FAILED "$what: $(cat "$place/out")"; fi
}
refuses() {
  what=$1
  shift
  if jail "$@" >"$place/out" 2>&1; then said FAILED "$what went through"; else said ok "no $what"; fi
}
# The same, if there is such a program here.
works_with() {
  if command -v "$1" >/dev/null; then shift && works "$@"; else said ok "$2: skipped, there is no $1"; fi
}
# Whether a condition comes true, on a busy machine too.
becomes() {
  for try in $(seq 300); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}
# Somebody writes to a file; and nobody does.
grows() {
  before=$(wc -c 2>/dev/null <"$1") || return 1
  sleep 0.3
  [ "$before" != "$(wc -c <"$1")" ]
}
is_still() { [ -s "$1" ] && ! grows "$1"; }
# How many processes have a word among their arguments. It is no argument of what counts them.
count_of() {
  WORD=$1 perl -0ne 'chomp; ++$n if $_ eq $ENV{WORD}; END { print $n + 0 }' /proc/[0-9]*/cmdline 2>/dev/null
}
# Whether the report of a run has a text in it; what comes before the text runs the helper.
report_has() {
  text=$1
  shift
  "$@" "$helper" run --backend "$backend" --demand best-effort -- true 2>&1 | grep -qF "$text"
}
claims() { if report_has "$@"; then said ok "$1"; else said FAILED "$1 is not reported: $*"; fi; }
claims_not() { if report_has "$@"; then said FAILED "$1 is reported: $*"; else said ok "no $1"; fi; }

works "a file in the workspace" -- sh -c 'echo text >made && [ "$(cat made)" = text ]'
works "its own scratch, under two names" -- sh -c \
  'echo text >"$HOME/made" && [ "$HOME" = "$LOOM_SCRATCH_DIR" ] && mkdir "$HOME/d" && mv "$HOME/made" "$HOME/d"'
works "a pipe of programs" -- sh -c 'printf "b\na\n" | sort | head -n 1 | grep -q a'
works "the devices" -- sh -c 'head -c 8 /dev/urandom | wc -c >/dev/null && : </dev/zero'
works "a readable root" --read "$place/beside" -- cat "$place/beside/file"
refuses "reading of what is not granted" -- cat "$place/beside/file"
works "a writable root" --write "$place/beside" -- sh -c "echo >$place/beside/more"
refuses "writing of what may be read" --read "$place/beside" -- sh -c "echo >$place/beside/more"
refuses "link to what is not granted" -- ln "$place/beside/file" "$place/ws/link"
refuses "list of the root" -- ls /
refuses "file in /tmp" -- touch "/tmp/${place##*/}"
refuses "socket" -- perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0) or exit 1'
works "a socket where the network is open" --network full -- \
  perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0) or exit 1'
refuses "signal to a process outside" -- kill -0 $$
works "a signal to a process inside" -- sh -c 'sleep 9 & kill $!'
refuses "mask inside of the workspace" --protect "$place/ws/made" -- true
works "a mask outside of it" --protect "$place/beside" -- true

works_with git "a repository" -- sh -c \
  'git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m && git gc -q'
works_with python3 "python" -- python3 -c \
  'import sqlite3, subprocess, threading; sqlite3.connect("x.db").execute("create table t(a)"); subprocess.run(["true"], check=True)'
works_with cc "a compiler, with TMPDIR" -- sh -c \
  'echo "int main(void) { return 0; }" >m.c && TMPDIR=$LOOM_SCRATCH_DIR cc m.c -o m && ./m'

# Extended attributes go by a path, which no rule is asked about. The answer is one that cp copes with.
works "a copy with everything, and a list" -- sh -c 'echo >from && cp -a from to && ls -l to'
if python=$(command -v /usr/bin/python3) &&
  "$python" -c "import os; os.setxattr('$place/beside/file', 'user.a', b'b')" 2>/dev/null; then
  said ok "an attribute outside of the jail"
  works "the attributes of an open file" -- "$python" -c \
    "import os; os.listxattr(os.open('from', os.O_RDONLY))"
  for call in "setxattr('$place/beside/file', 'user.a', b'c')" "getxattr('$place/beside/file', 'user.a')" \
    "listxattr('$place/beside/file')" "removexattr('$place/beside/file', 'user.a')"; do
    refuses "${call%%(*} of what is not granted" -- "$python" -c "import os; os.$call"
  done
else
  said ok "attributes: skipped, there are none here"
fi

# What could not show is not claimed.
claims "[landlock:abi=" env
claims_not "[landlock:abi=" "$narrow" root
claims "unheld:landlock=what could show it was closed before" "$narrow" root
if report_has "unheld:signal-scope" env; then
  said ok "scopes: skipped, this kernel has none"
else
  claims "scopes=abstract,signal" env
  claims_not "scopes=abstract,signal" "$narrow" unix
  claims "unheld:signal-scope" "$narrow" unix
fi

# A daemon in a session of its own, deaf to SIGTERM; it writes to the file beat.
cat >daemon.sh <<'END'
trap '' TERM
while :; do printf x >>beat; sleep 0.05; done
END
background='setsid sh daemon.sh & sleep 0.4; [ -s beat ]'
has_ended() { if becomes is_still beat; then said ok "it ended $1"; else said FAILED "it did not end $1"; fi; }
rm -f beat
works "a daemon" -- sh -c "$background"
if is_still beat; then said ok "it ended with its run"; else said FAILED "it outlived its run"; fi
rm -f beat
jail --wall-seconds 2 -- sh -c "$background; sleep 60" >/dev/null 2>&1 &
if becomes grows beat; then said ok "another daemon"; else said FAILED "no daemon ran"; fi
wait $!
has_ended "with a cancelled run"
rm -f beat
"$helper" run --backend "$backend" --demand best-effort --report none -- \
  sh -c "$background; sleep 60" >/dev/null 2>&1 &
if becomes grows beat; then said ok "a third daemon"; else said FAILED "no daemon ran"; fi
kill -KILL $!
wait $! 2>/dev/null
has_ended "with a killed helper"

# A thousand processes, each the child of the one before and in a session of its own, all idle but the last.
# Each is a program of its own, since the kernel forks a deep line of copies ever more slowly.
cat >chain.sh <<'END'
trap '' TERM
if [ "$1" -gt 1 ]; then
  setsid sh chain.sh $(($1 - 1)) "$2" &
  wait
fi
while :; do printf x >>beat; sleep 0.05; done
END
rm -f beat
chain="$place/chain"
jail -- sh -c "sh chain.sh 1000 $chain & until [ -s beat ]; do sleep 0.1; done; until [ -e counted ]; do sleep 0.1; done" \
  >"$place/out" 2>&1 &
becomes grows beat
alive=$(count_of "$chain")
if [ "$alive" = 1000 ]; then said ok "a chain of a thousand"; else said FAILED "a chain of $alive: $(cat "$place/out")"; fi
: >counted
wait $!
left=$(count_of "$chain")
if [ "$left" = 0 ]; then said ok "it ended with its run"; else said FAILED "$left of it outlived their run"; fi
if is_still beat; then said ok "nobody of it writes"; else said FAILED "somebody of it writes"; fi

echo "$failures failures"
[ "$failures" = 0 ]

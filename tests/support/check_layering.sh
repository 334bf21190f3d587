#!/bin/sh
# Checks by grep what no compiler checks: which layer may include what, and what our sources never say.
#
#   tests/support/check_layering.sh [TREE]
#
# First it plants one violation of every rule in a temporary tree and demands that each is found: a
# check that cannot fail proves nothing.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=${1:-$here/../..}

# --- helpers -------------------------------------------------------------------------------------

# Our sources below the given folders that exist.
sources() {
  for folder in "$@"; do
    [ ! -d "$folder" ] || find "$folder" -type f \( -name '*.h' -o -name '*.cc' -o -name '*.c' \) -print
  done | LC_ALL=C sort
}

# report RULE: every line of standard input is a violation of it.
report() {
  rule=$1
  while IFS= read -r line; do
    printf '%s: %s\n' "$rule" "$line"
  done
}

# Greps the files named on standard input; no match is no violation.
grep_files() {
  pattern=$1
  while IFS= read -r file; do
    grep -nHE -e "$pattern" -- "$file" || [ $? -eq 1 ]
  done
}

# Code without line comments and text in quotes.
grep_code() {
  pattern=$1
  while IFS= read -r file; do
    sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's@//.*@@' -- "$file" | grep -nE -e "$pattern" |
      sed "s|^|$file:|"
  done
}

# --- rules, each printing one line a violation -----------------------------------------------------

SYSTEM_HEADER='^[[:space:]]*#[[:space:]]*include[[:space:]]*<(unistd\.h|fcntl\.h|errno\.h|cerrno|signal\.h|poll\.h|sched\.h|dirent\.h|dlfcn\.h|pthread\.h|spawn\.h|grp\.h|pwd\.h|sys/|linux/|asm/|net/|netinet/|arpa/|seccomp\.h|windows\.h|bcrypt\.h|libproc\.h|mach/|mach-o/|CommonCrypto/)'

# unique_fd owns descriptors, and two systems bring the digest that libsodium has elsewhere.
pure_without_system_headers() {
  sources core/include core/sdk core/policy core/protocol core/environment core/cancel core/report \
    core/identity core/law |
    grep -v -e '/unique_fd\.\(h\|cc\)$' -e '/digest_\(darwin\|windows\)\.cc$' | grep_files "$SYSTEM_HEADER"
}

# The boundary to plugins catches what theirs throw; nothing of ours does.
nothing_thrown() {
  sources core backends | grep_code '(^|[^_[:alnum:]])throw([^_[:alnum:]]|$)'
}

todo_has_a_number() {
  sources core backends tests | grep_files 'TODO' | grep -vE 'TODO\(#[0-9]+\)' || [ $? -eq 1 ]
}

msgpack_in_the_codec_only() {
  sources core backends tests | grep -v '^core/sdk/value[a-z_]*\.cc$' | grep_files 'include *<msgpack'
}

logger_and_loader_in_the_shell_only() {
  sources core backends | grep -v '^core/\(host\|app\)/' | grep_files 'include *<(spdlog/|boost/dll)'
}

command_line_library_in_app_only() {
  sources core backends | grep -v '^core/app/' | grep_files 'include *<CLI/'
}

# may_include MODULE OTHERS…: "other/…" of ours that a module includes and must not.
may_include() {
  module=$1
  shift
  allowed=$module
  for other in "$@"; do allowed="$allowed|$other"; done
  sources "core/$module" | grep_files "include *\"($MODULES)/" | grep -vE "include *\"($allowed)/" ||
    [ $? -eq 1 ]
}

MODULES='policy|protocol|environment|identity|cancel|report|law|host|guard|app|bwrap|seatbelt|unsupported|stage2|sdk'

dependencies_point_one_way() {
  may_include sdk
  may_include policy
  may_include protocol report
  may_include environment
  may_include identity policy law
  may_include cancel
  may_include report
  may_include law
  may_include host guard
  may_include guard policy law report
  may_include app policy protocol environment identity cancel report law host guard
  sources core/include | grep_files 'include *"'
}

# A backend sees the SDK and its own folder.
backends_stand_alone() {
  sources backends | grep_files "include *\"($MODULES)/" | while IFS= read -r line; do
    own=${line#backends/}
    own=${own%%/*}
    case $line in
      *"\"$own/"* | "backends/$own/"*'"stage2/'*) ;;
      backends/seatbelt/*'"law/'*) ;;  # how names are folded: the guard's way must be the profile's
      *) printf '%s\n' "$line" ;;
    esac
  done
  sources backends | grep_files 'include *"(\.\./)+(core|host|app|protocol)'
}

RULES='pure_without_system_headers nothing_thrown todo_has_a_number msgpack_in_the_codec_only
logger_and_loader_in_the_shell_only command_line_library_in_app_only
dependencies_point_one_way backends_stand_alone'

violations() {
  for rule in $RULES; do
    "$rule" | report "$rule"
  done
}

# --- the check of the checks -----------------------------------------------------------------------

plant() {
  mkdir -p "$(dirname -- "$1")"
  printf '%s\n' "$2" >"$1"
}

self_check() {
  seeded=$(mktemp -d)
  trap 'rm -rf "$seeded"' EXIT
  (
    cd "$seeded"
    plant core/policy/a.cc '#include <unistd.h>'
    plant core/cancel/a.cc 'int f() { throw 1; }'
    plant core/report/a.cc '// TODO: later'
    plant core/protocol/a.cc '#include <msgpack.hpp>'
    plant core/environment/a.cc '#include <spdlog/spdlog.h>'
    plant core/host/b.cc '#include <CLI/CLI.hpp>'
    plant core/host/a.cc '#include "protocol/messages.h"'
    plant backends/bwrap/a.cc '#include "host/spawn.h"'
    # Neighbours that are allowed.
    plant core/include/loom/unique_fd.h '#include <unistd.h>'
    plant core/host/c.cc '#include <unistd.h>'
    plant core/host/posix/a.cc '#include <unistd.h>'
    plant core/sdk/digest_darwin.cc '#include <CommonCrypto/CommonDigest.h>'
    plant core/sdk/digest_windows.cc '#include <bcrypt.h>'
    plant core/sdk/value.cc '#include <msgpack.hpp>'
    plant core/app/a.cc '#include "host/spawn.h"'
    plant core/app/b.cc 'const char* k = "throw"; // throw; TODO(#7)'
  )
  found=$(cd "$seeded" && violations)
  for rule in $RULES; do
    count=$(printf '%s\n' "$found" | grep -c "^$rule: " || [ $? -eq 1 ])
    [ "$count" = 1 ] || {
      printf 'check_layering: the planted violation of %s was found %s times\n' "$rule" "$count" >&2
      exit 1
    }
  done
}

self_check
cd "$tree"
found=$(violations)
[ -z "$found" ] || {
  printf '%s\n' "$found" >&2
  echo "check_layering: the lines above break a rule of the project" >&2
  exit 1
}
echo "check_layering: $(printf '%s\n' "$RULES" | wc -w) rules hold for $(sources core backends tests | wc -l) sources"

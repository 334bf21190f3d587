#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "app/log.h"
#include "app/publish_git_identity.h"
#include "app/run_command.h"
#include "app/self_test/probe_modes.h"
#include "app/self_test/self_test_command.h"
#include "app/serve_command.h"
#include "app/why_command.h"
#include "host/descriptors.h"
#include "host/installation.h"
#include "host/own_privilege.h"

namespace {

// Descriptors 0, 1 and 2 must be somebody's, and of use: a file opened later must never become the
// frame stream.
bool fill_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0 && loom::host::is_only_a_name(flags)) return false;
    if (flags >= 0) continue;
    if (::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd) return false;
  }
  return true;
}

// Security: whatever the caller left open would otherwise be one mistake away from the jail.
void close_inherited(int first) { loom::host::close_descriptors_from(first); }

// The same for a person, whose options may name such a descriptor (--report-file >(…)): kept, and
// closed in everything that is executed.
void keep_inherited_to_ourselves() { loom::host::keep_descriptors_from(3); }

// What a caller may have left behind, and what would end us without a word. Children get the
// defaults.
void set_signals() {
  ::signal(SIGPIPE, SIG_IGN);  // a reader that is gone is an error value of the write
  ::signal(SIGXFSZ, SIG_IGN);  // the same for a file that may not grow
  ::signal(SIGCHLD, SIG_DFL);  // ignored, it would take every exit status away
}

// Replaces this process with the stage 2 of the platform's backend, which explains itself.
int become_stage2(char** argv) {
  const auto installation = loom::host::find_installation();
  if (installation) {
    ::execv(loom::host::own_stage2_file(*installation).c_str(), argv);
  }
  std::fputs("loom-exec[stage2]: the inner stage is not installed\n", stderr);
  return 126;
}

int dispatch(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--exec") return become_stage2(argv);
  if (const auto status = loom::app::run_probe_mode(argc, argv)) return *status;
  if (first == "--publish-git-identity") {
    close_inherited(3);
    return loom::app::publish_git_identity(argc - 2, argv + 2);
  }
  auto log = loom::app::make_log();
  if (first == "--help" || first == "-h") {
    loom::app::print_usage();
    return 0;
  }
  if (first == "--self-test") {
    close_inherited(3);
    return loom::app::self_test_command(argc - 2, argv + 2, log);
  }
  if (first == "run" || first == "plan" || first == "why") {
    keep_inherited_to_ourselves();
    if (first == "why") return loom::app::why_command(argc - 2, argv + 2, log);
    return first == "run" ? loom::app::run_command(argc - 2, argv + 2, log)
                          : loom::app::plan_command(argc - 2, argv + 2, log);
  }
  close_inherited(4);
  return loom::app::serve_command(argc - 1, argv + 1, log);
}

}  // namespace

int main(int argc, char** argv) noexcept {
  if (!fill_standard_descriptors()) {
    std::fputs("loom-exec: descriptors 0 to 2 cannot be used\n", stderr);
    return 1;
  }
  // A helper with more privilege than its caller would lend it out by loading anything.
  if (loom::host::has_more_privilege_than_caller()) {
    std::fputs("loom-exec: refuses to run with more privilege than its caller\n", stderr);
    return 1;
  }
  set_signals();
  return dispatch(argc, argv);
}

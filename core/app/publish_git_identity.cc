#include "app/publish_git_identity.h"

#include <signal.h>
#if defined(__linux__)
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdio>
#include <string>
#include <utility>

#include "app/git_identity_file.h"
#include "app/git_identity_grounds.h"
#include "host/path_survey.h"
#include "identity/admit_publication.h"
#include "identity/decode_entries.h"
#include "identity/decode_policy_operand.h"
#include "identity/identity_refusal.h"
#include "identity/render_gitconfig.h"

namespace loom::app {
namespace {

constexpr IdentityPlatform kPlatform =
#if defined(__linux__)
    IdentityPlatform::kLinux;
#elif defined(__APPLE__)
    IdentityPlatform::kDarwin;
#else
    IdentityPlatform::kOther;
#endif

struct Operands {
  Policy policy;
  AbsolutePath workspace;  // as written
  std::string file;        // the content to publish
};

IdentityResult<Operands> read_operands(int argc, const char* const* argv) {
  if (kPlatform == IdentityPlatform::kOther) return tl::unexpected(IdentityRefusal::kPlatform);
  if (argc != 3) return tl::unexpected(IdentityRefusal::kOperands);
  LOOM_TRY(Policy policy, decode_policy_operand(argv[0]));
  LOOM_TRY(AbsolutePath workspace, parse_workspace(argv[1]));
  LOOM_TRY(const GitIdentity identity, decode_entries(argv[2]));
  LOOM_TRY(std::string file, render_gitconfig(identity, policy.limits.fsize_bytes));
  return Operands{
      .policy = std::move(policy), .workspace = std::move(workspace), .file = std::move(file)};
}

// A client that loses patience sends a signal first. The few calls between making the temporary
// name and its end are let finish.
void hold_back_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

// The file is what a command could have written, and a command has no capability: what only the
// superuser's privilege reaches is not the workspace's. Clearing one's own sets is always allowed.
IdentityResult<void> drop_capabilities() {
#if defined(__linux__)
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0) {
    return tl::unexpected(IdentityRefusal::kHomeUnusable);
  }
#endif
  return {};
}

IdentityResult<void> publish(int argc, const char* const* argv) {
  LOOM_TRY(const Operands operands, read_operands(argc, argv));
  const PathFact workspace = host::survey_path(operands.workspace);
  if (workspace.kind != PathKind::kDirectory) {
    return tl::unexpected(IdentityRefusal::kWorkspaceMissing);
  }
  LOOM_TRY(const std::string temporary, make_temporary_name());
  const PublicationPlaces places = publication_places(workspace.real, temporary);

  LOOM_TRY(const PublicationGrounds grounds, gather_grounds(operands.policy));
  LOOM_TRY_VOID(admit_publication(places, grounds, kPlatform));
  LOOM_TRY_VOID(drop_capabilities());
  LOOM_TRY(const guard::Landing file, walk_to_file(places.target));
  LOOM_TRY_VOID(admit_directories(file.passed(), grounds.protected_paths));

  hold_back_ending_signals();
  return replace_file(file, temporary, operands.file);
}

// The client reads the line on stdout; on stderr it is for whoever reads the helper's log.
int refuse(IdentityRefusal refusal) {
  const std::string line = "loom-exec: " + std::string(refusal_text(refusal)) + "\n";
  for (std::FILE* stream : {stdout, stderr}) std::fputs(line.c_str(), stream);
  std::fflush(stdout);
  return 1;
}

}  // namespace

int publish_git_identity(int argc, const char* const* argv) {
  const auto published = publish(argc, argv);
  return published ? 0 : refuse(published.error());
}

}  // namespace loom::app

#include "app/serve_command.h"

#include <loom/utf8.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/server.h"
#include "app/server_flags.h"
#include "host/memory_file.h"
#include "policy/decode_policy.h"

#if !defined(__linux__)
extern char** environ;  // POSIX has it, and no header that declares it
#endif

namespace loom::app {
namespace {

constexpr int kPolicyDescriptor = 3;

int refuse_to_serve(const std::string& message) {
  std::fprintf(stderr, "loom-exec: %s\n", printable(message).c_str());
  return 1;
}

Result<Policy> read_base_policy() {
  const UniqueFd fd(kPolicyDescriptor);
  LOOM_TRY(const Bytes document,
           host::read_all(fd.get(), kMaxBasePolicyBytes, "descriptor 3", true));
  return decode_policy(document);
}

// Nothing of it reaches what is loaded or started later.
void forget_environment() {
#if defined(__linux__)
  ::clearenv();
#else
  static char* nothing[] = {nullptr};
  environ = nothing;
#endif
}

SessionOptions options_of(ServerFlags& flags, const Policy& policy) {
  const char* path = std::getenv("PATH");
  const char* base = std::getenv(kCgroupBaseVariable);
  SessionOptions options{
      .backend = std::move(flags.backend),
      .search_path = path == nullptr ? "" : path,
      .untrusted = writable_regions(policy),
      .demand = flags.demand,
      .keep_capabilities = std::move(flags.keep_capabilities),
      .deny_unix_sockets = flags.deny_unix_sockets,
      .cgroup_base = configured_cgroup_base(flags.cgroup_base, base == nullptr ? "" : base)};
  forget_environment();
  return options;
}

// What helpers that were killed left behind. Silent when there was nothing.
void sweep_leftovers(const host::ControlGroupBase& base, spdlog::logger& log) {
  if (base.path.empty()) return;
  const auto swept = host::sweep_control_groups(base.path);
  if (!swept) return log.warn("{}", printable(swept.error().message));
  for (const std::string& problem : swept->problems) log.warn("{}", printable(problem));
  if (swept->removed > 0)
    log.info("removed {} control groups of helpers that are gone", swept->removed);
}

}  // namespace

int serve_command(int argc, const char* const* argv, spdlog::logger& log) {
  auto flags = parse_server_flags(argc, argv);
  if (!flags) return usage_error(flags.error());
  auto policy = read_base_policy();
  if (!policy) return refuse_to_serve(policy.error().message);
  const auto installation = host::find_installation();
  if (!installation) return refuse_to_serve(installation.error().message);

  auto session = Session::open(*installation, options_of(*flags, *policy), log);
  if (!session) return refuse_to_serve(session.error().message);
  const std::string& refusal = (*session)->features().refusal;
  if (!refusal.empty() && !flags->allow_unenforced) return refuse_to_serve(refusal);

  sweep_leftovers((*session)->control_groups(), log);
  auto server =
      Server::open(**session, std::move(*policy), flags->warm, STDIN_FILENO, STDOUT_FILENO);
  if (!server) return refuse_to_serve(server.error().message);
  return (*server)->serve();
}

}  // namespace loom::app

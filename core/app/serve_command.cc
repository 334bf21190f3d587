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
#include "host/memory_file.h"
#include "policy/decode_policy.h"

namespace loom::app {
namespace {

constexpr int kPolicyDescriptor = 3;
constexpr int kUsageError = 2;

struct ServerFlags {
  bool allow_unenforced = false;
  SessionOptions session;
};

int usage_error(const std::string& message) {
  std::fprintf(stderr, "loom-exec: %s\n", message.c_str());
  print_usage();
  return kUsageError;
}

int refuse_to_serve(const std::string& message) {
  std::fprintf(stderr, "loom-exec: %s\n", printable(message).c_str());
  return 1;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t mark = std::min(text.find(','), text.size());
    if (mark > 0) words.emplace_back(text.substr(0, mark));
    text.remove_prefix(std::min(mark + 1, text.size()));
  }
  return words;
}

bool take_demand(std::string_view word, Demand& demand) {
  if (word == "full") {
    demand = Demand::kFull;
  } else if (word == "platform") {
    demand = Demand::kPlatform;
  } else if (word == "best-effort") {
    demand = Demand::kBestEffort;
  } else {
    return false;
  }
  return true;
}

// A flag that takes a value; false when the value is not one.
bool take_value(std::string_view flag, const char* value, ServerFlags& flags) {
  if (flag == "--cgroup-base") {
    flags.session.cgroup_base = value;
  } else if (flag == "--backend") {
    flags.session.backend = value;
  } else if (flag == "--keep-caps") {
    flags.session.keep_capabilities = split_at_commas(value);
  } else if (flag == "--unix-sockets") {
    flags.session.deny_unix_sockets = std::string_view(value) == "deny";
    return flags.session.deny_unix_sockets || std::string_view(value) == "allow";
  } else {
    return take_demand(value, flags.session.demand);
  }
  return true;
}

const char* choices_of(std::string_view flag) {
  return flag == "--unix-sockets" ? "allow, deny" : "full, platform, best-effort";
}

// 0, or the exit status of a usage error that has been explained.
int parse_flags(int argc, const char* const* argv, ServerFlags& flags) {
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--allow-unenforced") {
      flags.allow_unenforced = true;
      continue;
    }
    const bool takes_value = word == "--cgroup-base" || word == "--backend" ||
                             word == "--keep-caps" || word == "--demand" ||
                             word == "--unix-sockets";
    const std::string quoted = "\"" + escaped(word, 256) + "\"";
    if (!takes_value) return usage_error("unknown argument " + quoted);
    if (i + 1 == argc) return usage_error(quoted + " needs a value");
    if (!take_value(word, argv[++i], flags)) {
      return usage_error(std::string(word) + ": \"" + escaped(argv[i], 256) + "\" is none of " +
                         choices_of(word));
    }
  }
  return 0;
}

Result<Policy> read_base_policy() {
  const UniqueFd fd(kPolicyDescriptor);
  LOOM_TRY(const Bytes document,
           host::read_all(fd.get(), kMaxBasePolicyBytes, "descriptor 3", true));
  return decode_policy(document);
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

void print_usage() {
  std::fputs(
      "usage: loom-exec [--allow-unenforced] [--backend NAME|PATH] [--demand "
      "full|platform|best-effort]\n"
      "                 [--keep-caps CAP_X,CAP_Y] [--unix-sockets allow|deny] [--cgroup-base DIR]\n"
      "                                                                   serve a broker on stdio\n"
      "       loom-exec run [options] -- COMMAND…                         run one command in a "
      "jail\n"
      "       loom-exec plan [options] -- COMMAND…                        show what run would do\n"
      "       loom-exec why [options] OPERATION PATH [TO]                 say what decides about a "
      "path\n"
      "       loom-exec --publish-git-identity POLICY_BASE64 WORKSPACE ENTRIES_JSON\n"
      "                                                                   write one git identity\n"
      "       loom-exec --self-test [--backend NAME|PATH] [--cgroup-base DIR]\n"
      "                                                                   probe what holds here\n"
      "       loom-exec --help\n"
      "Each subcommand explains its options with --help. Server mode reads its policy from "
      "descriptor 3.\n",
      stderr);
}

int serve_command(int argc, const char* const* argv, spdlog::logger& log) {
  ServerFlags flags;
  if (const int status = parse_flags(argc, argv, flags); status != 0) return status;
  auto policy = read_base_policy();
  if (!policy) return refuse_to_serve(policy.error().message);
  const auto installation = host::find_installation();
  if (!installation) return refuse_to_serve(installation.error().message);

  const char* path = std::getenv("PATH");
  flags.session.search_path = path == nullptr ? "" : path;
  const char* base = std::getenv(kCgroupBaseVariable);
  flags.session.cgroup_base =
      configured_cgroup_base(flags.session.cgroup_base, base == nullptr ? "" : base);
  ::clearenv();
  flags.session.untrusted = writable_regions(*policy);
  auto session = Session::open(*installation, std::move(flags.session), log);
  if (!session) return refuse_to_serve(session.error().message);
  const std::string& refusal = (*session)->features().refusal;
  if (!refusal.empty() && !flags.allow_unenforced) return refuse_to_serve(refusal);

  sweep_leftovers((*session)->control_groups(), log);
  auto server = Server::open(**session, std::move(*policy), STDIN_FILENO, STDOUT_FILENO);
  if (!server) return refuse_to_serve(server.error().message);
  return (*server)->serve();
}

}  // namespace loom::app

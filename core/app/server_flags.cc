#include "app/server_flags.h"

#include <loom/utf8.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace loom::app {
namespace {

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
    flags.cgroup_base = value;
  } else if (flag == "--backend") {
    flags.backend = value;
  } else if (flag == "--keep-caps") {
    flags.keep_capabilities = split_at_commas(value);
  } else if (flag == "--unix-sockets") {
    flags.deny_unix_sockets = std::string_view(value) == "deny";
    return flags.deny_unix_sockets || std::string_view(value) == "allow";
  } else {
    return take_demand(value, flags.demand);
  }
  return true;
}

const char* choices_of(std::string_view flag) {
  return flag == "--unix-sockets" ? "allow, deny" : "full, platform, best-effort";
}

}  // namespace

tl::expected<ServerFlags, std::string> parse_server_flags(int argc, const char* const* argv) {
  ServerFlags flags;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--allow-unenforced") {
      flags.allow_unenforced = true;
      continue;
    }
    if (word == "--no-warm") {
      flags.warm = false;
      continue;
    }
    const bool takes_value = word == "--cgroup-base" || word == "--backend" ||
                             word == "--keep-caps" || word == "--demand" ||
                             word == "--unix-sockets";
    const std::string quoted = "\"" + escaped(word, 256) + "\"";
    if (!takes_value) return tl::unexpected("unknown argument " + quoted);
    if (i + 1 == argc) return tl::unexpected(quoted + " needs a value");
    if (!take_value(word, argv[++i], flags)) {
      return tl::unexpected(std::string(word) + ": \"" + escaped(argv[i], 256) + "\" is none of " +
                            choices_of(word));
    }
  }
  return flags;
}

void print_usage() {
  std::fputs(
      "usage: loom-exec [--allow-unenforced] [--backend NAME|PATH] [--demand "
      "full|platform|best-effort]\n"
      "                 [--keep-caps CAP_X,CAP_Y] [--unix-sockets allow|deny] [--cgroup-base DIR]\n"
      "                 [--no-warm]\n"
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

int usage_error(const std::string& message) {
  std::fprintf(stderr, "loom-exec: %s\n", message.c_str());
  print_usage();
  return kUsageError;
}

}  // namespace loom::app

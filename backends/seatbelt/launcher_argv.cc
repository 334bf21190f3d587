#include "launcher_argv.h"

#include "platform.h"

namespace loom::seatbelt {

bool is_long(const RunMemo& memo) noexcept { return memo.profile.size() > kMaxProfileArgument; }

std::vector<std::string> launcher_argv(const RunMemo& memo) {
  std::vector<std::string> argv{std::string(kLauncher)};
  if (is_long(memo)) {
    argv.insert(argv.end(), {"-f", "/dev/fd/" + std::to_string(kProfileNumber)});
  } else {
    argv.insert(argv.end(), {"-p", memo.profile});
  }
  for (const std::string& definition : memo.definitions) argv.push_back("-D" + definition);
  argv.insert(argv.end(), {"--", memo.stage2});
  return argv;
}

}  // namespace loom::seatbelt

#include "exec_rule_set.h"

#include <loom/utf8.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "errno_text.h"
#include "stage2/landlock_calls.h"

namespace loom::bwrap {
namespace {

Error refused(const std::string& step, int error) {
  return {.code = ErrorCode::kSystem,
          .message = "exec rules: " + step + ": " + errno_text(error),
          .sys_errno = error};
}

// For messages.
std::string name_of(int handle) {
  std::array<char, 4'096> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(handle);
  const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
  if (size < 0) return "object";
  return escaped(std::string_view(name.data(), static_cast<std::size_t>(size)));
}

// REFER only so that this layer grants it (stage 2 does): one that does not handle it refuses every
// rename between two directories.
Result<UniqueFd> make_empty_set() {
  const int abi = landlock_abi();
  if (abi <= 0) return tl::unexpected(refused("ask for Landlock", abi < 0 ? errno : ENOSYS));
  const bool refers = static_cast<std::uint32_t>(abi) >= kLandlockReferAbi;
  UniqueFd rules(create_rule_set(kLandlockExecute | (refers ? kLandlockRefer : 0), 0));
  if (!rules) return tl::unexpected(refused("make the rule set", errno));
  return rules;
}

}  // namespace

Result<ExecRuleSet> make_exec_rule_set(HostServices& host) {
  LOOM_TRY(UniqueFd rules, make_empty_set());
  for (std::uint64_t count = 0;; ++count) {
    LOOM_TRY(const ExecObject object, host.next_exec_object());
    if (object.handle < 0) {
      return ExecRuleSet{.rules = std::move(rules),
                         .entry = "exec-landlock:rules=" + std::to_string(count) +
                                  ",listed=" + std::to_string(object.listed) +
                                  ",support=" + std::to_string(object.support)};
    }
    if (add_path_rule(rules.get(), object.handle, kLandlockExecute) != 0) {
      const int error = errno;
      return tl::unexpected(refused("admit " + name_of(object.handle), error));
    }
  }
}

}  // namespace loom::bwrap

#include "comparison.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "declared_differences.h"

namespace loom::seatbelt::test {
namespace {

constexpr const char* kRuntime = "/Library/Apple/usr";

// Counts the first declaration that explains something; false: none does.
template <class Declarations, class Subject>
bool explained(const Declarations& declarations, const Subject& subject,
               std::map<std::string, std::size_t>& counts) {
  for (const auto& declared : declarations) {
    if (!declared.explains(subject)) continue;
    ++counts[declared.name];
    return true;
  }
  return false;
}

const char* answer_word(Answer answer) {
  switch (answer) {
    case Answer::kDenied:
      return "denied";
    case Answer::kAllowed:
      return "allowed";
    case Answer::kDisputed:
      return "disputed";
  }
  return "";
}

// What of a profile is compared with its plan's view.
constexpr std::pair<Operation, const char*> kCompared[] = {
    {Operation::kReadData, "file-read-data"},   {Operation::kReadMetadata, "file-read-metadata"},
    {Operation::kWriteData, "file-write-data"}, {Operation::kWriteCreate, "file-write-create"},
    {Operation::kExec, "process-exec"},
};

bool is_user_directory(const MountOperation& shown) {
  const auto is = [&shown](const char* own) {
    return shown.region.str() == std::string("/private") + own;
  };
  return shown.mount_class == MountClass::kWritable &&
         std::any_of(std::begin(kUserDirectories), std::end(kUserDirectories), is);
}

class Comparison {
 public:
  Comparison(const PolicyCase& one, Tally& tally, const Mutation& mutation)
      : one_(&one), tally_(&tally), linux_(one), mac_(one, mutation) {}

  [[nodiscard]] bool mutated() const noexcept { return mac_.mutated(); }

  std::optional<std::string> run() {
    const bool on_linux = !linux_.refusal().empty();
    const bool on_mac = !mac_.refusal().empty();
    if (on_linux && on_mac) ++tally_->refused;
    if (on_linux != on_mac) {
      const Refused refused{*one_, linux_, mac_};
      if (!explained(declared_refusals(), refused, tally_->refusals)) {
        return std::string("refused on ") + (on_linux ? "Linux: " : "macOS: ") + refused.why();
      }
    }
    if (on_mac) return std::nullopt;
    const std::vector<std::string> paths = questions_about(*one_);
    if (auto problem = check_network(on_linux)) return problem;
    for (const std::string& path : paths) {
      if (auto problem = check_details(path)) return problem;
    }
    if (on_linux) return std::nullopt;
    ++tally_->planned;
    if (auto problem = check_reports()) return problem;
    for (const std::string& path : paths) {
      for (const Deed deed : kDeeds) {
        if (auto problem = ask(deed, path)) return problem;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> ask(Deed deed, const std::string& path) {
    const bool on_linux = linux_.may(deed, path);
    const bool on_mac = mac_.may(deed, path);
    if (on_linux == on_mac) {
      ++(on_linux ? tally_->both_may : tally_->neither_may);
      return std::nullopt;
    }
    const bool follow = deed != Deed::kMove;
    const Difference difference{.one = *one_,
                                .linux = linux_,
                                .mac = mac_,
                                .deed = deed,
                                .path = path,
                                .on_linux = on_linux,
                                .linux_landing = linux_.tree().walk(path, follow),
                                .mac_landing = mac_.tree().walk(path, follow)};
    if (explained(declared_differences(), difference, tally_->differences)) return std::nullopt;
    return std::string(deed_name(deed)) + ' ' + path + ": admitted on " +
           (on_linux ? "Linux" : "macOS") + " only (" + difference.linux_landing.real + " there, " +
           difference.mac_landing.real + " here)";
  }

  // Cut or open, and nothing between; unix sockets and the base services stay in any case.
  std::optional<std::string> check_network(bool linux_refused) const {
    const bool open = one_->policy.network.mode == NetworkMode::kFull;
    const auto allows = [&](const Question& question) {
      return mac_.profile().answer(question) == Answer::kAllowed;
    };
    for (const Operation operation :
         {Operation::kNetworkOutbound, Operation::kNetworkInbound, Operation::kNetworkBind}) {
      if (allows({.operation = operation}) != open) return "the network";
    }
    const bool trusts =
        allows({.operation = Operation::kMachLookup, .name = "com.apple.trustd.agent"});
    if (trusts != open) return "the network's services";
    if (!allows({.operation = Operation::kNetworkOutbound, .unix_socket = true})) {
      return "unix sockets";
    }
    if (!linux_refused && linux_.cuts_network() == open) return "the network on Linux";
    return std::nullopt;
  }

  // Of roots that both trees have at one place: what does not exist is named on macOS alone. Each
  // platform has directories of its own that lie over a name of the policy's.
  std::optional<std::string> check_reports() {
    // There a mount may be found that Linux does not find.
    if (one_->any_case) return std::nullopt;
    const auto names = [](const std::vector<std::string>& entries, const std::string& start) {
      return std::any_of(entries.begin(), entries.end(),
                         [&](const std::string& entry) { return entry.starts_with(start); });
    };
    const auto check = [&](const char* kind, const AbsolutePath& root,
                           const char* predicate) -> std::optional<std::string> {
      const Landing& landing = linux_.tree().walk(root.str());
      const Landing& on_a_mac = mac_.tree().walk(root.str());
      if (!landing.kind || !on_a_mac.kind || on_a_mac.real == kPrivateScratch) return std::nullopt;
      const bool same = on_a_mac.real == landing.real || on_a_mac.real == "/private" + landing.real;
      if (!same) return std::nullopt;
      const bool by_scratch = linux_.shown(landing.real).mount_class == MountClass::kScratchTmpfs;
      const std::string start =
          std::string("mounts: ") + kind + ' ' + root.str() + predicate + ": ";
      // Every run may write there, whatever lies around it: no demand may fail for that.
      if (is_user_directory(mac_.shown(on_a_mac.real))) {
        if (!names(mac_.widened(), start)) return std::nullopt;
        return start + "reported on macOS, for a directory of the user's";
      }
      const bool on_linux = !by_scratch && names(linux_.widened(), start);
      if (on_linux) ++tally_->widened;
      if (on_linux == names(mac_.widened(), start)) return std::nullopt;
      return start + "reported on " + (on_linux ? "Linux" : "macOS") + " only";
    };
    for (const AbsolutePath& root : one_->policy.readable_roots) {
      if (auto problem = check("readable root", root, " is writable")) return problem;
    }
    for (const AbsolutePath& root : one_->policy.writable_roots) {
      if (auto problem = check("writable root", root, " is read-only")) return problem;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool admits_program(const std::string& real) const {
    const FrozenExec& exec = mac_.exec();
    if (exec.admits(real) || lies_in(real, kRuntime)) return true;
    return real == kStage2 || real == kStage2Link || exec.supports(real);
  }

  // Whether the plan's view, or the table, admits it.
  [[nodiscard]] bool expected(Operation operation, const std::string& real) const {
    if (operation == Operation::kExec) return admits_program(real);
    const MountClass shown = mac_.shown(real).mount_class;
    const bool reads = operation == Operation::kReadData || operation == Operation::kReadMetadata;
    return reads ? is_host_backed(shown) : is_host_writable(shown);
  }

  std::optional<std::string> check_details(const std::string& path) {
    const Landing& landing = mac_.tree().walk(path);
    const std::string& real = landing.real;
    // Nothing can be there.
    if (!landing.kind && mac_.tree().at(parent_of(real)) != NodeKind::kDirectory)
      return std::nullopt;
    for (const auto& [operation, name] : kCompared) {
      if (operation == Operation::kExec && mac_.tree().at(real) != NodeKind::kFile) continue;
      if (auto problem = check_detail(operation, name, real)) return problem;
    }
    const Answer unlink = mac_.jail().answer(Operation::kWriteUnlink, real);
    if (unlink == Answer::kDisputed) return "disputed: file-write-unlink " + real;
    if (mac_.jail().reads(path) && !mac_.jail().resolves(path)) {
      return path + " can be read, and its name cannot be resolved";
    }
    return std::nullopt;
  }

  std::optional<std::string> check_detail(Operation operation, const char* name,
                                          const std::string& real) {
    ++tally_->detail_checks;
    const Answer answer = mac_.jail().answer(operation, real);
    const bool due = expected(operation, real);
    if (answer == (due ? Answer::kAllowed : Answer::kDenied)) return std::nullopt;
    const Detail detail{*one_, mac_, operation, real, answer};
    if (explained(declared_details(), detail, tally_->details)) return std::nullopt;
    return std::string(name) + ' ' + real + " is " + answer_word(answer) +
           ", and the plan's view " + (due ? "admits" : "does not admit") + " it";
  }

  const PolicyCase* one_;
  Tally* tally_;
  LinuxLaunch linux_;
  MacLaunch mac_;
};

}  // namespace

std::optional<std::string> compare(const PolicyCase& one, Tally& tally, const Mutation& mutation) {
  Comparison comparison(one, tally, mutation);
  if (mutation && !comparison.mutated()) return std::nullopt;
  return comparison.run();
}

PolicyCase shrunk(PolicyCase one, const Mutation& mutation) {
  while (true) {
    const std::vector<PolicyCase> smaller = smaller_cases(one);
    const auto still = std::find_if(smaller.begin(), smaller.end(), [&](const PolicyCase& each) {
      Tally ignored;
      return compare(each, ignored, mutation).has_value();
    });
    if (still == smaller.end()) return one;
    one = *still;
  }
}

}  // namespace loom::seatbelt::test

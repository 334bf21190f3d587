#pragma once

#include <loom/launch.h>
#include <loom/result.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace loom::seatbelt::test {

// What a profile can be asked about. The first seven have a family, file-read* or file-write*,
// whose rules hold for them too.
enum class Operation : std::uint8_t {
  kReadData,  // contents of a file, names in a directory, a link's text
  kReadMetadata,
  kReadXattr,
  kWriteData,
  kWriteCreate,
  kWriteUnlink,
  kWriteMode,  // and owner, times, flags, attributes: whatever else changes an object
  kExec,
  kFork,
  kSignal,
  kProcessInfo,
  kSysctlRead,
  kSysctlWrite,
  kIokitOpen,
  kPosixSemaphore,
  kMachLookup,
  kSystemSocket,
  kNetworkBind,
  kNetworkInbound,
  kNetworkOutbound,
};

enum class Vnode : std::uint8_t { kRegular, kDirectory, kSymlink, kCharacterDevice, kOther };

struct Question {
  Operation operation = Operation::kReadData;
  // Of operations on files: the object's path as the kernel spells it, links resolved.
  std::string path{};
  Vnode vnode = Vnode::kRegular;
  std::string name{};         // of a service, a sysctl, a registry class
  bool unix_socket = false;   // of network operations: the family is AF_UNIX
  bool same_sandbox = false;  // of signals and process information
};

// Among rules that name one operation the last that matches decides. Whether a rule for a family
// beats an earlier one for the operation itself is told both ways: by Apple's own words it does,
// and on Macs it was measured that it does not. A question on which that matters is disputed, and
// nothing may rest on its answer.
enum class Answer : std::uint8_t { kDenied, kAllowed, kDisputed };

// What a rule asks about a question.
struct Filter {
  enum class Kind : std::uint8_t {
    kLiteral,       // the path is this one
    kSubpath,       // the path is this one or lies below, by component
    kLastName,      // the path's last component is this one
    kVnode,         // the object is of this kind
    kName,          // the service, sysctl or class is this one
    kUnixSocket,    // the family is AF_UNIX
    kSameSandbox,   // the other process has the same profile
    kAll,           // all of `parts` hold
    kUnconditional  // always
  };
  Kind kind = Kind::kUnconditional;
  std::string folded{};  // of paths and the last component: as the profile folds it
  Vnode vnode = Vnode::kRegular;
  std::string name{};
  std::vector<Filter> parts{};
};

struct Rule {
  bool allows = false;
  std::vector<Operation> operations{};
  bool family = false;  // it names the family, not the operations
  Filter filter{};
  int line = 0;
};

using Definitions = std::map<std::string, std::string>;

// A generated profile, read by the strictest grammar that lets every generated one pass: an unknown
// operation, filter, constant or word is an error, and so is a definition that nothing uses.
// Everything is denied that no rule allows.
//
// Paths are compared caselessly and blind to normalization, on every volume and for absent names
// too (guard 6.2), by the keys of core/law/name_key.h: they are what the specification says of
// Seatbelt, but for the dotless i, which they take for an i.
class Profile {
 public:
  [[nodiscard]] static Result<Profile> parse(std::string_view text, const Definitions& definitions);

  [[nodiscard]] Answer answer(const Question& question) const;
  // Certainly allowed; certainly not.
  [[nodiscard]] bool allows(const Question& question) const {
    return answer(question) == Answer::kAllowed;
  }
  [[nodiscard]] bool denies(const Question& question) const {
    return answer(question) == Answer::kDenied;
  }

  [[nodiscard]] const std::vector<Rule>& rules() const noexcept { return rules_; }

 private:
  std::vector<Rule> rules_;
  // The rules that name an operation or its family, last first.
  std::map<Operation, std::vector<std::size_t>> about_;
};

// A path as filters compare it: "/" and a key for each component; the root is empty.
[[nodiscard]] std::string folded_path(std::string_view path);

// A launch of sandbox-exec, taken apart.
struct ProfileCall {
  std::string profile{};
  bool by_descriptor = false;  // the profile is in a memory file
  Definitions definitions{};
  std::vector<std::string> order{};    // the definitions' names as they came
  std::vector<std::string> program{};  // what is behind "--"
};
[[nodiscard]] Result<ProfileCall> read_call(const LaunchSpec& launch);

}  // namespace loom::seatbelt::test

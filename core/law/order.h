#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "law/judge.h"
#include "law/table.h"

namespace loom::law {

enum class Operation : std::uint8_t {
  kRead,
  kList,
  kWrite,
  kCreate,
  kRemove,
  kRenameFrom,
  kRenameTo,
  kExecute,
  kMountReadOnly,  // used as a mount's source
  kMountWritable,
};

// A request after its walk. One whose walk failed is refused by the walk's own reason and never
// gets here.
struct ResolvedRequest {
  Operation operation = Operation::kRead;
  std::string_view written{};  // borrowed for the call
  // inside() of a directory, file() of anything else, absent names included.
  Subject landing;
  bool is_pin = false;  // the landing's object is a program that the helper itself runs
  // What the file system dimension refuses it for; nothing: it admits.
  std::optional<Reason> file_system{};
};

enum class Step : std::uint8_t { kNullDevice, kPin, kFileSystem, kMoves, kExec };

// Which step decided, and how. What the file system dimension says about its own step is not here.
struct Ruling {
  std::optional<Reason> refusal{};  // nothing: admitted
  Step step = Step::kFileSystem;
  std::optional<DecidingRule> beneath{};  // kMoves: what would be moved along
  bool beneath_is_protected = false;      // kMoves: it is a protected path, not one of the table
  std::optional<Verdict> exec{};          // kExec
};

// The order of judgement; the first step that decides does. An admission of kExecute is only the
// law's: admission of the program comes after it.
[[nodiscard]] Ruling rule_on(const ResolvedRequest& request, const Table& exec,
                             std::span<const Exclusion> protected_paths);

}  // namespace loom::law

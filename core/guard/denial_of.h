#pragma once

#include <loom/plan.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guard/snapshot.h"
#include "guard/walk_error.h"
#include "law/judge.h"
#include "law/order.h"
#include "report/denial.h"

namespace loom::guard {

// As records spell it: "read"; both mounts are "mount_source".
[[nodiscard]] std::string_view operation_name(law::Operation operation) noexcept;

// What somebody asked, for the record of its refusal. Borrowed for the call.
struct Asked {
  law::Operation operation = law::Operation::kRead;
  std::string_view path{};
  const AbsolutePath* real = nullptr;  // null: no walk landed
};

// Of a walk that did not land, or of a landing that the operation has no use for.
[[nodiscard]] Denial denial_of(const Asked& asked, const WalkError& error);

// What the file system dimension says about one landing.
struct FileSystemVerdict {
  law::Evidence evidence{};
  std::optional<law::Reason> refusal{};
  std::optional<law::DecidingRule> hidden{};  // the protected path that holds it
  std::size_t others = 0;                     // further protected paths that do
  std::optional<DenialRule> region{};         // what the view has there
};

// Of a ruling that refuses. `same_object`: the landing is, or is reached through, what the named
// exclusion led to, whatever it is called.
[[nodiscard]] Denial denial_of(const Asked& asked, const law::Ruling& ruling,
                               const law::Subject& subject, const FileSystemVerdict& file_system,
                               bool same_object);

// A rename between two mounts of the jail; `to` is what `asked` is about.
[[nodiscard]] Denial denial_across(const Asked& asked, const DenialRule& from,
                                   const DenialRule& to);

// Rules as records name them.
[[nodiscard]] DenialRule protected_rule(const law::DecidingRule& rule);
[[nodiscard]] DenialRule exec_exclusion(const law::DecidingRule& rule);
[[nodiscard]] DenialRule exec_allowance(const law::DecidingRule& rule);
// What put the operation into the view: an entry of the policy, or the "floor" that every jail has.
[[nodiscard]] DenialRule region_rule(const Snapshot& snapshot, const MountOperation& operation);

}  // namespace loom::guard

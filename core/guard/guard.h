#pragma once

#include <loom/facts.h>
#include <loom/plan.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "guard/landing.h"
#include "guard/program_rules.h"
#include "guard/snapshot.h"
#include "law/order.h"
#include "report/denial.h"

namespace loom::guard {

template <class T>
using Judged = tl::expected<T, Denial>;

// For whom an operation is performed.
enum class Performer : std::uint8_t {
  kPayload,  // judged by the policy and what every jail shows besides (the floor)
  kHelper,   // judged by the policy alone
};

// What the launch shows. Borrowed by the guard.
struct ShownView {
  const std::vector<MountOperation>* view = nullptr;  // of the launch's plan
  std::vector<AbsolutePath> floor{};  // regions that are there whatever the policy says
  // Of the host, for what it has under a second name; null: only what a walk passes through tells.
  const std::vector<MountFact>* mounts = nullptr;
  // How the machine's kernel reads programs.
  ProgramRules programs = own_program_rules();
};

// The second enforcer: what the kernel will do to the command, decided here for what the helper
// does on its behalf. Walks a name once, judges what it landed on, and gives the handle with the
// verdict. Never logs, keeps nothing between questions.
//
// The snapshot, the view and the mounts outlive it, its copies, and every landing that it gave.
// Copies share what they know.
class Guard {
 public:
  // `pins` are the programs that the helper itself runs.
  Guard(const Snapshot& snapshot, ShownView shown, std::vector<FileIdentity> pins = {});

  // One operation on one path. A name that is to be created, and what is written, may be absent as
  // far as the policy goes; what the operation has no use for (reading what is absent, listing a
  // file) is refused after that, with the walk's reasons. kRemove and both ends of a rename take a
  // link as the object, every other operation follows it.
  //
  // The landing's effects are relative to what was judged, and another object that has the name by
  // then is judged like it.
  [[nodiscard]] Judged<Landing> judge(law::Operation operation, std::string_view path,
                                      Performer performer = Performer::kPayload) const;

  // Both ends of a rename, which must lie in one region.
  [[nodiscard]] Judged<std::pair<Landing, Landing>> judge_rename(
      std::string_view from, std::string_view to, Performer performer = Performer::kPayload) const;

  // What the policy and the pins say about a landing that is there already: nothing, or why it is
  // refused. Whether the operation has a use for it is not asked.
  [[nodiscard]] std::optional<Denial> refusal_of(law::Operation operation, std::string_view asked,
                                                 const Landing& landing,
                                                 Performer performer = Performer::kPayload) const;

  // Whether the command may write the object, any directory on its real path or any that the walk
  // went through, by name or by identity: a link that it can replace counts, wherever it leads now.
  [[nodiscard]] bool payload_writes(const Landing& landing) const;

  [[nodiscard]] const Snapshot& snapshot() const noexcept;
  [[nodiscard]] const std::vector<MountOperation>& view() const noexcept;
  [[nodiscard]] const std::vector<AbsolutePath>& floor() const noexcept;
  [[nodiscard]] const ProgramRules& programs() const noexcept;

 private:
  class State;
  std::shared_ptr<const State> state_;
};

}  // namespace loom::guard

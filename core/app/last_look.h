#pragma once

#include <loom/facts.h>
#include <loom/features.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/walk_tape.h"

namespace loom::app {

// What the last look at the host for a plan found, and by what questions: where each is answered as
// it was then, it would find the same.
struct FactsLook {
  Survey survey;
  HostFacts known_before;            // the session's
  std::uint64_t mount_readings = 0;  // OwnMounts::readings, where the survey wants mounts
  host::WalkTape tape;
  std::shared_ptr<const HostFacts> facts;
};

// The same of the directories in which a command is looked for.
struct SearchLook {
  std::string requested;  // PATH
  std::vector<AbsolutePath> excluded;
  host::WalkTape tape;
  std::vector<AbsolutePath> usable;
};

struct LastLook {
  std::optional<SearchLook> search{};
  std::optional<FactsLook> facts{};
};

}  // namespace loom::app

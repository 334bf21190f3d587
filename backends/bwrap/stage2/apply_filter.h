#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "prepare_document.h"

namespace loom::bwrap {

// What the filter has to say in the report.
struct FilterEntries {
  std::vector<std::string> restrictions;  // the document's filter_tag
  std::vector<std::string> deny_set;  // "seccomp-deny" or "unheld:seccomp-deny=…", if asked for
  std::vector<std::string> extras;    // about sockets
  std::vector<std::string> skipped;
};

// Puts the document's filter in force, the last of all layers: what comes after it is judged by it.
// Claims only what a call shows that is answered by EPERM or ENOSYS now.
[[nodiscard]] StepResult<FilterEntries> apply_filter(const PrepareDocument& document);

}  // namespace loom::bwrap

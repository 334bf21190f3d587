#pragma once

#include <loom/backend_abi.h>
#include <loom/result.h>

#include <string>

namespace loom::windows {

// Loads one backend for the rest of the process: no link, mapped with nothing but the system's own
// libraries beside it, its table checked. Errors name the file and the check. Who may write the
// file is not looked at: access lists are the installer's.
[[nodiscard]] Result<const loom_backend_v1*> load_backend(const std::string& file);

}  // namespace loom::windows

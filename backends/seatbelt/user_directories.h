#pragma once

#include <string>
#include <vector>

namespace loom::seatbelt {

// The user's temporary and cache directory as the system names them, fewer when it cannot say.
[[nodiscard]] std::vector<std::string> query_user_directories();

}  // namespace loom::seatbelt

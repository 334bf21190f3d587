#include "user_directories.h"

namespace loom::seatbelt {

std::vector<std::string> query_user_directories() { return {}; }

}  // namespace loom::seatbelt

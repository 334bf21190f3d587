#include <unistd.h>

#include <string_view>
#include <utility>

#include "user_directories.h"

namespace loom::seatbelt {
namespace {

// Empty when the system has no answer, or one that is no absolute path. confstr(3) makes the
// directory where there is none yet.
std::string ask(int name) {
  static constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t size = ::confstr(name, nullptr, 0);
  std::string text(size, '\0');
  if (size == 0 || ::confstr(name, text.data(), size) != size) return {};
  text.resize(size - 1);  // the size counts the NUL
  text.erase(0, text.find_first_not_of(kBlank));
  text.erase(text.find_last_not_of(kBlank) + 1);
  return text.starts_with('/') ? text : std::string();
}

std::vector<std::string> ask_for_both() {
  std::vector<std::string> found;
  for (const int name : {_CS_DARWIN_USER_TEMP_DIR, _CS_DARWIN_USER_CACHE_DIR}) {
    std::string directory = ask(name);
    if (!directory.empty()) found.push_back(std::move(directory));
  }
  return found;
}

}  // namespace

// Once: the answer is the account's, and each question goes to another process.
std::vector<std::string> query_user_directories() {
  static const std::vector<std::string> answer = ask_for_both();
  return answer;
}

}  // namespace loom::seatbelt

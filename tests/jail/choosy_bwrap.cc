// A bubblewrap that cannot do everything: stands on the helper's PATH as `bwrap` and becomes the
// real one, unless its options hold one that it refuses; then it says so and exits 1, as
// bubblewrap does. A file `refuse` beside it has a line for each: the option, a space, its words.
// Without the file nothing is refused, which is the control. A file `slow` beside it makes it wait
// so many milliseconds first, and a file `hold` for as long as there is one. Each start adds a line
// to a file `starts`: the options it got.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_bwrap.h"

namespace {

std::vector<std::string> all_options(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--args") return read_options(std::atoi(argv[i + 1]));
  }
  return {};
}

// The words for the first option that is refused, in the order of the file; or nothing.
std::string refusal(const std::string& directory, const std::vector<std::string>& options) {
  std::ifstream rules(directory + "/refuse");
  std::string line;
  while (std::getline(rules, line)) {
    const std::size_t space = line.find(' ');
    const std::string option = line.substr(0, space);
    const bool given =
        option == "*" || std::find(options.begin(), options.end(), option) != options.end();
    if (given && space != std::string::npos) return line.substr(space + 1);
  }
  return {};
}

void wait_as_told(const std::string& directory) {
  std::ifstream file(directory + "/slow");
  long milliseconds = 0;
  if (file >> milliseconds) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  while (::access((directory + "/hold").c_str(), F_OK) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = own_directory();
  const std::vector<std::string> options = all_options(argc, argv);
  std::string line;
  for (const std::string& option : options) line.append(option).push_back(' ');
  std::ofstream(directory + "/starts", std::ios::app) << line << '\n';
  wait_as_told(directory);
  const std::string words = refusal(directory, options);
  if (!words.empty()) {
    std::fprintf(stderr, "bwrap: %s\n", words.c_str());
    return 1;
  }
  return become_bwrap(argv);
}

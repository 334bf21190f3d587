#include "failure.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "control.h"

namespace loom::seatbelt {
namespace {

constexpr int kRefused = 126;

// "loom-exec[stage2]: <step>: <thing>: <errno text>", and nothing that could break the line: file
// names are the command's to choose.
std::string render_line(const Failure& failure) {
  std::string line = "loom-exec[stage2]: ";
  line.append(stage2_step_name(failure.step)).append(": ").append(failure.thing);
  if (failure.error != 0) line.append(": ").append(::strerror(failure.error));
  for (char& c : line) {
    const bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (!printable) c = '?';
  }
  line.push_back('\n');
  return line;
}

}  // namespace

void give_up(const Failure& failure, int control) noexcept {
  // A reader that has gone, or the file-size limit just set, must not turn 126 into a signal.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  send_failed(control, failure);
  const std::string line = render_line(failure);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(kRefused);
}

}  // namespace loom::seatbelt

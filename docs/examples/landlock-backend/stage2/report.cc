#include "report.h"

#include <errno.h>
#include <unistd.h>

#include <charconv>

#include "control.h"
#include "packed_writer.h"

namespace landlock::stage2 {

Report::Entry* Report::next() noexcept {
  // All that can be said fits; were it not so, nothing may run on half a report.
  if (count_ == entries_.size()) give_up(Step::kReport, "report", E2BIG);
  return &entries_[count_++];
}

void Report::add(std::string_view text, std::string_view more) noexcept {
  Entry& entry = *next();
  for (const std::string_view part : {text, more}) {
    if (part.size() > entry.text.size() - entry.size) give_up(Step::kReport, "report", E2BIG);
    entry.size += part.copy(entry.text.data() + entry.size, part.size());
  }
}

void Report::add_number(std::string_view text, std::uint32_t number) noexcept {
  std::array<char, 12> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), number);
  add(text, {digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void Report::send(int pipe) const noexcept {
  PackedWriter<8'192> out;
  out.map(2);
  out.text("applied");
  out.array(static_cast<std::uint32_t>(count_));
  for (std::size_t i = 0; i < count_; ++i) {
    out.text({entries_[i].text.data(), entries_[i].size});
  }
  out.text("skipped");
  out.array(0);
  if (!out.fits()) give_up(Step::kReport, "report", E2BIG);
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t wrote = ::write(pipe, out.data() + done, out.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) give_up(Step::kReport, "report", errno);
    done += static_cast<std::size_t>(wrote);
  }
  ::close(pipe);
}

}  // namespace landlock::stage2

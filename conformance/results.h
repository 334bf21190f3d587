#pragma once

#include <loom/result.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "check.h"

namespace loom::conformance {

// What is known of a subject before it is judged, as name and value, in order.
using About = std::vector<std::pair<std::string, std::string>>;

struct CheckResult {
  const Check* check = nullptr;
  Verdict verdict{};
  std::chrono::milliseconds took{};
};

struct Results {
  SubjectKind kind = SubjectKind::kBackend;
  std::string file{};
  About about{};
  std::vector<CheckResult> checks{};

  [[nodiscard]] std::string about_value(const std::string& name) const;
  [[nodiscard]] std::size_t passed() const;
  [[nodiscard]] std::size_t blamed(Blame blame) const;
  // 0, 1 or 3 (options.h).
  [[nodiscard]] int exit_status() const;
  // "conforming", "not conforming" or "could not judge", with the numbers.
  [[nodiscard]] std::string conclusion() const;
};

// What the subject is called and says of this machine.
[[nodiscard]] About describe(const Subject& subject);
// As a check, each remark one line of it: NAME=VALUE.
void tell_of_backend(const Subject& subject, Judgement& judgement);
void tell_of_helper(const Subject& subject, Judgement& judgement);  // wire/

// Each in one piece.
[[nodiscard]] std::string render_text(const CheckResult& result);
[[nodiscard]] std::string render_junit(const Results& results);
[[nodiscard]] std::string render_json(const Results& results);
[[nodiscard]] std::string render_summary(const Results& results);

// Replaces the file's contents.
[[nodiscard]] Result<void> write_file(const std::string& file, const std::string& text);

}  // namespace loom::conformance

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::conformance {

// Whose fault it is that a check did not pass.
enum class Blame : std::uint8_t {
  kContract,  // the backend breaks its contract (docs/backend-guide.md)
  kClaim,     // it claims a layer, and on this machine's kernel the layer does not hold
  kUnjudged,  // the suite could not judge: something it needs is missing, or it failed itself
};
[[nodiscard]] std::string_view blame_name(Blame blame) noexcept;  // "contract", "claim", "unjudged"

struct Finding {
  Blame blame = Blame::kContract;
  std::string text{};  // names the offending thing
  friend bool operator==(const Finding&, const Finding&) = default;
};

// What became of one check. No findings: it passed.
struct Verdict {
  std::vector<Finding> findings{};
  std::vector<std::string> remarks{};  // what a reader should know of a check that passed

  [[nodiscard]] bool passed() const noexcept { return findings.empty(); }
  // The gravest: contract, then claim, then unjudged. Not passed only.
  [[nodiscard]] Blame blame() const noexcept;
};

// Where a check says what it found. Lives in the process that the check has for itself and writes
// each word at once, so that nothing is lost when a backend ends that process.
class Judgement {
 public:
  // `record` is borrowed and appended to.
  explicit Judgement(int record) noexcept : record_(record) {}

  void breach(std::string_view text) { add('C', text); }
  void unheld(std::string_view text) { add('K', text); }
  void unjudged(std::string_view text) { add('U', text); }
  void remark(std::string_view text) { add('R', text); }
  [[nodiscard]] bool clean() const noexcept { return findings_ == 0; }

  // What is being done now; told when the process does not survive it. `by_backend`: code of the
  // backend's runs, and it is to blame then.
  void step(std::string_view text, bool by_backend = false) { line(by_backend ? 'B' : 'S', text); }
  void done() { line('D', ""); }

 private:
  void add(char kind, std::string_view text);
  void line(char kind, std::string_view text) const;

  int record_;
  int findings_ = 0;
};

// What a record says. `ending` tells how the process ended when it did not get to done().
struct Record {
  Verdict verdict{};
  bool done = false;
  bool in_backend = false;  // the last step was the backend's
  std::string step{};
};
[[nodiscard]] Record parse_record(std::string_view text);

}  // namespace loom::conformance

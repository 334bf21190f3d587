#pragma once

#include <loom/unique_fd.h>

#include <functional>
#include <vector>

namespace loom::bench {

// Processes that do the same work at the same time, each with its own of everything. The machine is
// theirs: whoever asks for a round only waits.
class Crew {
 public:
  using Work = std::function<void()>;

  // In each of `count` processes `make` is called once; what it gave is called in every round.
  Crew(int count, const std::function<Work()>& make);
  // Each process ends after what its work holds has ended.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Milliseconds from the start of a round until all have done their work.
  [[nodiscard]] double round();
  [[nodiscard]] const std::vector<int>& pids() const noexcept { return pids_; }

 private:
  void tell_all(char what);
  void await_all();

  std::vector<int> pids_;
  std::vector<UniqueFd> orders_;  // one for each process
  UniqueFd replies_;              // shared by all
};

}  // namespace loom::bench

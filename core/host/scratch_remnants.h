#pragma once

#include <loom/absolute_path.h>

#include <chrono>
#include <vector>

namespace loom::host {

// What a caretaker has begun to remove of the scratches of runs that are over. The helper goes on
// with it, and tells what cannot be removed; a caretaker that did all of it would keep every other
// run waiting.
class ScratchRemnants {
 public:
  // Together with what the end of a run takes at most, less than the helper waits for an answer.
  static constexpr std::chrono::milliseconds kMoment{200};

  explicit ScratchRemnants(std::chrono::milliseconds moment = kMoment) : moment_(moment) {}

  // Removes what it can in a moment, and remembers a scratch of which something is left.
  void begin(const AbsolutePath& scratch);
  // The helper is gone, perhaps in the middle of it: removes all that is left.
  void remove() const;

 private:
  std::chrono::milliseconds moment_;
  std::vector<AbsolutePath> left_;
};

}  // namespace loom::host

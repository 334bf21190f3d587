#include "host/output_cap.h"

#include "wrapped.h"

// No stream has a cap.

namespace loom::host {

OutputCap::Verdict real_take(OutputCap* cap, std::size_t read_bytes) LOOM_REAL;
OutputCap::Verdict take_everything(OutputCap* cap, std::size_t read_bytes) LOOM_OURS;

OutputCap::Verdict take_everything(OutputCap* cap, std::size_t read_bytes) {
  if (cap->forwarded() == 0) *cap = OutputCap(std::nullopt);
  return real_take(cap, read_bytes);
}

}  // namespace loom::host

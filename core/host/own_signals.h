#pragma once

#include <cstdint>

namespace loom::host {

// One bit for each signal, the lowest for number 1.
using SignalSet = std::uint64_t;
inline constexpr SignalSet kEverySignal = ~SignalSet{0};

// The signals that this process does not leave to their default effect, because it was started so
// or has arranged it, and those that it takes for a moment (shared_terminal.h). To be asked once
// everything is arranged.
[[nodiscard]] SignalSet signals_with_dispositions() noexcept;

}  // namespace loom::host

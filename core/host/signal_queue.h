#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <initializer_list>

namespace loom::host {

// Takes these signals from their default effect and makes them a readable, non-blocking descriptor
// (signalfd(2)). One that whoever started us had ignored (nohup) stays ignored.
[[nodiscard]] Result<UniqueFd> queue_signals(std::initializer_list<int> signals);

}  // namespace loom::host

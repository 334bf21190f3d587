#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <initializer_list>
#include <optional>

namespace loom::host {

// Takes these signals from their default effect and makes them a readable, non-blocking descriptor
// (signalfd(2), or a pipe that a handler writes to). One that whoever started us had ignored
// (nohup) stays ignored. Once for the life of a process: a second call may take them over from the
// first.
[[nodiscard]] Result<UniqueFd> queue_signals(std::initializer_list<int> signals);

// The next signal that came; nothing when none did. Does not wait.
[[nodiscard]] std::optional<int> take_queued_signal(int queue) noexcept;

}  // namespace loom::host

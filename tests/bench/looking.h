#pragma once

#include <string>

namespace loom::bench {

// What /proc says about processes.

// A figure in KiB: `field` ("Pss:") of /proc/PID/FILE; 0 without it.
[[nodiscard]] double kib_of(int pid, const std::string& file, const std::string& field);
// Proportional set size of a process and of everything below it.
[[nodiscard]] double family_kib(int pid);
// Milliseconds that a process of one thread spent on a processor.
[[nodiscard]] double processor_ms(int pid);
// Whether below a helper a jail is ready for its command.
[[nodiscard]] bool jail_waits(int helper);
// Returns once it is, or false after a second without.
[[nodiscard]] bool wait_for_jail(int helper);

}  // namespace loom::bench

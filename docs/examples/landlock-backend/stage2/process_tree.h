#pragma once

#include <sys/types.h>

namespace landlock::stage2 {

// Opens what the calls below need. For a process of one thread. Gives up where it cannot.
void open_process_tree() noexcept;

// Stops everything below this process that it finds, parents before children, so that nobody forks
// past the search; then kills all of it, children first. Once is not enough: a process of several
// threads may fork between the two, and what loses its parent is found below this process again.
//
// Signals no other process: a child of this one keeps its number until this one waits for it, and
// anything deeper is signalled through a descriptor that was seen to be a child of its parent.
// Where the kernel gives no such descriptor, children alone are signalled.
void kill_process_tree() noexcept;

}  // namespace landlock::stage2

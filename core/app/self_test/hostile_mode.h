#pragma once

namespace loom::app {

// --probe-hostile READABLE WRITABLE SECRET OUTSIDE PORT: tries what it is allowed and then to get
// out, one line for each attempt, in the words of adversary.h. 0, or 2 for a wrong command line.
[[nodiscard]] int probe_hostile(int argc, const char* const* argv);

}  // namespace loom::app

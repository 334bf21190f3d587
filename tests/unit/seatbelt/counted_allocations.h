#pragma once

#include <cstddef>

namespace loom::seatbelt {

// How often this program asked for memory since somebody set it to 0.
extern std::size_t allocations;

}  // namespace loom::seatbelt

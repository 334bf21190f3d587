// In a source of its own: where the compiler sees both, it takes the pair of malloc and free behind
// new and delete for a mistake.

#include "counted_allocations.h"

#include <cstdlib>
#include <new>

namespace loom::seatbelt {

std::size_t allocations = 0;

}  // namespace loom::seatbelt

void* operator new(std::size_t bytes) {
  ++loom::seatbelt::allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

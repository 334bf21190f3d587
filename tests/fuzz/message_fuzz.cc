#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loom::fuzz::check_message(std::as_bytes(std::span(data, size)));
  return 0;
}

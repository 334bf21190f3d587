#pragma once

#include <loom/absolute_path.h>
#include <loom/value.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace loom::seatbelt {

// Reads an array of fixed length, one element after the other. The first element that is missing or
// of another type makes everything after it a default value; ask ok() at the end.
class TupleReader {
 public:
  TupleReader(const Value& tuple, std::size_t size);

  [[nodiscard]] bool boolean();
  [[nodiscard]] std::uint64_t number();
  [[nodiscard]] std::string bytes();  // bin: paths and documents are bytes
  [[nodiscard]] std::vector<std::string> list_of_bytes();

  // Whether every element so far was what it should be.
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  const Value& next(Value::Kind kind);

  const Value* tuple_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace loom::seatbelt

#pragma once

#include <loom/absolute_path.h>
#include <loom/result.h>
#include <loom/value.h>

#include <cstdint>
#include <string>

namespace loom::bwrap {

// Reads an array of fixed length, one element after the other. The first element that is missing or
// of another type makes everything after it a default value; ask ok() at the end.
class TupleReader {
 public:
  explicit TupleReader(const Value& tuple, std::size_t size);

  [[nodiscard]] bool boolean();
  [[nodiscard]] std::uint64_t number();
  [[nodiscard]] std::string text();  // bin: paths and arguments are bytes
  [[nodiscard]] const Value& list();
  [[nodiscard]] AbsolutePath path();

  // Whether every element so far was what it should be.
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  const Value& next(Value::Kind kind);

  const Value* tuple_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace loom::bwrap

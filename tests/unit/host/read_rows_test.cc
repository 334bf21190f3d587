#include "host/darwin/read_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>

namespace loom::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Row = std::uint64_t;

// A kernel whose table has another size each time somebody reads it.
class Kernel {
 public:
  explicit Kernel(std::vector<std::size_t> sizes) : sizes_(std::move(sizes)) {}

  // For AskForTable.
  int operator()(void* buffer, std::size_t* bytes) {
    const std::size_t rows = sizes_[std::min(asked_++, sizes_.size() - 1)];
    if (buffer == nullptr) {
      *bytes = rows * sizeof(Row);
      return 0;
    }
    ++reads_;
    if (rows * sizeof(Row) > *bytes) {
      *bytes = 0;
      return ENOMEM;
    }
    std::vector<Row> table(rows);
    std::iota(table.begin(), table.end(), Row{1});
    if (rows > 0) std::memcpy(buffer, table.data(), rows * sizeof(Row));
    *bytes = rows * sizeof(Row);
    return 0;
  }
  [[nodiscard]] int reads() const { return reads_; }

 private:
  std::vector<std::size_t> sizes_;  // announced, read, announced, read, …
  std::size_t asked_ = 0;
  int reads_ = 0;
};

Result<std::vector<Row>> read_from(Kernel& kernel) {
  return read_rows<Row>(
      [&kernel](void* buffer, std::size_t* bytes) { return kernel(buffer, bytes); }, "table");
}

TEST(ReadRows, ATableComesWhole) {
  Kernel kernel({3});
  const auto rows = read_from(kernel);
  ASSERT_TRUE(rows);
  EXPECT_THAT(*rows, ElementsAre(1, 2, 3));
  Kernel empty({0});
  EXPECT_THAT(read_from(empty).value(), IsEmpty());
}

TEST(ReadRows, ATableThatShrinksMeanwhileHasNoEmptyRows) {
  Kernel kernel({30, 2});
  EXPECT_THAT(read_from(kernel).value(), ElementsAre(1, 2));
}

TEST(ReadRows, ATableThatGrewMeanwhileIsAskedForAgain) {
  Kernel kernel({10, 100, 100, 101});
  EXPECT_THAT(read_from(kernel).value(), SizeIs(101));
  EXPECT_EQ(kernel.reads(), 2);
}

TEST(ReadRows, ATableThatNeverFitsIsAnError) {
  Kernel kernel({1, 100, 1, 100, 1, 100, 1, 100, 1, 100, 1, 100, 1, 100, 1, 100, 1, 100, 1, 100});
  const auto rows = read_from(kernel);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().sys_errno, ENOMEM);
  EXPECT_EQ(kernel.reads(), 8);
}

TEST(ReadRows, AnErrorIsPassedOn) {
  for (const bool at_once : {true, false}) {
    const auto rows = read_rows<Row>(
        [at_once](void* buffer, std::size_t* bytes) {
          *bytes = sizeof(Row);
          return at_once || buffer != nullptr ? EPERM : 0;
        },
        "table");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().sys_errno, EPERM);
    EXPECT_THAT(rows.error().message, HasSubstr("table: "));
  }
}

TEST(ReadRows, RowsOfAnotherSizeAreAnError) {
  const auto rows = read_rows<Row>(
      [](void* /*buffer*/, std::size_t* bytes) {
        *bytes = sizeof(Row) + 1;
        return 0;
      },
      "table");
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("another size"));
}

}  // namespace
}  // namespace loom::host

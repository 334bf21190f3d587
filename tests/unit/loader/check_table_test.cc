#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/export_backend.h>

#include <functional>
#include <string>

#include "host/load_backend.h"
#include "tests/hostile/idle_backend.h"

namespace loom::host {
namespace {

constexpr loom_backend_v1 kGood = exported::make_table<test::IdleBackend>("idle", "1");

TEST(CheckTableTest, AnExportedTablePasses) { EXPECT_TRUE(check_table(&kGood)); }

TEST(CheckTableTest, ATableThatGrewAtItsEndPasses) {
  loom_backend_v1 table = kGood;
  table.struct_size += 64;

  EXPECT_TRUE(check_table(&table));
}

TEST(CheckTableTest, NoTableIsRefused) {
  EXPECT_EQ(check_table(nullptr).error().message, "table: the entry returned none");
}

TEST(CheckTableTest, EachEmptySlotIsNamed) {
  using Table = loom_backend_v1;
  const struct {
    const char* name;
    std::function<void(Table&)> clear;
  } kSlots[] = {
      {"create", [](Table& table) { table.create = nullptr; }},
      {"destroy", [](Table& table) { table.destroy = nullptr; }},
      {"features", [](Table& table) { table.features = nullptr; }},
      {"survey", [](Table& table) { table.survey = nullptr; }},
      {"pieces", [](Table& table) { table.pieces = nullptr; }},
      {"probe", [](Table& table) { table.probe = nullptr; }},
      {"plan", [](Table& table) { table.plan = nullptr; }},
      {"render", [](Table& table) { table.render = nullptr; }},
      {"audit", [](Table& table) { table.audit = nullptr; }},
      {"start", [](Table& table) { table.start = nullptr; }},
      {"observe", [](Table& table) { table.observe = nullptr; }},
      {"targets", [](Table& table) { table.targets = nullptr; }},
      {"finish", [](Table& table) { table.finish = nullptr; }},
  };
  for (const auto& [name, clear] : kSlots) {
    SCOPED_TRACE(name);
    Table table = kGood;
    clear(table);

    const auto checked = check_table(&table);

    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kBackend);
    EXPECT_THAT(checked.error().message,
                ::testing::StartsWith("table: slot " + std::string(name) + " is empty"));
  }
}

}  // namespace
}  // namespace loom::host

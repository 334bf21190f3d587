#include <gtest/gtest.h>

#include "backends/seatbelt/audit.h"
#include "backends/seatbelt/machine.h"
#include "backends/seatbelt/render.h"
#include "backends/seatbelt/run_memo.h"

namespace loom::seatbelt::test {
namespace {

RunMemo full_memo() {
  return {.profile = "(version 1)\n",
          .definitions = {"A_0=/x\n\xff", "B_0=/y"},
          .stage2 = "/s",
          .cwd = "/w",
          .prepare = Bytes{std::byte{1}, std::byte{2}},
          .commit = Bytes{std::byte{3}},
          .counts = {.writable = 1,
                     .protected_paths = 2,
                     .bind_ro = 3,
                     .bind_rw = 4,
                     .exec_allow = 5,
                     .exec_deny = 6},
          .private_scratch = true,
          .shows_whole_host = false,
          .cuts_network = true,
          .confines_programs = false,
          .denies_unix_sockets = true,
          .lacks_fork_brake = true,
          .widened = {"mounts: x", "mounts: y"},
          .remarks = {"unheld:x=y"}};
}

// Every part of `bytes` and every change of one byte is read as what was written, or refused.
template <class Decode, class T>
void expect_strict(const Bytes& bytes, const T& written, Decode decode) {
  EXPECT_EQ(decode(bytes).value(), written);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode(ByteView(bytes).first(size)).has_value()) << size;
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer).has_value());
  Bytes other_version = bytes;
  other_version[1] = std::byte{2};
  EXPECT_FALSE(decode(other_version).has_value());
}

TEST(SeatbeltMemoTest, RoundTripsAndIsStrict) {
  // The array's header takes three bytes here, the version is the next.
  const Bytes bytes = encode(full_memo());
  EXPECT_EQ(decode_run_memo(bytes).value(), full_memo());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_run_memo(ByteView(bytes).first(size)).has_value()) << size;
  }
  Bytes other_version = bytes;
  other_version[3] = std::byte{2};
  EXPECT_FALSE(decode_run_memo(other_version).has_value());
}

TEST(SeatbeltMemoTest, PlansOfOthersAreRefused) {
  const JailPlan foreign{.backend = Bytes{std::byte{0xc0}}};
  EXPECT_FALSE(render(foreign).has_value());
  EXPECT_FALSE(audit(foreign).has_value());
}

TEST(SeatbeltMachineFactsTest, RoundTripAndAreStrict) {
  const MachineFacts facts{.user_directories = {"/var/T/", "/var/C/"}, .already_profiled = "no"};
  expect_strict(encode(facts), facts, [](ByteView bytes) { return decode_machine_facts(bytes); });
}

TEST(SeatbeltMachineFactsTest, NobodyProbed) {
  EXPECT_EQ(decode_machine_facts({}).value(), MachineFacts{});
}

}  // namespace
}  // namespace loom::seatbelt::test

#include "backends/bwrap/run_memo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine.h"

namespace loom::bwrap::test {
namespace {

RunMemo full_memo() {
  RunMemo memo;
  memo.jailed = true;
  memo.launcher_reason = "why";
  memo.network = NetworkMode::kProxy;
  memo.cpu_s = 3;
  memo.ceilings.pids = 64;
  memo.keep_caps = {13};
  memo.kernel = {.landlock_abi = 7, .landlock_reason = "a", .seccomp = true, .seccomp_reason = "b"};
  memo.machine = "x86_64";
  memo.scratch_is_tmpfs = false;
  memo.subjects = {{.role = PathRole::kMount,
                    .writable = true,
                    .present = true,
                    .written = path("/a\xff"),
                    .real = path("/b"),
                    .identity = {.device = 1, .inode = UINT64_MAX}}};
  memo.dropped = {1, 300};
  memo.links = {{.place = path("/l"), .target = "t"}};
  memo.link_remarks = {"mounts: x"};
  memo.hardened = true;
  memo.seals_memory = true;
  memo.commit = {std::byte{1}, std::byte{0}};
  return memo;
}

TEST(RunMemoTest, BytesComeBackAsTheyWent) {
  const auto back = decode_run_memo(encode(full_memo()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, full_memo());
}

TEST(RunMemoTest, EveryTruncationIsRefused) {
  const Bytes bytes = encode(full_memo());
  ASSERT_TRUE(decode_run_memo(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_run_memo(ByteView(bytes).first(size))) << size;
  }
}

}  // namespace
}  // namespace loom::bwrap::test

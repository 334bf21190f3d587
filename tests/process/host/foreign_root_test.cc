#include "host/foreign_root.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "host/mount_table.h"
#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

// Kernels before 5.12 do not tell (RESOLVE_CACHED), and nothing is known then.
std::uint64_t if_told(std::uint64_t number) { return kernel_is_at_least(5, 12) ? number : 0; }

// With a directory, a link to one where a mount begins, and nothing else.
class ForeignRootTest : public ::testing::Test {
 protected:
  ForeignRootTest() {
    std::filesystem::create_directory(plain());
    std::filesystem::create_symlink("/proc", link());
  }
  [[nodiscard]] std::string plain() const { return place_ / "plain"; }
  [[nodiscard]] std::string link() const { return place_ / "link"; }
  [[nodiscard]] std::string absent() const { return place_ / "absent"; }

 private:
  TemporaryDirectory place_;
};

// As the table has it; 0 where it has none.
std::uint64_t number_in_table(int pid, const std::string& point) {
  const auto table = MountTable::open(pid);
  const auto rows = table ? table->rows() : std::vector<MountRow>();
  if (!rows) return 0;
  std::uint64_t number = 0;
  for (const MountRow& row : *rows) {
    if (row.point.str() == point) number = row.id;
  }
  return number;
}

std::uint64_t number_at(int pid, const std::string& path) {
  const auto root = ForeignRoot::open(pid);
  return root ? root->mount_at(*AbsolutePath::parse(path)).value_or(0) : 0;
}

TEST_F(ForeignRootTest, AMountPointIsToldFromWhatIsNone) {
  const pid_t own = ::getpid();

  ASSERT_GT(number_in_table(own, "/proc"), 0u);
  EXPECT_EQ(number_at(own, "/proc"), if_told(number_in_table(own, "/proc")));
  EXPECT_EQ(number_at(own, plain()), 0u);
  EXPECT_EQ(number_at(own, absent()), 0u);
  EXPECT_EQ(number_at(own, link()), 0u) << "it leads to one";
  EXPECT_EQ(number_at(own, "/proc/self/root"), 0u) << "so does this";
}

// Two mounts at one place that only the other process has.
TEST_F(ForeignRootTest, TheUppermostMountOfTheOtherIsSeenAndNoneOfOurs) {
  Pipe ready = make_pipe();
  Pipe done = make_pipe();
  const std::string place = plain();
  const auto mount = [&place] { return ::mount("none", place.c_str(), "tmpfs", 0, nullptr) == 0; };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    done.write.reset();
    const bool own = ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && mount() && mount();
    char word = own ? 'y' : 'n';
    if (::write(ready.write.get(), &word, 1) == 1) {
      static_cast<void>(::read(done.read.get(), &word, 1) == 0);
    }
    ::_exit(0);
  }
  ready.write.reset();
  char word = 'n';
  EXPECT_EQ(::read(ready.read.get(), &word, 1), 1);

  const std::uint64_t seen = number_at(child, place);
  const std::uint64_t last = number_in_table(child, place);
  const std::uint64_t own = number_at(::getpid(), place);
  done.write.reset();
  ::waitpid(child, nullptr, 0);

  if (word != 'y') {
    LOOM_SKIP_UNLESS_PROMISED("no user namespace with mounts of its own can be made");
  }
  EXPECT_GT(last, 0u);
  EXPECT_EQ(seen, if_told(last));
  EXPECT_EQ(own, 0u);
}

TEST_F(ForeignRootTest, WhoeverIsNotThereHasNone) { EXPECT_FALSE(ForeignRoot::open(0x7fff'ffff)); }

}  // namespace
}  // namespace loom::host

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/exit_status.h"
#include "host/process_table.h"
#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

constexpr NamespaceKinds kNoOther{};
constexpr NamespaceKinds kPids{.pids = true};
constexpr NamespaceKinds kNetwork{.network = true};

// A process in a user namespace of its own and, apart from that, those of `flags`. It is the child
// of whoever made them, as only a child gets a new namespace of pids.
class Stranger {
 public:
  explicit Stranger(int flags) {
    Pipe told = make_pipe();
    parent_ = ::fork();
    if (parent_ == 0) {
      pid_t child = -1;
      if (::unshare(CLONE_NEWUSER | flags) == 0) child = ::fork();
      if (child != 0 && ::write(told.write.get(), &child, sizeof child) < 0) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    told.write.reset();
    if (::read(told.read.get(), &pid_, sizeof pid_) < 0) pid_ = -1;
    if (auto pidfd = open_pidfd(pid_)) pidfd_.reset(*pidfd);
  }
  ~Stranger() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    ::kill(parent_, SIGKILL);
    ::waitpid(parent_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  Stranger(Stranger&&) = delete;
  Stranger& operator=(Stranger&&) = delete;

  [[nodiscard]] bool made() const { return pid_ > 0; }
  // By its number alone, as where the kernel does not answer the other way, and by its descriptor
  // alone, next to a number that is ours.
  [[nodiscard]] bool shares(NamespaceKinds kinds) const {
    const bool shares = shares_namespaces(-1, pid_, kinds);
    EXPECT_EQ(shares_namespaces(pidfd_.get(), pid_, kinds), shares);
    if (kernel_is_at_least(6, 11)) {
      EXPECT_EQ(shares_namespaces(pidfd_.get(), ::getpid(), kinds), shares);
    }
    return shares;
  }

 private:
  pid_t parent_ = -1;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
};

TEST(NamespacesTest, WhoeverHasOurMountsSharesThem) {
  const auto child = spawn(probe({"sleep"}));
  ASSERT_TRUE(child && !child->failure);

  EXPECT_TRUE(shares_namespaces(child->pidfd.get(), child->pid, kNoOther));
  EXPECT_TRUE(shares_namespaces(-1, child->pid, kNoOther));

  ::kill(child->pid, SIGKILL);
  wait_for(child->pidfd.get());
}

TEST(NamespacesTest, EachKindThatIsAskedAboutIsTold) {
  const Stranger mounts(CLONE_NEWNS);
  const Stranger network(CLONE_NEWNS | CLONE_NEWNET);
  const Stranger pids(CLONE_NEWNS | CLONE_NEWPID);
  if (!mounts.made() || !network.made() || !pids.made()) {
    LOOM_SKIP_UNLESS_PROMISED("no user namespace can be made");
  }

  EXPECT_FALSE(mounts.shares(kNoOther));
  EXPECT_TRUE(mounts.shares(kNetwork));
  EXPECT_TRUE(mounts.shares(kPids));
  EXPECT_FALSE(network.shares(kNetwork));
  EXPECT_TRUE(network.shares(kPids));
  EXPECT_FALSE(pids.shares(kPids));
  EXPECT_TRUE(pids.shares(kNetwork));
}

}  // namespace
}  // namespace loom::host

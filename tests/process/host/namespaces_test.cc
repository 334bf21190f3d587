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

// A process in a user namespace of its own and, apart from that, those of `flags`.
class Stranger {
 public:
  explicit Stranger(int flags) {
    Pipe ready = make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) {
      const char word = ::unshare(CLONE_NEWUSER | flags) == 0 ? 'y' : 'n';
      if (::write(ready.write.get(), &word, 1) == 1) ::pause();
      ::_exit(0);
    }
    ready.write.reset();
    char word = 'n';
    made_ = ::read(ready.read.get(), &word, 1) == 1 && word == 'y';
    if (auto pidfd = open_pidfd(pid_)) pidfd_.reset(*pidfd);
  }
  ~Stranger() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  Stranger(Stranger&&) = delete;
  Stranger& operator=(Stranger&&) = delete;

  [[nodiscard]] bool made() const { return made_; }
  // By its descriptor, and by its number alone, as where the kernel does not answer the first way.
  [[nodiscard]] bool shares(NamespaceKinds kinds) const {
    const bool shares = shares_namespaces(pidfd_.get(), pid_, kinds);
    EXPECT_EQ(shares_namespaces(-1, pid_, kinds), shares);
    return shares;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  bool made_ = false;
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
  if (!mounts.made() || !network.made()) {
    LOOM_SKIP_UNLESS_PROMISED("no user namespace can be made");
  }

  EXPECT_FALSE(mounts.shares(kNoOther));
  EXPECT_TRUE(mounts.shares(kNetwork));
  EXPECT_TRUE(mounts.shares(kPids));
  EXPECT_FALSE(network.shares(kNetwork));
  EXPECT_TRUE(network.shares(kPids));
}

// Its child is the first process of a namespace of pids.
TEST(NamespacesTest, SoIsTheOneOfPids) {
  Pipe told = make_pipe();
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    pid_t child = -1;
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0) child = ::fork();
    if (child == 0) ::pause();
    if (::write(told.write.get(), &child, sizeof child) == sizeof child) ::pause();
    ::_exit(0);
  }
  told.write.reset();
  pid_t child = -1;
  EXPECT_EQ(::read(told.read.get(), &child, sizeof child), static_cast<ssize_t>(sizeof child));

  const auto opened = child > 0 ? open_pidfd(child) : Result<int>(-1);
  const UniqueFd pidfd(opened ? *opened : -1);
  const bool by_descriptor = shares_namespaces(pidfd.get(), child, kPids);
  const bool by_number = shares_namespaces(-1, child, kPids);
  if (child > 0) ::kill(child, SIGKILL);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);

  if (child <= 0) LOOM_SKIP_UNLESS_PROMISED("no user namespace can be made");
  EXPECT_FALSE(by_descriptor);
  EXPECT_FALSE(by_number);
}

}  // namespace
}  // namespace loom::host

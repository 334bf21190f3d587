#include "host/own_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace loom::host {
namespace {

void set(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  const struct rlimit limit { soft, hard };
  ::setrlimit(resource, &limit);
}

bool holds(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  struct rlimit limit {};
  return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur == soft && limit.rlim_max == hard;
}

// Limits stay with a process, so each case has one of its own. Which check failed is its status.
int first_failure(const std::function<int()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OwnLimitsTest, TheDescriptorLimitIsRaisedToTheHardOneAndRemembered) {
  EXPECT_EQ(first_failure([] {
              set(RLIMIT_NOFILE, 100, 300);
              set(RLIMIT_CORE, 1, 1);
              const OwnLimits limits = adjust_own_limits();
              if (!holds(RLIMIT_NOFILE, 300, 300)) return 1;
              if (limits.descriptors != 100U) return 2;
              if (limits.before.size() != 1 || limits.before[0].resource != RLIMIT_NOFILE) return 3;
              if (limits.before[0].soft != 100 || limits.before[0].hard != 300) return 4;
              return adjust_own_limits().descriptors ? 5 : 0;
            }),
            0);
}

TEST(OwnLimitsTest, TheHelperItselfDumpsNoCoreAndTheHardLimitStays) {
  const auto after = [](rlim_t soft, rlim_t hard, rlim_t due) {
    return first_failure([=] {
      set(RLIMIT_NOFILE, 100, 100);
      set(RLIMIT_CORE, soft, hard);
      const OwnLimits limits = adjust_own_limits();
      if (!holds(RLIMIT_CORE, due, hard)) return 1;
      if (limits.before.size() != (soft == due ? 0U : 1U)) return 2;
      return limits.before.empty() || limits.before[0].soft == soft ? 0 : 3;
    });
  };
  EXPECT_EQ(after(0, 1'000, 1), 0);
  EXPECT_EQ(after(1'000, 1'000, 1), 0);
  EXPECT_EQ(after(1, 1'000, 1), 0);
  EXPECT_EQ(after(0, 0, 0), 0);
}

}  // namespace
}  // namespace loom::host

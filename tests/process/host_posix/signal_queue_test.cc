#include "host/signal_queue.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <functional>

#include "process_support.h"

namespace loom::host {
namespace {

// Dispositions stay with a process, so each case has one of its own.
int first_failure(const std::function<int()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(SignalQueueTest, SignalsComeOneByOneAndEndNothing) {
  EXPECT_EQ(first_failure([] {
              const auto queue = queue_signals({SIGTERM, SIGINT});
              if (!queue || take_queued_signal(queue->get())) return 1;
              ::raise(SIGTERM);
              ::raise(SIGINT);
              if (!becomes_readable(queue->get(), 0)) return 2;
              if (take_queued_signal(queue->get()) != SIGTERM) return 3;
              if (take_queued_signal(queue->get()) != SIGINT) return 4;
              return take_queued_signal(queue->get()) ? 5 : 0;
            }),
            0);
}

TEST(SignalQueueTest, WhatTheCallerIgnoresStaysIgnored) {
  EXPECT_EQ(first_failure([] {
              ::signal(SIGHUP, SIG_IGN);
              const auto queue = queue_signals({SIGHUP, SIGTERM});
              if (!queue) return 1;
              ::raise(SIGHUP);
              if (becomes_readable(queue->get(), 0)) return 2;
              ::raise(SIGTERM);
              return take_queued_signal(queue->get()) == SIGTERM ? 0 : 3;
            }),
            0);
}

TEST(SignalQueueTest, AnotherSignalHasItsDefaultEffect) {
  EXPECT_EQ(first_failure([] {
              const auto queue = queue_signals({SIGTERM});
              ::raise(SIGUSR1);
              return 0;
            }),
            128 + SIGUSR1);
}

TEST(SignalQueueTest, ABlockedSignalIsQueuedToo) {
  EXPECT_EQ(first_failure([] {
              sigset_t some;
              ::sigemptyset(&some);
              ::sigaddset(&some, SIGTERM);
              ::sigprocmask(SIG_BLOCK, &some, nullptr);
              const auto queue = queue_signals({SIGTERM});
              ::raise(SIGTERM);
              return take_queued_signal(queue->get()) == SIGTERM ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace loom::host

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "backends/seatbelt/process_ledger.h"
#include "host/process_table.h"

namespace loom::seatbelt {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Not;

[[noreturn]] void sleep_for_good() {
  for (;;) ::pause();
}

// Writes the pid of a process that forks once more, leaves the session, and has then no parent of
// the run.
[[noreturn]] void escape(int report, int orphan_now) {
  if (::fork() != 0) {
    // The intermediate process stays until a first table has shown the chain.
    char word = 0;
    [[maybe_unused]] const ssize_t n = ::read(orphan_now, &word, 1);
    ::_exit(0);
  }
  ::setsid();
  const pid_t self = ::getpid();
  [[maybe_unused]] const ssize_t n = ::write(report, &self, sizeof self);
  sleep_for_good();
}

class LiveLedger : public ::testing::Test {
 protected:
  LiveLedger() {
    EXPECT_EQ(::pipe(report_.data()), 0);
    EXPECT_EQ(::pipe(orphan_now_.data()), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::setsid();
      if (::fork() == 0) escape(report_[1], orphan_now_[0]);
      ::wait(nullptr);
      sleep_for_good();
    }
    EXPECT_EQ(::read(report_[0], &escaped_, sizeof escaped_), ssize_t{sizeof escaped_});
    control_ = ::fork();
    if (control_ == 0) sleep_for_good();
  }
  ~LiveLedger() override {
    for (const pid_t pid : {escaped_, child_, control_}) ::kill(pid, SIGKILL);
    for (const pid_t pid : {child_, control_}) ::waitpid(pid, nullptr, 0);
    for (const int fd : report_) ::close(fd);
    for (const int fd : orphan_now_) ::close(fd);
  }

  [[nodiscard]] TargetsRequest read_snapshot(Rung rung = Rung::kTerm) const {
    auto table = host::read_process_table();
    EXPECT_TRUE(table) << table.error().message;
    return {.rung = rung, .child = child_, .table = table.value_or(std::vector<ProcessRow>())};
  }
  // The escaped process loses its parent, and with it the only link to the run.
  void orphan() {
    const std::int32_t parent = parent_of_escaped();
    EXPECT_EQ(::write(orphan_now_[1], "x", 1), 1);
    for (int i = 0; i < 5'000 && parent_of_escaped() == parent; ++i) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_NE(parent_of_escaped(), parent);
  }
  [[nodiscard]] std::int32_t parent_of_escaped() const {
    const auto row = host::read_process(escaped_);
    EXPECT_TRUE(row);
    return row ? row->parent : -1;
  }
  [[nodiscard]] static bool ends(pid_t pid) {
    for (int i = 0; i < 5'000; ++i) {
      const char state = host::read_process_state(pid);
      if (state == '\0' || state == 'Z') return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  std::array<int, 2> report_{};
  std::array<int, 2> orphan_now_{};
  pid_t child_ = -1;
  pid_t escaped_ = -1;
  pid_t control_ = -1;  // no descendant of the child
};

TEST_F(LiveLedger, EndsWhatHasLeftGroupAndParentAndNobodyElse) {
  ProcessLedger ledger;
  ledger.observe(read_snapshot());
  orphan();
  ASSERT_NE(::getpgid(escaped_), child_);

  Targets targets = ledger.targets(read_snapshot(Rung::kKill));
  // A row as the ledger would never give it: our bystander's number, of another birth.
  auto stranger = host::read_process(control_);
  ASSERT_TRUE(stranger);
  stranger->birth += 1;
  targets.processes.push_back(*stranger);
  std::vector<pid_t> reached;
  for (const ProcessRow& row : targets.processes) {
    EXPECT_NE(row.pid, child_);
    if (host::signal_process(row, SIGKILL)) reached.push_back(row.pid);
  }

  // The process between may be among them: nobody may have reaped it yet.
  EXPECT_THAT(reached, Contains(escaped_));
  EXPECT_THAT(reached, Not(Contains(control_)));
  EXPECT_TRUE(ends(escaped_));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(::waitpid(control_, nullptr, WNOHANG), 0);
  EXPECT_EQ(::waitpid(child_, nullptr, WNOHANG), 0);  // the group's signal is for that one
}

// What the ledger cannot do, and docs/platforms.md says so.
TEST_F(LiveLedger, MissesWhatLeftBeforeTheFirstTable) {
  orphan();
  ProcessLedger ledger;
  for (const ProcessRow& row : ledger.targets(read_snapshot(Rung::kKill)).processes) {
    EXPECT_NE(row.pid, escaped_);
  }
  EXPECT_EQ(::kill(escaped_, 0), 0);
}

}  // namespace
}  // namespace loom::seatbelt

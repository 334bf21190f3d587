#include "tests/bench/crew.h"

#include <fcntl.h>
#include <loom/check.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/bench/figures.h"

namespace loom::bench {
namespace {

constexpr char kWork = 'w';
constexpr char kEnd = 'e';
constexpr char kDone = 'd';

struct Pipe {
  Pipe() {
    int ends[2];
    LOOM_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

char hear(int fd) {
  char what = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd, &what, 1);
  } while (got < 0 && errno == EINTR);
  LOOM_CHECK(got == 1);
  return what;
}

void tell(int fd, char what) { LOOM_CHECK(::write(fd, &what, 1) == 1); }

void serve(int orders, int replies, const std::function<Crew::Work()>& make) {
  const Crew::Work work = make();
  for (;;) {
    tell(replies, kDone);
    if (hear(orders) == kEnd) return;
    work();
  }
}

}  // namespace

Crew::Crew(int count, const std::function<Work()>& make) {
  Pipe replies;
  for (int i = 0; i < count; ++i) {
    Pipe orders;
    const pid_t pid = ::fork();
    LOOM_CHECK(pid >= 0);
    if (pid == 0) {
      // Others hold the ends of our pipe too, so that no end of file would tell us.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(orders.read_end.get(), replies.write_end.get(), make);
      ::_exit(0);
    }
    pids_.push_back(pid);
    orders_.push_back(std::move(orders.write_end));
  }
  replies_ = std::move(replies.read_end);
  await_all();
}

Crew::~Crew() {
  tell_all(kEnd);
  for (const int pid : pids_) {
    int status = 0;
    LOOM_CHECK(::waitpid(pid, &status, 0) == pid && status == 0);
  }
}

double Crew::round() {
  return time_once([&] {
    tell_all(kWork);
    await_all();
  });
}

void Crew::tell_all(char what) {
  for (const UniqueFd& order : orders_) tell(order.get(), what);
}

void Crew::await_all() {
  for (std::size_t i = 0; i < pids_.size(); ++i) LOOM_CHECK(hear(replies_.get()) == kDone);
}

}  // namespace loom::bench

// A process whose main thread ends by itself, with 0, at the moment at which another thread ends
// the process: leaderless exit|crash PAUSE. The end is "exit 3", or SIGSEGV; which thread goes last
// is a race that PAUSE, in rounds of a loop, moves.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool crash = std::string_view(argv[1]) == "crash";
  const int pause = std::atoi(argv[2]);
  std::atomic<bool> going{false};
  std::thread other([&going, crash, pause] {
    going = true;
    for (int i = 0; i < pause; ++i) static_cast<void>(going.load());
    if (crash) ::raise(SIGSEGV);
    ::_exit(3);
  });
  while (!going) {
  }
  ::syscall(SYS_exit, 0);
}

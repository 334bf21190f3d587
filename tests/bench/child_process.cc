#include "tests/bench/child_process.h"

#include <fcntl.h>
#include <loom/check.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace loom::bench {
namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Pipe make_pipe() {
  int ends[2];
  LOOM_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

ChildProcess start_child(const ChildRequest& request) {
  ChildProcess child;
  Pipe in;
  Pipe out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (request.piped) {
    in = make_pipe();
    out = make_pipe();
    posix_spawn_file_actions_adddup2(&actions, in.read_end.get(), 0);
    posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  }
  for (const LentFd& lent : request.lent) {
    posix_spawn_file_actions_adddup2(&actions, lent.fd, lent.number);
  }
  std::vector<char*> argv;
  for (const std::string& word : request.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/bin:/bin";
  char* environment[] = {path, nullptr};
  LOOM_CHECK(::posix_spawn(&child.pid, argv.front(), &actions, nullptr, argv.data(), environment) ==
             0);
  posix_spawn_file_actions_destroy(&actions);
  child.in = std::move(in.write_end);
  child.out = std::move(out.read_end);
  return child;
}

int wait_for(const ChildProcess& child) {
  int status = 0;
  LOOM_CHECK(::waitpid(child.pid, &status, 0) == child.pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace loom::bench

#include "report/signal_name.h"

#include <csignal>
#include <string_view>

namespace loom {
namespace {

struct NamedSignal {
  int number;
  std::string_view name;
};

// Numbers differ between systems, so they come from the platform's own header.
constexpr NamedSignal kSignals[] = {
    {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},
    {SIGSEGV, "SIGSEGV"}, {SIGTERM, "SIGTERM"},
#ifdef SIGKILL  // the rest is POSIX
    {SIGKILL, "SIGKILL"}, {SIGHUP, "SIGHUP"},   {SIGQUIT, "SIGQUIT"}, {SIGTRAP, "SIGTRAP"},
    {SIGBUS, "SIGBUS"},   {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"},
    {SIGALRM, "SIGALRM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"},
    {SIGSYS, "SIGSYS"},   {SIGPROF, "SIGPROF"},
#endif
};

// Empty when the number has no name here.
std::string_view find_name(int signal) noexcept {
  for (const NamedSignal& row : kSignals) {
    if (row.number == signal) return row.name;
  }
  return {};
}

}  // namespace

std::string signal_name(int signal) {
  const std::string_view name = find_name(signal);
  return name.empty() ? "signal " + std::to_string(signal) : std::string(name);
}

bool is_cpu_limit_signal(int signal) noexcept { return find_name(signal) == "SIGXCPU"; }
bool is_file_limit_signal(int signal) noexcept { return find_name(signal) == "SIGXFSZ"; }

}  // namespace loom

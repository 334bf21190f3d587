// The helper on Windows. Server mode and the self-test's refusal; what a person uses is not there
// yet.
#include <loom/utf8.h>
#include <windows.h>
// After the header that it needs.
#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/self_test/gates.h"
#include "app/self_test/report_text.h"
#include "app/server_flags.h"
#include "app/windows/server.h"
#include "app/windows/session.h"
#include "host/windows/system_text.h"
#include "identity/identity_refusal.h"
#include "policy/decode_policy.h"

namespace loom::windows {
namespace {

constexpr int kPolicyDescriptor = 3;
constexpr int kNoJail = 125;    // no jail can be planned on this machine (docs/run.md)
constexpr int kNoStage2 = 126;  // docs/wire.md 8.1

int refuse(std::string_view message) {
  std::fprintf(stderr, "loom-exec: %s\n", printable(message).c_str());
  return 1;
}

// The descriptor is one of the C runtime's: whoever spawns the helper hands it over in
// STARTUPINFO.lpReserved2, as the spawn functions of that runtime do. At most the ceiling is read;
// what is longer then fails as a truncated document.
Result<Policy> read_base_policy() {
  const auto file = reinterpret_cast<HANDLE>(::_get_osfhandle(kPolicyDescriptor));
  if (file == INVALID_HANDLE_VALUE || file == nullptr) {
    return fail(ErrorCode::kSystem, "descriptor 3: not open");
  }
  Bytes document(kMaxBasePolicyBytes);
  std::size_t size = 0;
  while (size < document.size()) {
    DWORD got = 0;
    const DWORD most = static_cast<DWORD>(document.size() - size);
    if (::ReadFile(file, document.data() + size, most, &got, nullptr) == 0) {
      const DWORD error = ::GetLastError();
      if (error == ERROR_BROKEN_PIPE) break;
      return system_failure("descriptor 3", error);
    }
    if (got == 0) break;
    size += got;
  }
  document.resize(size);
  ::_close(kPolicyDescriptor);
  if (document.empty()) return fail(ErrorCode::kInvalidRequest, "descriptor 3: empty");
  return decode_policy(document);
}

Result<std::unique_ptr<Session>> open_session(app::ServerFlags flags) {
  LOOM_TRY(const Installation installation, find_installation());
  return Session::open(installation, {.backend = std::move(flags.backend),
                                      .demand = flags.demand,
                                      .keep_capabilities = std::move(flags.keep_capabilities),
                                      .deny_unix_sockets = flags.deny_unix_sockets});
}

int serve(int argc, const char* const* argv) {
  auto flags = app::parse_server_flags(argc, argv);
  if (!flags) return app::usage_error(flags.error());
  const bool unenforced = flags->allow_unenforced;
  auto policy = read_base_policy();
  if (!policy) return refuse(policy.error().message);
  auto session = open_session(std::move(*flags));
  if (!session) return refuse(session.error().message);
  const std::string& refusal = (*session)->features().refusal;
  if (!refusal.empty() && !unenforced) return refuse(refusal);
  auto server = Server::open(**session, std::move(*policy), ::GetStdHandle(STD_INPUT_HANDLE),
                             ::GetStdHandle(STD_OUTPUT_HANDLE));
  if (!server) return refuse(server.error().message);
  const int status = (*server)->serve();
  // A thread may block in a read of the broker's pipe for as long as the broker lives: it ends with
  // the process, and nothing that it uses goes before.
  std::fflush(stderr);
  std::_Exit(status);
}

// Nothing is attempted: there is no layer to probe.
int self_test(int argc, const char* const* argv) {
  app::ServerFlags flags;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string quoted = "\"" + escaped(word, 256) + "\"";
    if (word != "--backend" && word != "--cgroup-base") {
      return app::usage_error("unknown argument " + quoted);
    }
    if (i + 1 == argc) return app::usage_error(quoted + " needs a value");
    (word == "--backend" ? flags.backend : flags.cgroup_base) = argv[++i];
  }
  const auto session = open_session(std::move(flags));
  if (!session) return refuse("self-test: " + session.error().message);
  const auto gate = app::platform_gate((*session)->facts().os, /*backend_has_jail=*/true);
  const std::string text = app::render_heading((*session)->features().tags) +
                           (gate ? app::render_not_run(*gate) : std::string());
  std::fputs(text.c_str(), stdout);
  return 1;
}

int refuse_identity() {
  const std::string line =
      "loom-exec: " + std::string(refusal_text(IdentityRefusal::kPlatform)) + "\n";
  for (std::FILE* stream : {stdout, stderr}) std::fputs(line.c_str(), stream);
  return 1;
}

int refuse_subcommand(std::string_view name) {
  std::fprintf(stderr,
               "loom-exec: '%s' is not part of the Windows build: there is no jail to run, plan or "
               "explain here; a broker is served with --allow-unenforced\n",
               std::string(name).c_str());
  return kNoJail;
}

int dispatch(int argc, const char* const* argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--exec") {
    std::fputs("loom-exec[stage2]: Windows has no inner stage\n", stderr);
    return kNoStage2;
  }
  if (first == "--publish-git-identity") return refuse_identity();
  if (first == "--help" || first == "-h") {
    app::print_usage();
    return 0;
  }
  if (first == "--self-test") return self_test(argc - 2, argv + 2);
  if (first == "run" || first == "plan" || first == "why") return refuse_subcommand(first);
  return serve(argc - 1, argv + 1);
}

// The command line as UTF-8; half a surrogate pair in it becomes U+FFFD.
std::vector<std::string> arguments() {
  int count = 0;
  wchar_t** const wide = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> words;
  for (int i = 0; wide != nullptr && i < count; ++i) words.push_back(to_utf8(wide[i]));
  ::LocalFree(wide);
  return words;
}

// A descriptor that is not open is an answer, not a reason to end.
void ignore_invalid_parameter(const wchar_t*, const wchar_t*, const wchar_t*, unsigned, uintptr_t) {
}

void prepare_process() {
  // Security: no library comes from the directory the helper was started in, or from PATH.
  ::SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32);
  // Commands inherit it: what crashes or finds no disk ends, and asks nobody.
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  ::_set_invalid_parameter_handler(&ignore_invalid_parameter);
  // What consumers compare byte by byte.
  for (const int each : {1, 2}) ::_setmode(each, _O_BINARY);
}

}  // namespace
}  // namespace loom::windows

int main() noexcept {
  loom::windows::prepare_process();
  const std::vector<std::string> words = loom::windows::arguments();
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  return loom::windows::dispatch(static_cast<int>(words.size()), argv.data());
}

#include "bare/die.h"

#include <loom/check.h>
#include <unistd.h>

#include <cstring>

namespace loom::bwrap {

void die(const char* why) noexcept {
  static constexpr char kPrefix[] = "loom-exec[stage2]: ";
  static constexpr int kRefused = 126;
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, kPrefix, sizeof kPrefix - 1);
  written = ::write(STDERR_FILENO, why, std::strlen(why));
  written = ::write(STDERR_FILENO, "\n", 1);
  ::_exit(kRefused);
}

}  // namespace loom::bwrap

namespace loom {
void check_failed(const char* condition, const char*, int) noexcept { bwrap::die(condition); }
}  // namespace loom

// Whatever would throw or abort ends here. So nothing is ever thrown: the rest of the exception
// machinery is only named by what is compiled with exceptions, and never reached.
// NOLINTBEGIN(cert-dcl58-cpp,bugprone-reserved-identifier): the library's own names
namespace std {
void terminate() noexcept { loom::bwrap::die("terminated"); }
void __throw_length_error(const char* what) { loom::bwrap::die(what); }
void __throw_logic_error(const char* what) { loom::bwrap::die(what); }
void __throw_out_of_range_fmt(const char* what, ...) { loom::bwrap::die(what); }
void __throw_bad_alloc() { loom::bwrap::die("out of memory"); }
void __throw_bad_array_new_length() { loom::bwrap::die("out of memory"); }
void __glibcxx_assert_fail(const char*, int, const char*, const char* condition) noexcept {
  loom::bwrap::die(condition);
}
}  // namespace std

extern "C" {
[[noreturn]] void abort() noexcept { loom::bwrap::die("aborted"); }
[[noreturn]] void __stack_chk_fail() { loom::bwrap::die("stack overrun"); }
[[noreturn]] void _Unwind_Resume() { loom::bwrap::die("unwinding"); }
[[noreturn]] void __gxx_personality_v0() { loom::bwrap::die("unwinding"); }
[[noreturn]] void __cxa_begin_catch() { loom::bwrap::die("unwinding"); }
[[noreturn]] void __cxa_end_catch() { loom::bwrap::die("unwinding"); }
[[gnu::used]] void* exception_type_info asm("_ZTISt9exception") = nullptr;
}
// NOLINTEND(cert-dcl58-cpp,bugprone-reserved-identifier)

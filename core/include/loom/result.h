#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace loom {

enum class ErrorCode : std::uint8_t {
  kInvalidRequest,  // the caller sent something we refuse to interpret
  kDenied,          // understood, and forbidden by policy
  kUnsupported,     // this backend or kernel cannot do it
  kBackend,         // the backend broke its contract
  kSystem,          // a system call failed; see sys_errno
};

struct Error {
  ErrorCode code = ErrorCode::kSystem;
  std::string message{};  // for people; never parsed. Names the thing and the step
  int sys_errno = 0;      // 0 when no system call was involved

  friend bool operator==(const Error&, const Error&) = default;
};

// A value or an Error. [[nodiscard]] is the reason this is a class and not an alias.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  using Base = tl::expected<T, Error>;

 public:
  using Base::Base;
  Result(Base base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor)
};

// Builds the error side of any Result: `return fail(ErrorCode::kDenied, "bind /srv: is a link");`
// The text of `sys_errno` is not added; write it where a person needs it (errno_text).
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                int sys_errno = 0) {
  return tl::unexpected<Error>(
      Error{.code = code, .message = std::move(message), .sys_errno = sys_errno});
}

}  // namespace loom

#define LOOM_JOIN_IMPL_(a, b) a##b
#define LOOM_JOIN_(a, b) LOOM_JOIN_IMPL_(a, b)
#define LOOM_TRY_IMPL_(name, decl, expr)                     \
  auto name = (expr);                                        \
  if (!name) return tl::unexpected(std::move(name).error()); \
  decl = std::move(*name)

// Binds the value of `expr` or returns its error: LOOM_TRY(const auto plan, make_plan(policy));
#define LOOM_TRY(decl, expr) LOOM_TRY_IMPL_(LOOM_JOIN_(loom_try_, __LINE__), decl, expr)

// The same for a Result<void>.
#define LOOM_TRY_VOID(expr)                              \
  do {                                                   \
    if (auto loom_r_ = (expr); !loom_r_) {               \
      return tl::unexpected(std::move(loom_r_).error()); \
    }                                                    \
  } while (false)

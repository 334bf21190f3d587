#pragma once

#include <windows.h>

#include <utility>

namespace loom::windows {

// Sole owner of a handle, or of nothing. Null and INVALID_HANDLE_VALUE are both nothing.
class UniqueHandle {
 public:
  UniqueHandle() noexcept = default;
  explicit UniqueHandle(HANDLE handle) noexcept
      : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() noexcept { reset(); }

  [[nodiscard]] HANDLE get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  void reset() noexcept {
    const HANDLE old = std::exchange(handle_, nullptr);
    if (old != nullptr) ::CloseHandle(old);
  }

 private:
  HANDLE handle_ = nullptr;
};

}  // namespace loom::windows

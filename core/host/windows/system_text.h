#pragma once

#include <loom/result.h>

#include <string>
#include <string_view>

namespace loom::windows {

// UTF-8 to what the system takes. kInvalidRequest for text that is no UTF-8 (nothing is replaced:
// two names must not become one).
[[nodiscard]] Result<std::wstring> to_wide(std::string_view utf8);

// What the system said, as UTF-8. Half a surrogate pair, which names on disk may hold, becomes
// U+FFFD.
[[nodiscard]] std::string to_utf8(std::wstring_view wide);

// The errno that stands for a number of GetLastError in reports and outcomes; EIO for what has
// none.
[[nodiscard]] int errno_of(unsigned long error) noexcept;

// A failed call, kSystem: "pipe: Windows error 5".
[[nodiscard]] tl::unexpected<Error> system_failure(const std::string& what, unsigned long error);

}  // namespace loom::windows

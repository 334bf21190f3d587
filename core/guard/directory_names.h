#pragma once

#include <loom/unique_fd.h>

#include <cstddef>
#include <functional>
#include <string_view>

namespace loom::guard {

// How a directory says what an entry is (DT_…); not to be relied on where it grants something.
using EntryType = unsigned char;

// A handle for listing what any handle of a directory denotes; invalid with errno set.
[[nodiscard]] UniqueFd open_for_listing(int directory) noexcept;

// Tells each name but "." and ".." until `tell` says false; the listing handle stays the caller's.
// 0, or the errno that kept the kernel from telling all.
[[nodiscard]] int each_name(int listing,
                            const std::function<bool(std::string_view, EntryType)>& tell);

// Whether an errno says that this process has nothing left to open it with.
[[nodiscard]] bool is_out_of_resources(int error) noexcept;

}  // namespace loom::guard

#pragma once

#include <loom/result.h>
#include <loom/value.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What every part of a policy document is read with. Views live as long as the document.
namespace loom {

// "expected <what>, found <the type or fault that was found instead>".
[[nodiscard]] std::string expected(std::string_view what, const Value& found);

// Text travels as str, or as bin where it is not UTF-8.
[[nodiscard]] bool is_string(const Value& value) noexcept;

// The value quoted if it is a string, else what type it is of: the subject of "… is neither".
[[nodiscard]] std::string quoted_or_type(const Value& value);

// "list[index]".
[[nodiscard]] std::string element(std::string_view list, std::size_t index);

// Keys of `map` that are not in `known`, sorted.
[[nodiscard]] std::vector<std::string_view> unknown_keys(const Value& map,
                                                         std::span<const std::string_view> known);

// Refuses keys of `map` that are not in `known`, and the first of `required` that it lacks.
// Messages begin with `place`.
[[nodiscard]] Result<void> check_keys(const Value& map, std::span<const std::string_view> known,
                                      std::span<const std::string_view> required,
                                      const std::string& place);

}  // namespace loom

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "report/denial.h"

namespace loom {

// The record as a JSON object, for a larger document. Holds valid UTF-8 only.
[[nodiscard]] nlohmann::ordered_json denial_value(const Denial& denial);

// A rule alone; null for none.
[[nodiscard]] nlohmann::ordered_json rule_value(const std::optional<DenialRule>& rule);

// A path for a JSON document, which has no bytes: what is not UTF-8 is escaped, hence shown and not
// kept.
[[nodiscard]] std::string json_path(std::string_view path);

}  // namespace loom

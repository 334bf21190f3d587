#include <algorithm>
#include <string_view>

#include "backends/bwrap/render_argv.h"
#include "wrapped.h"

// The launcher is not given one option.

namespace loom::bwrap {
namespace {

// With the NUL that ends each word.
constexpr std::string_view kWithheld(LOOM_WITHHELD_OPTION, sizeof LOOM_WITHHELD_OPTION);

}  // namespace

using View = std::vector<MountOperation>;
Bytes real_options(const View& view, const RunMemo& memo) LOOM_REAL;
Bytes options_without_one(const View& view, const RunMemo& memo) LOOM_OURS;

Bytes options_without_one(const View& view, const RunMemo& memo) {
  Bytes options = real_options(view, memo);
  const ByteView word = as_bytes(kWithheld);
  const auto found = std::search(options.begin(), options.end(), word.begin(), word.end());
  if (found != options.end())
    options.erase(found, found + static_cast<std::ptrdiff_t>(word.size()));
  return options;
}

}  // namespace loom::bwrap

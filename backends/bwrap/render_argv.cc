#include "render_argv.h"

#include <loom/digest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace loom::bwrap {
namespace {

constexpr std::array<std::string_view, 6> kNamespaceOptions = {
    "--die-with-parent", "--unshare-pid",      "--unshare-ipc",
    "--unshare-uts",     "--unshare-user-try", "--unshare-cgroup-try"};
constexpr std::string_view kCutNetwork = "--unshare-net";
// bubblewrap's own root stays a writable, unbounded tmpfs unless told otherwise.
constexpr std::array<std::string_view, 2> kCloseRoot = {"--remount-ro", "/"};

constexpr std::size_t kDigits = 16;

// The words of one operation; borrows its region.
struct Fragment {
  std::array<std::string_view, 4> words;
  std::size_t size = 0;

  [[nodiscard]] auto begin() const { return words.begin(); }
  [[nodiscard]] auto end() const { return words.begin() + static_cast<std::ptrdiff_t>(size); }
};

Fragment fragment(const MountOperation& operation) {
  const std::string_view at = operation.region.str();
  switch (operation.form) {
    case MountForm::kNone:
      return {};
    case MountForm::kBind:
      return {{"--bind", at, at, {}}, 3};
    case MountForm::kBindTry:
      return {{"--bind-try", at, at, {}}, 3};
    case MountForm::kReadOnlyBind:
      return {{"--ro-bind", at, at, {}}, 3};
    case MountForm::kReadOnlyBindTry:
      return {{"--ro-bind-try", at, at, {}}, 3};
    case MountForm::kTmpfs:
      return {{"--tmpfs", at, {}, {}}, 2};
    case MountForm::kEmptyDirectory:
      return {{"--tmpfs", at, "--remount-ro", at}, 4};
    case MountForm::kNullDevice:
      return {{"--ro-bind", "/dev/null", at, {}}, 3};
    case MountForm::kProc:
      return {{"--proc", at, {}, {}}, 2};
    case MountForm::kDev:
      return {{"--dev", at, {}, {}}, 2};
  }
  return {};
}

void append_text(std::string& text, const MountOperation& operation) {
  bool first = true;
  for (const std::string_view word : fragment(operation)) {
    if (!first) text += ' ';
    text += word;
    first = false;
  }
}

void append_option(Bytes& options, std::string_view word) {
  const ByteView bytes = as_bytes(word);
  options.insert(options.end(), bytes.begin(), bytes.end());
  options.push_back(std::byte{0});
}

template <class Words>
void append_options(Bytes& options, const Words& words) {
  for (const std::string_view word : words) append_option(options, word);
}

void append_view(Bytes& options, const std::vector<MountOperation>& view, const RunMemo& memo) {
  auto dropped = memo.dropped.begin();
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (dropped != memo.dropped.end() && *dropped == i) {
      ++dropped;
      continue;
    }
    append_options(options, fragment(view[i]));
  }
}

}  // namespace

std::string fragment_text(const MountOperation& operation) {
  std::string text;
  append_text(text, operation);
  return text;
}

std::vector<std::string> canonical_argv(const std::vector<MountOperation>& view, bool cut_network) {
  std::vector<std::string> argv(std::begin(kNamespaceOptions), std::end(kNamespaceOptions));
  argv.reserve(argv.size() + 3 * view.size() + 3);
  if (cut_network) argv.emplace_back(kCutNetwork);
  for (const MountOperation& operation : view) {
    for (const std::string_view word : fragment(operation)) argv.emplace_back(word);
  }
  argv.insert(argv.end(), std::begin(kCloseRoot), std::end(kCloseRoot));
  return argv;
}

std::string view_digest(const std::vector<MountOperation>& view) {
  std::string text;
  for (const MountOperation& operation : view) {
    append_text(text, operation);
    text += '\n';
  }
  return sha256_hex(as_bytes(text)).substr(0, kDigits);
}

Bytes executed_options(const std::vector<MountOperation>& view, const RunMemo& memo) {
  Bytes options;
  append_options(options, kNamespaceOptions);
  if (memo.cuts_network()) append_option(options, kCutNetwork);
  append_view(options, view, memo);
  for (const HostLink& link : memo.links) {
    append_option(options, "--symlink");
    append_option(options, link.target);
    append_option(options, link.place.str());
  }
  append_options(options, kCloseRoot);
  return options;
}

}  // namespace loom::bwrap

#include "render_argv.h"

#include <loom/digest.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

#include "launcher_options.h"
#include "mount_steps.h"

namespace loom::bwrap {
namespace {

constexpr std::size_t kDigits = 16;

// The words of one operation; borrows where it goes.
struct Fragment {
  std::array<std::string_view, 6> words;
  std::size_t size = 0;

  [[nodiscard]] auto begin() const { return words.begin(); }
  [[nodiscard]] auto end() const { return words.begin() + static_cast<std::ptrdiff_t>(size); }
};

Fragment fragment(const MountOperation& operation, std::string_view at) {
  switch (operation.form) {
    case MountForm::kNone:
    case MountForm::kRule:  // of another backend
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
    case MountForm::kClosedDirectory:
      return {closed_mask_options(at), 6};
    case MountForm::kNullDevice:
      return {{"--ro-bind", "/dev/null", at, {}}, 3};
    case MountForm::kProc:
      return {{"--proc", at, {}, {}}, 2};
    case MountForm::kDev:
      return {{"--dev", at, {}, {}}, 2};
  }
  return {};
}

Fragment fragment(const MountOperation& operation) {
  return fragment(operation, operation.region.str());
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

void append_bytes(Bytes& options, const Bytes& more) {
  options.insert(options.end(), more.begin(), more.end());
}

template <class Words>
void append_options(Bytes& options, const Words& words) {
  for (const std::string_view word : words) append_option(options, word);
}

// A view as words. The view and the memo outlive it.
class ExecutedView {
 public:
  ExecutedView(const std::vector<MountOperation>& view, const RunMemo& memo)
      : view_(&view), memo_(&memo), steps_(mount_steps(view, memo)), numbers_(view.size(), -1) {
    for (const LentSource& source : lent_sources(view, memo)) {
      numbers_[source.index] = source.number;
    }
  }

  [[nodiscard]] Bytes take() {
    for (const std::size_t index : steps_.first) append_first(index);
    if (!steps_.exposed.empty()) cover_host();
    for (const std::size_t index : steps_.exposed) {
      if (std::binary_search(steps_.linked.begin(), steps_.linked.end(), index)) {
        append_linked(index);
      } else {
        append_exposed(index, (*view_)[index].region.str());
      }
    }
    return std::move(options_);
  }

 private:
  void append(std::initializer_list<std::string_view> words) { append_options(options_, words); }

  void append_first(std::size_t index) {
    const MountOperation& operation = (*view_)[index];
    if (operation.form == MountForm::kProc) {
      append_options(options_, proc_options(memo_->kernel.launcher));
    } else if (operation.form == MountForm::kDev) {
      append_options(options_, device_options(memo_->kernel.launcher));
    } else if (numbers_[index] < 0) {
      append_options(options_, fragment(operation));
    } else {
      append_by_handle(index, operation.region.str());
    }
  }

  void append_by_handle(std::size_t index, std::string_view at) {
    const bool writable = is_host_writable((*view_)[index].mount_class);
    append({writable ? "--bind-fd" : "--ro-bind-fd", std::to_string(numbers_[index]), at});
  }

  void cover_host() {
    for (const std::size_t index : steps_.exposed) {
      if (numbers_[index] >= 0) append_by_handle(index, aside(numbers_[index]));
    }
    append_options(options_, cover_options());
  }

  // mkdir(2) makes nothing where a link that leads nowhere has the name already.
  void append_linked(std::size_t index) {
    const MountOperation& operation = (*view_)[index];
    const AbsolutePath target = link_target(operation);
    const auto [known, fresh] = places_.try_emplace(target, led_place(target, index));
    const LedPlace& led = known->second;
    if (fresh) append({"--symlink", led.target, led.place});
    const bool beside = operation.form == MountForm::kNullDevice;
    append_exposed(index,
                   beside ? led.place + "/" + std::string(operation.region.name()) : led.place);
  }

  // With an option that does not tolerate a missing source, bubblewrap would end
  // (launcher_options.h).
  void append_exposed(std::size_t index, std::string_view at) {
    const MountOperation& operation = (*view_)[index];
    if (numbers_[index] >= 0) {
      const bool writable = is_host_writable(operation.mount_class);
      append({writable ? "--bind-try" : "--ro-bind-try", aside(numbers_[index]), at});
    } else if (operation.form == MountForm::kNullDevice) {
      append({"--ro-bind-try", kAsideNull, at});
    } else {
      append_options(options_, fragment(operation, at));
    }
  }

  const std::vector<MountOperation>* view_;
  const RunMemo* memo_;
  MountSteps steps_;
  std::vector<int> numbers_;  // by index; -1: not given by handle
  std::map<AbsolutePath, LedPlace> places_;
  Bytes options_;
};

}  // namespace

std::string fragment_text(const MountOperation& operation) {
  std::string text;
  append_text(text, operation);
  return text;
}

std::vector<std::string> canonical_argv(const std::vector<MountOperation>& view, bool cut_network) {
  const auto namespaces = namespace_options(LauncherFacts{}, {.cuts_network = cut_network});
  std::vector<std::string> argv(namespaces.begin(), namespaces.end());
  argv.reserve(argv.size() + 3 * view.size() + 2);
  for (const MountOperation& operation : view) {
    for (const std::string_view word : fragment(operation)) argv.emplace_back(word);
  }
  const auto close = close_root_options();
  argv.insert(argv.end(), close.begin(), close.end());
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
  append_options(
      options, namespace_options(memo.kernel.launcher,
                                 {.cuts_network = memo.cuts_network(), .hardened = memo.hardened}));
  append_bytes(options, ExecutedView(view, memo).take());
  for (const HostLink& link : memo.links) {
    append_option(options, "--symlink");
    append_option(options, link.target);
    append_option(options, link.place.str());
  }
  append_options(options, close_root_options());
  return options;
}

}  // namespace loom::bwrap

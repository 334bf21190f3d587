#include <loom/utf8.h>

#include <algorithm>
#include <cstring>

#include "../elf_symbols.h"
#include "../instance.h"

namespace loom::conformance {
namespace {

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxBuildTag = 512;

void judge_table(const Subject& subject, Judgement& judgement) {
  const loom_backend_v1* const table = load(subject, judgement);
  if (table == nullptr) return;
  if (table->reserved != 0) judgement.breach("the table's reserved field is not 0");
  RecordingHost host;
  const auto first = Instance::make(*table, host, judgement);
  const auto second = Instance::make(*table, host, judgement);
  if (!first) return judgement.breach("create: " + first.error().message);
  if (!second) return judgement.breach("a second create: " + second.error().message);
}

// A name stands in commands, file names and messages.
bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), plain);
}

bool is_shown_as_it_is(std::string_view text) { return printable(text, text.size() + 1) == text; }

void judge_names(const Subject& subject, Judgement& judgement) {
  const loom_backend_v1* const table = load(subject, judgement);
  if (table == nullptr) return;
  const std::size_t name = ::strnlen(table->name, kMaxName + 1);
  const std::size_t version = ::strnlen(table->version, kMaxName + 1);
  const std::size_t tag = ::strnlen(table->build_tag, kMaxBuildTag + 1);
  if (name > kMaxName || !is_name({table->name, name})) {
    judgement.breach("the name is not made of a-z, 0-9, '-', '_' and '.', 64 at most: " +
                     escaped({table->name, std::min(name, kMaxName)}));
  }
  if (version > kMaxName || !is_shown_as_it_is({table->version, version})) {
    judgement.breach("the version is not printable text of at most 64 bytes");
  }
  if (tag > kMaxBuildTag || !is_shown_as_it_is({table->build_tag, tag})) {
    judgement.breach("the build tag is not printable text of at most 512 bytes");
  }
}

void judge_symbols(const Subject& subject, Judgement& judgement) {
  const auto names = exported_symbols(subject.backend);
  if (!names) return judgement.unjudged(names.error().message);
  for (const std::string& name : *names) {
    if (name != LOOM_BACKEND_ENTRY_NAME) judgement.breach("exports " + name + " besides its entry");
  }
  const bool entry =
      std::find(names->begin(), names->end(), LOOM_BACKEND_ENTRY_NAME) != names->end();
  if (!entry) judgement.breach("does not export " LOOM_BACKEND_ENTRY_NAME);
}

}  // namespace

std::vector<Check> load_checks() {
  return {
      {"load.table",
       "The helper's loader takes the file: owner, mode, entry symbol, magic, ABI, size, no empty "
       "slot; and instances can be made.",
       judge_table},
      {"load.names", "The static names are short, NUL-terminated and printable.", judge_names},
      {"load.one-symbol", "The library exports its entry and nothing else.", judge_symbols},
  };
}

}  // namespace loom::conformance

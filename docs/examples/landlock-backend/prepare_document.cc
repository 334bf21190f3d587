#include "prepare_document.h"

#include <loom/value.h>

#include <limits>

namespace landlock {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 13;

void write_limit(loom::ValueWriter& out, const std::optional<std::uint64_t>& limit) {
  if (limit) {
    out.number(*limit);
  } else {
    out.nil();
  }
}

// A second later the hard limit kills what ignored the first signal.
std::optional<std::uint64_t> hard_cpu_s(const std::optional<std::uint64_t>& soft) {
  if (!soft || *soft == std::numeric_limits<std::uint64_t>::max()) return soft;
  return *soft + 1;
}

}  // namespace

loom::Bytes encode(const PrepareDocument& document) {
  loom::ValueWriter out;
  out.array(kFields);
  out.number(kVersion);
  out.number(document.abi);
  out.number(document.handled_files);
  out.number(document.handled_tcp);
  out.number(document.scopes);
  out.array(document.rules.size());
  for (const Rule& rule : document.rules) {
    out.array(4);
    out.name(rule.path);
    out.number(rule.access);
    out.number(rule.identity.device);
    out.number(rule.identity.inode);
  }
  out.binary(document.filter);
  out.boolean(document.cuts_network);
  out.boolean(document.denies_unix);
  write_limit(out, document.file_bytes);
  write_limit(out, document.cpu_s);
  write_limit(out, hard_cpu_s(document.cpu_s));
  write_limit(out, document.descriptors);
  return out.take();
}

}  // namespace landlock

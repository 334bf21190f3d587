#include "identity/render_gitconfig.h"

#include <string_view>

namespace loom {
namespace {

// What stands behind the backslash in the five escapes that git's configuration knows; 0: literal.
char escape_of(char byte) noexcept {
  switch (byte) {
    case '\\':
    case '"':
      return byte;
    case '\n':
      return 'n';
    case '\t':
      return 't';
    case '\b':
      return 'b';
    default:
      return 0;
  }
}

void append_variable(std::string& file, std::string_view name,
                     const std::optional<std::string>& value) {
  if (!value) return;
  file.append("\t").append(name).append(" = \"");
  for (const char byte : *value) {
    const char escape = escape_of(byte);
    if (escape != 0) file += '\\';
    file += escape != 0 ? escape : byte;
  }
  file += "\"\n";
}

}  // namespace

IdentityResult<std::string> render_gitconfig(const GitIdentity& identity,
                                             std::optional<std::uint64_t> file_bytes) {
  std::string file = "[user]\n\tuseConfigOnly = true\n";
  append_variable(file, "name", identity.name);
  append_variable(file, "email", identity.email);
  if (file.size() > kMaxGitconfigBytes) return tl::unexpected(IdentityRefusal::kFileTooLong);
  if (file_bytes && file.size() > *file_bytes) {
    return tl::unexpected(IdentityRefusal::kFileOverPolicyLimit);
  }
  return file;
}

}  // namespace loom

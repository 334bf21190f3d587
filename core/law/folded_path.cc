#include "law/folded_path.h"

#include "law/name_key.h"

namespace loom::law {

FoldedPath::FoldedPath(const AbsolutePath& path) {
  if (path.is_root()) return;
  std::string_view rest = std::string_view(path.str()).substr(1);
  while (true) {
    const std::size_t end = rest.find('/');
    text_ += '/';
    text_ += name_key(rest.substr(0, end));
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

bool FoldedPath::is_within(const FoldedPath& ancestor) const noexcept {
  return text_.starts_with(ancestor.text_) &&
         (text_.size() == ancestor.text_.size() || text_[ancestor.text_.size()] == '/');
}

std::string_view FoldedPath::name() const noexcept {
  return std::string_view(text_).substr(text_.rfind('/') + 1);
}

}  // namespace loom::law

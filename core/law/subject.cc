#include "law/subject.h"

#include <algorithm>
#include <utility>

namespace loom::law {

Subject::Subject(Kind kind, AbsolutePath real, Passage passage)
    : kind_(kind), real_(std::move(real)), folded_(real_), passage_(std::move(passage)) {}

Subject Subject::file(AbsolutePath real, Passage passage) {
  return {Kind::kFile, std::move(real), std::move(passage)};
}

Subject Subject::inside(AbsolutePath directory, Passage passage) {
  return {Kind::kInside, std::move(directory), std::move(passage)};
}

bool Subject::touched(const FileIdentity& directory) const noexcept {
  return passage_.directory == directory ||
         std::find(passage_.passed.begin(), passage_.passed.end(), directory) !=
             passage_.passed.end();
}

}  // namespace loom::law

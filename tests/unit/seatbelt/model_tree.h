#pragma once

#include <loom/facts.h>
#include <loom/features.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace loom::seatbelt::test {

enum class NodeKind : std::uint8_t { kDirectory, kFile, kDevice, kLink };

// Where a name led.
struct Landing {
  std::string real{};              // links followed; what is missing appended as it was spelled
  std::optional<NodeKind> kind{};  // of the object; nothing: there is none
  std::vector<LinkFact> links{};   // in the order met
  // Every object that was looked up on the way, the landing included, each under its real path.
  std::vector<std::string> met{};
  int error = 0;  // ENOENT, ENOTDIR or ELOOP where there is no object
};

// A file system that exists only here: names, kinds and links, no contents. Directories above
// whatever is declared come by themselves.
class ModelTree {
 public:
  ModelTree();

  ModelTree& directory(const std::string& at) { return add(at, {NodeKind::kDirectory, {}}); }
  ModelTree& file(const std::string& at) { return add(at, {NodeKind::kFile, {}}); }
  ModelTree& device(const std::string& at) { return add(at, {NodeKind::kDevice, {}}); }
  ModelTree& link(const std::string& at, const std::string& target) {
    return add(at, {NodeKind::kLink, target});
  }
  // The volume finds a name under every spelling of it, as macOS volumes usually do.
  ModelTree& finds_any_case();

  // `path` is absolute. The answer lives until the tree changes. Without `follow` a link at the end
  // is the object itself.
  [[nodiscard]] const Landing& walk(std::string_view path, bool follow = true) const {
    return walk(path, follow, folds_);
  }
  // The same by names as they are stored, whatever the volume does.
  [[nodiscard]] const Landing& walk_exactly(std::string_view path) const {
    return walk(path, true, false);
  }
  // The object with exactly this real path.
  [[nodiscard]] std::optional<NodeKind> at(const std::string& real) const;
  // The real paths of all objects.
  [[nodiscard]] std::vector<std::string> all() const;

  // What a host tells about these paths. A name of `made` is a placeholder: a directory that some
  // helper made for a protected path, which counts as absent (D12).
  [[nodiscard]] std::vector<PathFact> facts(const std::vector<SurveyPath>& paths,
                                            const std::set<std::string>& made = {}) const;
  [[nodiscard]] std::vector<DirectoryFact> directories(
      const std::vector<PathFact>& facts, const std::set<std::string>& made = {}) const;

 private:
  struct Node {
    NodeKind kind = NodeKind::kDirectory;
    std::string target{};
  };
  ModelTree& add(const std::string& at, Node node);
  [[nodiscard]] const Landing& walk(std::string_view path, bool follow, bool folds) const;
  [[nodiscard]] Landing walk_afresh(std::string_view path, bool follow, bool folds) const;
  [[nodiscard]] const std::string* stored(const std::string& path, bool folds) const;
  [[nodiscard]] PathFact fact(const AbsolutePath& path, const std::set<std::string>& made) const;

  std::map<std::string, Node> nodes_;
  std::map<std::string, std::string> spellings_;  // folded -> as stored; of a volume that folds
  bool folds_ = false;
  mutable std::unordered_map<std::string, Landing> walks_;  // known answers
};

// Which object the tree has at a real path; never zero, equal for equal paths.
[[nodiscard]] FileIdentity identity_at(const std::string& real);

// The directory that holds a path's last component, and that component.
[[nodiscard]] std::string parent_of(const std::string& path);
[[nodiscard]] std::string child_of(const std::string& directory, std::string_view name);
// By component, itself included.
[[nodiscard]] bool lies_in(std::string_view path, std::string_view directory);

}  // namespace loom::seatbelt::test

#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard/stored_lookup.h"
#include "law/name_key.h"

namespace loom::guard {

// A directory tree in memory that answers the calls of a walk as macOS would: names are found under
// every spelling and told as they are stored, a link is opened as itself, and nothing is opened for
// searching that is no directory. Handles are descriptors that denote nothing else.
class MacTree final : public StoredNameCalls {
 public:
  struct Node {
    mode_t mode = 0;
    uid_t uid = 0;
    ino_t inode = 0;
    std::string target{};                    // of a link
    bool searchable = true;                  // a directory
    bool readable = true;                    // a file
    bool runnable = true;                    // a file
    std::optional<std::string> attribute{};  // what the name attribute says instead of the name
    std::map<std::string, std::pair<std::string, Node*>> entries{};  // by key: as stored, and what
  };

  MacTree() { root_ = make(S_IFDIR | 0755); }

  Node* root() const { return root_; }
  Node* directory(std::string_view path, mode_t mode = 0755) { return put(path, S_IFDIR | mode); }
  Node* file(std::string_view path) { return put(path, S_IFREG | 0644); }
  Node* other(std::string_view path, mode_t type) { return put(path, type | 0666); }
  Node* link(std::string_view target, std::string_view path) {
    Node* const made = put(path, S_IFLNK | 0755);
    made->target = target;
    return made;
  }
  // Gives a name to what is there already, in the place of what had it.
  void name(std::string_view path, Node* node) {
    const auto [parent, last] = split(path);
    parent->entries[law::name_key(last)] = {std::string(last), node};
  }
  Node* find(std::string_view path) const {
    Node* at = root_;
    for (std::string_view rest = path.substr(1); !rest.empty();) {
      const std::string_view component = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(component.size() + 1, rest.size()));
      const auto entry = at->entries.find(law::name_key(component));
      if (entry == at->entries.end()) std::abort();
      at = entry->second.second;
    }
    return at;
  }
  [[nodiscard]] FileIdentity identity(std::string_view path) const {
    return {.device = kDevice, .inode = find(path)->inode};
  }

  // Told before each call that looks at a name: the moment for somebody else to act.
  std::function<void(std::string_view call, std::string_view name)> meanwhile = [](auto, auto) {};
  // What was opened, the root excepted: "directory:x", "link:l", …
  mutable std::vector<std::string> opened;

  [[nodiscard]] int open_root() const override { return handle_of(root_); }

  [[nodiscard]] int open(int directory, const char* name, OpenAs how) const override {
    meanwhile("open", name);
    Node* const node = child(directory, name);
    if (node == nullptr) return -1;
    const int error = why_not_opened(*node, how);
    if (error != 0) return refused(error);
    static constexpr const char* kHow[] = {"directory", "link", "file", "program"};
    opened.push_back(std::string(kHow[static_cast<int>(how)]) + ':' + name);
    return handle_of(node);
  }

  [[nodiscard]] int status(int handle, struct stat& about) const override {
    return tell(handles_.at(handle), about);
  }

  [[nodiscard]] int status_of(int directory, const char* name, struct stat& about) const override {
    meanwhile("status_of", name);
    Node* const node = child(directory, name);
    return node == nullptr ? -1 : tell(node, about);
  }

  [[nodiscard]] std::optional<std::string> stored_name(int directory,
                                                       const char* name) const override {
    meanwhile("stored_name", name);
    Node* const node = child(directory, name);
    if (node == nullptr) return std::nullopt;
    if (node->attribute) return node->attribute;
    return handles_.at(directory)->entries.at(law::name_key(name)).first;
  }

  [[nodiscard]] ssize_t read_link(int directory, const char* name, char* text,
                                  std::size_t size) const override {
    meanwhile("read_link", name);
    const Node* const node = child(directory, name);
    if (node == nullptr) return -1;
    if (!S_ISLNK(node->mode)) return refused(EINVAL);
    return static_cast<ssize_t>(node->target.copy(text, size));
  }

 private:
  static constexpr std::uint64_t kDevice = 16'777'231;

  static int refused(int error) {
    errno = error;
    return -1;
  }

  static int why_not_opened(const Node& node, OpenAs how) {
    if (how == OpenAs::kLink) return S_ISLNK(node.mode) || node.readable ? 0 : EACCES;
    if (S_ISLNK(node.mode)) return ELOOP;
    if (how == OpenAs::kDirectory) {
      if (!S_ISDIR(node.mode)) return ENOTDIR;
      return node.searchable ? 0 : EACCES;
    }
    return (how == OpenAs::kFile ? node.readable : node.runnable) ? 0 : EACCES;
  }

  Node* make(mode_t mode) {
    nodes_.push_back({.mode = mode, .inode = nodes_.size() + 2});
    return &nodes_.back();
  }
  std::pair<Node*, std::string_view> split(std::string_view path) const {
    const auto slash = path.rfind('/');
    return {find(slash == 0 ? "/" : path.substr(0, slash)), path.substr(slash + 1)};
  }
  Node* put(std::string_view path, mode_t mode) {
    Node* const made = make(mode);
    name(path, made);
    return made;
  }
  Node* child(int directory, const char* name) const {
    const Node* const at = handles_.at(directory);
    if (!at->searchable) return errno = EACCES, nullptr;
    const auto entry = at->entries.find(law::name_key(name));
    if (entry == at->entries.end()) return errno = ENOENT, nullptr;
    return entry->second.second;
  }
  int handle_of(Node* node) const {
    const int handle = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    handles_[handle] = node;
    return handle;
  }
  static int tell(const Node* node, struct stat& about) {
    about = {};
    about.st_dev = kDevice;
    about.st_ino = node->inode;
    about.st_mode = node->mode;
    about.st_uid = node->uid;
    about.st_nlink = 1;
    return 0;
  }

  std::deque<Node> nodes_;
  Node* root_ = nullptr;
  mutable std::map<int, Node*> handles_;
};

}  // namespace loom::guard

#include "profile.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "pinned_names.h"
#include "platform.h"
#include "spellings.h"

namespace loom::seatbelt {
namespace {

constexpr std::string_view kAllow = "allow";
constexpr std::string_view kDeny = "deny";
constexpr std::string_view kRead = "file-read*";
constexpr std::string_view kWrite = "file-write*";
constexpr std::string_view kMetadata = "file-read-metadata";
constexpr std::string_view kUnlink = "file-write-unlink";
constexpr std::string_view kCreate = "file-write-create";
constexpr std::string_view kExec = "process-exec";
constexpr std::string_view kNullDeviceRule =
    "(allow file-write-data (require-all (literal \"/dev/null\") (vnode-type CHARACTER-DEVICE)))";

constexpr std::string_view kUnixBind = "network-bind (local unix-socket)";
constexpr std::string_view kUnixConnect = "network-outbound (remote unix-socket)";

// Services for power state, user directories and account names: nothing starts well without.
constexpr std::array<std::string_view, 4> kBaseServices = {
    "com.apple.PowerManagement.control", "com.apple.bsd.dirhelper",
    "com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership"};
// Certificates and the network's configuration.
constexpr std::array<std::string_view, 6> kNetworkServices = {
    "com.apple.SecurityServer",
    "com.apple.SystemConfiguration.DNSConfiguration",
    "com.apple.SystemConfiguration.configd",
    "com.apple.networkd",
    "com.apple.ocspd",
    "com.apple.trustd.agent"};

std::string quoted(std::string_view constant) { return '"' + std::string(constant) + '"'; }

std::string parameter(std::string_view prefix, std::size_t index) {
  return "(param \"" + std::string(prefix) + std::to_string(index) + "\")";
}

std::string subpath(const std::string& text) { return "(subpath " + text + ")"; }
std::string literal(const std::string& text) { return "(literal " + text + ")"; }
std::string directory_only(const std::string& text) {
  return "(require-all (vnode-type DIRECTORY) " + literal(text) + ")";
}

// A pattern for the last component of a path.
std::string last_component(std::string_view name) {
  std::string pattern = "(regex #\"/";
  for (const char byte : name) {
    if (std::string_view("\\.^$*+?()[]{}|").find(byte) != std::string_view::npos) pattern += '\\';
    pattern += byte;
  }
  return pattern + "$\")";
}

// "WRITABLE_ROOT_" and so on. Each list is in byte order, so its indices follow from the paths.
class ParameterList {
 public:
  ParameterList(std::string_view prefix, std::vector<AbsolutePath> paths)
      : prefix_(prefix), paths_(std::move(paths)) {
    sort_unique(paths_);
  }
  [[nodiscard]] std::string name(const AbsolutePath& path) const {
    const auto found = std::lower_bound(paths_.begin(), paths_.end(), path);
    return parameter(prefix_, static_cast<std::size_t>(found - paths_.begin()));
  }
  [[nodiscard]] std::string_view prefix() const noexcept { return prefix_; }
  [[nodiscard]] const std::vector<AbsolutePath>& paths() const noexcept { return paths_; }

 private:
  std::string_view prefix_;
  std::vector<AbsolutePath> paths_;
};

bool covers_null_device(const AbsolutePath& region) {
  const std::string place = folded(region);
  for (std::string_view at = kNullDevice; !at.empty(); at = above(at)) {
    if (at == place) return true;
  }
  return false;
}

class Writer {
 public:
  explicit Writer(const ProfileGrounds& grounds)
      : policy_(grounds.policy),
        layers_(grounds.layers),
        exec_(grounds.exec),
        network_(grounds.network),
        denies_unix_(grounds.denies_unix_sockets) {}

  [[nodiscard]] Profile run() {
    base();
    system_view();
    roots();
    corrections();
    full_network();
    mounts();
    ancestors();
    exec_table();
    protected_paths();
    pinned();
    return std::move(profile_);
  }

 private:
  void line(std::string_view text) { profile_.text.append(text) += '\n'; }

  void rule(std::string_view action, std::string_view operation, std::string_view filter = {}) {
    std::string text = "(" + std::string(action) + ' ' + std::string(operation);
    if (!filter.empty()) text.append(" ").append(filter);
    line(text + ')');
  }

  void define(std::string_view prefix, std::size_t index, const AbsolutePath& path) {
    profile_.definitions.push_back(std::string(prefix) + std::to_string(index) + '=' + path.str());
  }

  void define(const ParameterList& list) {
    for (std::size_t i = 0; i < list.paths().size(); ++i) define(list.prefix(), i, list.paths()[i]);
  }

  template <class Names>
  void services(const Names& names) {
    for (const std::string_view name : names) {
      rule(kAllow, "mach-lookup", "(global-name " + quoted(name) + ")");
    }
  }

  void base() {
    line("(version 1)");
    line("(deny default)");
    if (!exec_->confines()) rule(kAllow, kExec);
    rule(kAllow, "process-fork");
    rule(kAllow, "signal", "(target same-sandbox)");
    rule(kAllow, "process-info*", "(target same-sandbox)");
    // A whole read: with less, the shell aborts and says nothing.
    rule(kAllow, kRead, literal(quoted("/")));
    // Paths that callers have not resolved go through these links.
    for (const char* const link : {"/etc", "/tmp", "/var"}) {
      rule(kAllow, kMetadata, literal(quoted(link)));
    }
    line(kNullDeviceRule);
    rule(kAllow, "sysctl-read");
    rule(kAllow, "sysctl-write", "(sysctl-name \"kern.grade_cputype\")");
    rule(kAllow, "iokit-open", "(iokit-registry-entry-class \"RootDomainUserClient\")");
    rule(kAllow, "ipc-posix-sem");
    services(kBaseServices);
    rule(kAllow, "system-socket", "(socket-domain AF_UNIX)");
    if (denies_unix_) return;
    rule(kAllow, kUnixBind);
    rule(kAllow, kUnixConnect);
  }

  void system_view() {
    line(std::string("; base view: ") + (layers_->shows_whole_host() ? "host-view" : "minimal"));
    for (const std::string_view root : kSystemView) {
      rule(kAllow, kRead, subpath(quoted(root)));
      if (root == kSystem) rule(kDeny, kRead, subpath(quoted(kVolumes)));
    }
  }

  void roots() {
    grant("READABLE_ROOT_", layers_->readable_roots, kRead);
    grant("WRITABLE_ROOT_", layers_->writable_roots, kWrite);
  }

  void grant(std::string_view prefix, const std::vector<AbsolutePath>& paths,
             std::string_view operation) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      define(prefix, i, paths[i]);
      rule(kAllow, operation, subpath(parameter(prefix, i)));
    }
  }

  [[nodiscard]] static std::string text_of(const WriteRule& write) {
    switch (write.name) {
      case WriteRule::Name::kReadableRoot:
        return parameter("READABLE_ROOT_", write.index);
      case WriteRule::Name::kWritableRoot:
        return parameter("WRITABLE_ROOT_", write.index);
      case WriteRule::Name::kMount:
        return parameter("MOUNT_", write.index);
      case WriteRule::Name::kConstant:
        return quoted(kSystemView.at(write.index));
    }
    return {};
  }

  // Whether the rule denies the null device.
  bool write_rule(const WriteRule& write) {
    rule(write.allow ? kAllow : kDeny, kWrite, subpath(text_of(write)));
    return !write.allow && covers_null_device(write.region);
  }

  void corrections() {
    bool null_denied = false;
    for (const WriteRule& write : layers_->corrections) {
      if (write_rule(write)) null_denied = true;
    }
    if (null_denied) line(kNullDeviceRule);
  }

  void full_network() {
    if (network_ != NetworkMode::kFull) return;
    for (const char* const operation : {"network-bind", "network-inbound", "network-outbound"}) {
      rule(kAllow, operation);
    }
    services(kNetworkServices);
    if (!denies_unix_) return;
    rule(kDeny, kUnixBind);
    rule(kDeny, kUnixConnect);
  }

  void mounts() {
    bool null_denied = false;
    for (const MountRules& rules : layers_->mount_rules) {
      if (rules.is_mount) {
        define("MOUNT_", rules.index, layers_->mounts[rules.index].at.real);
        rule(kAllow, kRead, subpath(parameter("MOUNT_", rules.index)));
      }
      for (const WriteRule& write : rules.write) {
        if (write_rule(write)) null_denied = true;
      }
    }
    if (null_denied) line(kNullDeviceRule);
  }

  // realpath(3) and getcwd(3) ask for what the directories above are, not for what is in them.
  void ancestors() {
    std::vector<AbsolutePath> regions = layers_->readable_roots;  // the writable are among these
    std::vector<AbsolutePath> links;
    const auto add = [&regions, &links](const Place& place) {
      regions.push_back(place.written);
      regions.push_back(place.real);
      for (const LinkFact& link : place.links) links.push_back(link.place);
    };
    for (const Place& place : policy_->readable) add(place);
    for (const Place& place : policy_->writable) add(place);
    for (const Place& place : policy_->user_directories) add(place);
    for (const MountPlace& mount : layers_->mounts) add(mount.at);
    if (policy_->host_scratch) add(*policy_->host_scratch);
    add(policy_->stage2);
    for (const std::string_view root : kSystemView) regions.push_back(known_path(root));
    for (const ExecPlace& place : exec_->allowed) regions.push_back(place.path);
    // The kernel looks at every link that it follows (field B91).
    regions.insert(regions.end(), links.begin(), links.end());
    std::vector<AbsolutePath> looked_at = all_above(regions);
    looked_at.insert(looked_at.end(), links.begin(), links.end());
    const ParameterList list("ANCESTOR_", without_protected(std::move(looked_at)));
    define(list);
    for (const AbsolutePath& path : list.paths()) rule(kAllow, kMetadata, literal(list.name(path)));
  }

  [[nodiscard]] static std::vector<AbsolutePath> all_above(std::vector<AbsolutePath>& regions) {
    sort_unique(regions);
    std::vector<AbsolutePath> found;
    std::string_view last;
    for (const AbsolutePath& region : regions) {
      const std::string_view first = above(region.str());
      if (first == last) continue;  // a sibling of the one before
      last = first;
      for (std::string_view at = first; !at.empty(); at = above(at)) {
        found.push_back(known_path(at));
      }
    }
    return found;
  }

  // Security: an allowance of one operation might outlast a later denial of its family.
  [[nodiscard]] std::vector<AbsolutePath> without_protected(std::vector<AbsolutePath> paths) const {
    std::unordered_set<std::string> hidden;
    for (const AbsolutePath& path : protected_spellings(*policy_)) hidden.insert(folded(path));
    const auto is_hidden = [&hidden](const AbsolutePath& path) {
      const std::string place = folded(path);
      for (std::string_view at = place; !at.empty(); at = above(at)) {
        if (hidden.contains(std::string(at))) return true;
      }
      return false;
    };
    paths.erase(std::remove_if(paths.begin(), paths.end(), is_hidden), paths.end());
    return paths;
  }

  [[nodiscard]] static std::vector<AbsolutePath> paths_of(const std::vector<ExecPlace>& places) {
    std::vector<AbsolutePath> paths;
    for (const ExecPlace& place : places) paths.push_back(place.path);
    return paths;
  }

  [[nodiscard]] static std::string place_filter(const ParameterList& list, const ExecPlace& place) {
    return place.directory ? subpath(list.name(place.path)) : literal(list.name(place.path));
  }

  void exec_allowances() {
    if (exec_->confines()) {
      for (const std::string_view operation : {kRead, kExec}) {
        rule(kAllow, operation, subpath(quoted(kRuntimeDirectory)));
      }
    }
    // /System is readable already, and only a region of the policy shows its volumes.
    const std::string system = folded(known_path(kSystem));
    const auto shows = [&system](const ExecPlace& place) { return folded(place.path) != system; };
    std::vector<ExecPlace> places = exec_->allowed;
    if (!exec_->confines()) std::erase_if(places, std::not_fn(shows));
    const ParameterList list("EXEC_ALLOWED_", paths_of(places));
    define(list);
    for (const ExecPlace& place : places) {
      if (shows(place)) rule(kAllow, kRead, place_filter(list, place));
      if (exec_->confines()) rule(kAllow, kExec, place_filter(list, place));
    }
  }

  // All allowances, then all exclusions: no exclusion is reopened by something deeper. Stage 2
  // comes behind them, since it runs when the profile is in force already; it starts nothing by
  // itself.
  void exec_table() {
    exec_allowances();
    if (!exec_->restrictive) return;
    if (exec_->confines()) {
      const ParameterList support("EXEC_SUPPORT_", exec_->support);
      define(support);
      for (const AbsolutePath& file : support.paths()) {
        rule(kAllow, kExec, literal(support.name(file)));
      }
    }
    const ParameterList denied("EXEC_DENIED_", paths_of(exec_->denied));
    define(denied);
    for (const ExecPlace& place : exec_->denied) rule(kDeny, kExec, place_filter(denied, place));
    for (const std::string& name : exec_->denied_names) rule(kDeny, kExec, last_component(name));
    std::vector<AbsolutePath> stage2;
    for (const AbsolutePath& path : stage2_spellings(*policy_)) {
      for (AbsolutePath& spelling : spellings(path)) stage2.push_back(std::move(spelling));
    }
    const ParameterList own("STAGE2_", std::move(stage2));
    define(own);
    for (const AbsolutePath& path : own.paths()) rule(kAllow, kExec, literal(own.name(path)));
  }

  // Whatever kind of file is there, and when nothing is.
  void protected_paths() {
    const ParameterList list("PROTECTED_PATH_", protected_spellings(*policy_));
    define(list);
    for (const AbsolutePath& path : list.paths()) {
      for (const std::string_view operation : {kRead, kWrite}) {
        rule(kDeny, operation, literal(list.name(path)));
        rule(kDeny, operation, subpath(list.name(path)));
      }
    }
  }

  void pinned() {
    PinnedNames names =
        pinned_names(*policy_, *layers_, protected_spellings(*policy_), paths_of(exec_->denied));
    const ParameterList directories("PROTECTED_ANCESTOR_", std::move(names.directories));
    define(directories);
    for (const AbsolutePath& path : directories.paths()) {
      rule(kDeny, kUnlink, directory_only(directories.name(path)));
    }
    for (const AbsolutePath& path : names.kept_absent) {
      rule(kDeny, kCreate, literal(directories.name(path)));
    }
    const ParameterList links("LINK_", std::move(names.links));
    define(links);
    for (const AbsolutePath& path : links.paths()) rule(kDeny, kUnlink, literal(links.name(path)));
  }

  const ResolvedPolicy* policy_;
  const Layers* layers_;
  const ExecPart* exec_;
  NetworkMode network_;
  bool denies_unix_;
  Profile profile_;
};

}  // namespace

std::vector<AbsolutePath> protected_spellings(const ResolvedPolicy& policy) {
  std::vector<AbsolutePath> paths;
  for (const Place& place : policy.protected_paths) {
    paths.push_back(place.written);
    for (AbsolutePath& spelling : spellings(place.real)) paths.push_back(std::move(spelling));
  }
  sort_unique(paths);
  return paths;
}

Profile write_profile(const ProfileGrounds& grounds) { return Writer(grounds).run(); }

}  // namespace loom::seatbelt

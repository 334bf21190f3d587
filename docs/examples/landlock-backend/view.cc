#include "view.h"

#include <loom/digest.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "landlock_numbers.h"

namespace landlock {
namespace {

using loom::MountClass;
using loom::MountForm;
using loom::MountOperation;
using loom::PathRole;

constexpr std::uint64_t kReading = kExecute | kReadFile | kReadDirectory;
constexpr std::uint64_t kWriting = kFirstRights | kRefer | kTruncate | kDeviceIoctl;
constexpr std::uint64_t kUsingDevice = kReadFile | kWriteFile | kTruncate | kDeviceIoctl;

MountClass class_of(const Place& place) {
  switch (place.role) {
    case PathRole::kSystemRoot:
    case PathRole::kPiece:
      return place.device ? MountClass::kDev : MountClass::kReadable;
    case PathRole::kReadableRoot:
      return MountClass::kReadable;
    case PathRole::kWritableRoot:
    case PathRole::kScratch:
      return MountClass::kWritable;
    case PathRole::kMount:
      return place.writable ? MountClass::kMountReadWrite : MountClass::kMountReadOnly;
    case PathRole::kProtected:
      break;
  }
  return MountClass::kProtected;
}

MountOperation operation_of(const Place& place) {
  return {.mount_class = class_of(place),
          .form = MountForm::kRule,
          .region = place.real,
          .written = place.written,
          .identity = place.identity,
          .parent_identity = place.parent_identity};
}

// What is protected comes last, whatever the numbers of the classes.
auto rank(const MountOperation& operation) {
  const bool mask = operation.mount_class == MountClass::kProtected;
  return std::make_tuple(mask, operation.mount_class, std::cref(operation.region),
                         std::cref(operation.written));
}

std::optional<std::uint64_t> access_of(MountClass mount_class) {
  switch (mount_class) {
    case MountClass::kReadable:
    case MountClass::kMountReadOnly:
      return kReading;
    case MountClass::kWritable:
    case MountClass::kMountReadWrite:
    case MountClass::kScratchTmpfs:
      return kWriting;
    case MountClass::kDev:
      return kUsingDevice;
    case MountClass::kRootTmpfs:
    case MountClass::kProtected:
    case MountClass::kExecShown:
    case MountClass::kProc:
    case MountClass::kPin:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<MountOperation> build_view(const Places& places) {
  const loom::AbsolutePath root = loom::AbsolutePath::root();
  std::vector<MountOperation> view = {{.mount_class = MountClass::kRootTmpfs,
                                       .form = MountForm::kRule,
                                       .region = root,
                                       .written = root}};
  for (const Place& place : places.grants) {
    if (!place.is_missing()) view.push_back(operation_of(place));
  }
  if (places.private_scratch) {
    view.push_back({.mount_class = MountClass::kScratchTmpfs,
                    .form = MountForm::kRule,
                    .region = *places.private_scratch,
                    .written = *places.private_scratch});
  }
  for (const Place& path : places.hidden) view.push_back(operation_of(path));
  std::sort(view.begin(), view.end(),
            [](const MountOperation& a, const MountOperation& b) { return rank(a) < rank(b); });
  const auto again =
      std::unique(view.begin(), view.end(), [](const MountOperation& a, const MountOperation& b) {
        return a.mount_class == b.mount_class && a.region == b.region;
      });
  view.erase(again, view.end());
  return view;
}

std::string view_digest(const std::vector<MountOperation>& view) {
  std::string lines;
  for (const MountOperation& operation : view) {
    lines += loom::mount_class_name(operation.mount_class);
    lines += ' ';
    lines += operation.region.str();
    lines += '\n';
  }
  return loom::sha256_hex(loom::as_bytes(lines)).substr(0, 16);
}

std::uint64_t handled_files(std::uint32_t abi) {
  std::uint64_t rights = abi > 0 ? kFirstRights : 0;
  if (abi >= kReferAbi) rights |= kRefer;
  if (abi >= kTruncateAbi) rights |= kTruncate;
  if (abi >= kDeviceIoctlAbi) rights |= kDeviceIoctl;
  return rights;
}

std::uint64_t handled_tcp(std::uint32_t abi) { return abi >= kTcpAbi ? kBindTcp | kConnectTcp : 0; }

std::uint64_t handled_scopes(std::uint32_t abi) {
  return abi >= kScopeAbi ? kScopeAbstractSocket | kScopeSignal : 0;
}

std::vector<Rule> rules_of(const std::vector<MountOperation>& view, std::uint32_t abi) {
  const loom::ViewReplay replay(view);
  const std::uint64_t handled = handled_files(abi);
  std::vector<Rule> rules;
  for (const MountOperation& operation : view) {
    // What a later operation covers is decided there.
    if (replay.effective(operation.region) != &operation) continue;
    const auto access = access_of(operation.mount_class);
    if (!access) continue;
    rules.push_back({.path = operation.region.str(),
                     .access = *access & handled,
                     .identity = operation.identity});
  }
  return rules;
}

}  // namespace landlock

#include "identity/admit_publication.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace loom {
namespace {

using R = IdentityRefusal;

constexpr std::string_view kTemporary = ".gitconfig-00112233445566778899aabbccddeeff";

AbsolutePath at(std::string_view text) { return *AbsolutePath::parse(text); }

PublicationPlaces places_in(std::string_view workspace) {
  return publication_places(at(workspace), kTemporary);
}

PathFact fact(std::string_view written, std::string_view real = "") {
  return {.path = at(written),
          .real = at(real.empty() ? written : real),
          .kind = PathKind::kDirectory,
          .identity = {},
          .parent_identity = {},
          .link_count = 1,
          .links = {},
          .error = 0};
}

MountOperation operation(MountClass mount_class, std::string_view region) {
  return {.mount_class = mount_class,
          .form = MountForm::kBind,
          .region = at(region),
          .written = at(region),
          .identity = {},
          .parent_identity = {}};
}

// An empty root with one writable region, as a plan begins.
std::vector<MountOperation> view_granting(std::string_view region) {
  return {operation(MountClass::kRootTmpfs, "/"), operation(MountClass::kWritable, region)};
}

testing::AssertionResult is_admitted(const PublicationGrounds& grounds,
                                     std::string_view workspace = "/w",
                                     IdentityPlatform platform = IdentityPlatform::kLinux) {
  const auto admitted = admit_publication(places_in(workspace), grounds, platform);
  if (admitted) return testing::AssertionSuccess();
  return testing::AssertionFailure() << refusal_text(admitted.error());
}

testing::AssertionResult is_refused(R reason, const PublicationGrounds& grounds,
                                    std::string_view workspace = "/w",
                                    IdentityPlatform platform = IdentityPlatform::kLinux) {
  const auto admitted = admit_publication(places_in(workspace), grounds, platform);
  if (admitted) return testing::AssertionFailure() << "admitted";
  if (admitted.error() == reason) return testing::AssertionSuccess();
  return testing::AssertionFailure() << refusal_text(admitted.error());
}

TEST(PublicationPlacesTest, TheFileHasOneFixedPlaceInTheWorkspace) {
  const PublicationPlaces places = places_in("/w/");
  EXPECT_EQ(places.home.str(), "/w/.codemode/home");
  EXPECT_EQ(places.target.str(), "/w/.codemode/home/gitconfig");
  EXPECT_EQ(places.temporary.str(), "/w/.codemode/home/" + std::string(kTemporary));
  EXPECT_EQ(places_in("/").target.str(), "/.codemode/home/gitconfig");
}

TEST(ParseWorkspaceTest, OnlyAnAbsolutePathWithoutParentSegmentsIsOne) {
  EXPECT_EQ(parse_workspace("/w//x/./y/")->str(), "/w/x/y");
  for (const std::string_view text : {"", "w", "./w", "/w/../x", "/..", "/w/.."}) {
    const auto path = parse_workspace(text);
    ASSERT_FALSE(path) << text;
    EXPECT_EQ(path.error(), R::kWorkspaceForm);
  }
}

TEST(AdmitPublicationTest, AWritableRootAroundTheDirectoryIsEnough) {
  EXPECT_TRUE(is_admitted({.view = view_granting("/w")}));
  EXPECT_TRUE(is_admitted({.view = view_granting("/")}));
  EXPECT_TRUE(is_admitted({.view = view_granting("/w/.codemode/home")}));
}

// cases.md 225
TEST(AdmitPublicationTest, WithoutAGrantNothingIsPublished) {
  EXPECT_TRUE(is_refused(R::kNotWritable, {}));
  EXPECT_TRUE(is_refused(R::kNotWritable, {.view = {operation(MountClass::kRootTmpfs, "/")}}));
  EXPECT_TRUE(is_refused(R::kNotWritable, {.view = view_granting("/wider")}));
  EXPECT_TRUE(is_refused(R::kNotWritable, {.view = view_granting("/w/.codemode/home/deeper")}));
}

// cases.md 231
TEST(AdmitPublicationTest, AReadWriteMountGrantsWithoutAWritableRoot) {
  EXPECT_TRUE(is_admitted({.mounts = {fact("/w")},
                           .view = {operation(MountClass::kRootTmpfs, "/"),
                                    operation(MountClass::kMountReadWrite, "/w")}}));
}

TEST(AdmitPublicationTest, OnlyWritableRootsAndReadWriteMountsLetPublish) {
  for (const MountClass other :
       {MountClass::kRootTmpfs, MountClass::kReadable, MountClass::kProc, MountClass::kDev,
        MountClass::kProtected, MountClass::kMountReadOnly}) {
    std::vector<MountOperation> view = view_granting("/w");
    view.push_back(operation(other, "/w/.codemode"));
    EXPECT_TRUE(is_refused(R::kNotWritable, {.view = view})) << mount_class_name(other);
  }
}

// cases.md 225
TEST(AdmitPublicationTest, TheLastOperationThatCoversEachOfTheThreePathsDecides) {
  for (const std::string region : {"/w/.codemode/home", "/w/.codemode/home/gitconfig"}) {
    std::vector<MountOperation> view = view_granting("/w");
    view.push_back(operation(MountClass::kReadable, region));
    EXPECT_TRUE(is_refused(R::kNotWritable, {.view = view})) << region;
  }
  std::vector<MountOperation> temporary = view_granting("/w");
  temporary.push_back(
      operation(MountClass::kReadable, "/w/.codemode/home/" + std::string(kTemporary)));
  EXPECT_TRUE(is_refused(R::kNotWritable, {.view = temporary}));

  std::vector<MountOperation> opened_again = view_granting("/w");
  opened_again.push_back(operation(MountClass::kReadable, "/w/.codemode"));
  opened_again.push_back(operation(MountClass::kWritable, "/w/.codemode/home"));
  EXPECT_TRUE(is_admitted({.view = opened_again}));

  std::vector<MountOperation> beside = view_granting("/w");
  beside.push_back(operation(MountClass::kReadable, "/w/.codemode/home2"));
  beside.push_back(operation(MountClass::kReadable, "/w/.codemode/home/gitconfig.old"));
  EXPECT_TRUE(is_admitted({.view = beside}));
}

// cases.md 225
TEST(AdmitPublicationTest, AProtectedPathAtOrAboveOrBelowTheFileRefuses) {
  for (const std::string_view path :
       {"/", "/w", "/w/.codemode", "/w/.codemode/home", "/w/.codemode/home/gitconfig",
        "/w/.codemode/home/gitconfig/below",
        "/w/.codemode/home/.gitconfig-00112233445566778899aabbccddeeff",
        "/w/.codemode/home/.gitconfig-00112233445566778899aabbccddeeff/x"}) {
    EXPECT_TRUE(
        is_refused(R::kProtected, {.protected_paths = {fact(path)}, .view = view_granting("/w")}))
        << path;
  }
  for (const std::string_view path :
       {"/w2", "/w/.env", "/w/.codemode/home2", "/w/.codemode/home/other",
        "/w/.codemode/home/gitconfi", "/w/.codemode/home/gitconfig2",
        "/w/.codemode/home/.gitconfig-0011"}) {
    EXPECT_TRUE(is_admitted({.protected_paths = {fact(path)}, .view = view_granting("/w")}))
        << path;
  }
}

// cases.md 226
TEST(AdmitPublicationTest, AProtectedPathHoldsAsWrittenAndAsResolved) {
  EXPECT_TRUE(is_refused(R::kProtected, {.protected_paths = {fact("/link", "/w/.codemode/home")},
                                         .view = view_granting("/w")}));
  EXPECT_TRUE(is_refused(R::kProtected, {.protected_paths = {fact("/w/.codemode", "/elsewhere")},
                                         .view = view_granting("/w")}));
  EXPECT_TRUE(
      is_admitted({.protected_paths = {fact("/link", "/elsewhere")}, .view = view_granting("/w")}));
}

// The old file is a link out of the workspace, and the policy names it through a linked parent:
// neither the written nor the resolved form says that it is this file.
TEST(AdmitPublicationTest, AProtectedPathThatLeadsThroughTheFileRefuses) {
  PathFact through = fact("/link/.codemode/home/gitconfig", "/elsewhere");
  through.links = {{.place = at("/link"), .target = "/w"},
                   {.place = at("/w/.codemode/home/gitconfig"), .target = "/elsewhere"}};
  EXPECT_TRUE(
      is_refused(R::kProtected, {.protected_paths = {through}, .view = view_granting("/w")}));

  through.links.pop_back();
  EXPECT_TRUE(is_admitted({.protected_paths = {through}, .view = view_granting("/w")}));
}

TEST(AdmitPublicationTest, AMountThatNamesTheFileItselfRefuses) {
  for (const std::string_view path :
       {"/w/.codemode/home/gitconfig",
        "/w/.codemode/home/.gitconfig-00112233445566778899aabbccddeeff"}) {
    const std::vector<MountOperation> view = {operation(MountClass::kWritable, "/w"),
                                              operation(MountClass::kMountReadWrite, path)};
    EXPECT_TRUE(is_refused(R::kMountAtFile, {.mounts = {fact(path)}, .view = view})) << path;
    EXPECT_TRUE(is_refused(R::kMountAtFile, {.mounts = {fact("/m", path)}, .view = view})) << path;
  }
  EXPECT_TRUE(is_admitted({.mounts = {fact("/w/.codemode/home"), fact("/w/.codemode/home/other")},
                           .view = view_granting("/w")}));
}

// cases.md 232
TEST(AdmitPublicationTest, UnderATmpfsScratchOnlyAReadWriteMountPublishesOnLinux) {
  const std::vector<MountOperation> covered = {operation(MountClass::kRootTmpfs, "/"),
                                               operation(MountClass::kScratchTmpfs, "/tmp")};
  EXPECT_TRUE(is_refused(R::kInPrivateScratch, {.view = covered}, "/tmp"));

  std::vector<MountOperation> root_on_top = covered;
  root_on_top.push_back(operation(MountClass::kWritable, "/tmp/x"));
  EXPECT_TRUE(is_refused(R::kInPrivateScratch, {.view = root_on_top}, "/tmp/x"));

  std::vector<MountOperation> mount_on_top = covered;
  mount_on_top.push_back(operation(MountClass::kMountReadWrite, "/tmp/x"));
  EXPECT_TRUE(is_admitted({.view = mount_on_top}, "/tmp/x"));

  std::vector<MountOperation> root_on_mount = mount_on_top;
  root_on_mount.push_back(operation(MountClass::kWritable, "/tmp/x/.codemode"));
  EXPECT_TRUE(is_refused(R::kInPrivateScratch, {.view = root_on_mount}, "/tmp/x"));

  EXPECT_TRUE(is_admitted({.view = view_granting("/tmp/x"), .scratch_is_tmpfs = false}, "/tmp/x"));
  EXPECT_TRUE(is_admitted({.view = view_granting("/tmpx")}, "/tmpx"));
}

TEST(AdmitPublicationTest, TheScratchIsWhereThePlanPutsItWhenTmpIsALink) {
  const std::vector<MountOperation> view = {operation(MountClass::kScratchTmpfs, "/var/tmp"),
                                            operation(MountClass::kWritable, "/var/tmp/x")};
  EXPECT_TRUE(is_refused(R::kInPrivateScratch, {.view = view}, "/var/tmp/x"));
  EXPECT_TRUE(is_admitted({.view = view_granting("/var/tmp/x")}, "/var/tmp/x"));
}

// cases.md 232
TEST(AdmitPublicationTest, OnMacOsTheScratchIsElsewhereAndTmpIsADirectoryLikeAnother) {
  const PublicationGrounds grounds{.view = view_granting("/private/tmp/x")};
  EXPECT_TRUE(is_admitted(grounds, "/private/tmp/x", IdentityPlatform::kDarwin));
  const PublicationGrounds unresolved{.view = view_granting("/tmp/x")};
  EXPECT_TRUE(is_admitted(unresolved, "/tmp/x", IdentityPlatform::kDarwin));
  EXPECT_TRUE(is_refused(R::kInPrivateScratch, unresolved, "/tmp/x", IdentityPlatform::kLinux));
}

// One name under every spelling that a volume of macOS takes for it.
TEST(AdmitPublicationTest, OnMacOsWhatTakesAwayHoldsInEverySpelling) {
  for (const std::string_view path :
       {"/W/.CodeMode", "/w/.codemode/home/GitConfig", "/W", "/w/.codemode/HOME/gitconfig/below"}) {
    SCOPED_TRACE(path);
    PublicationGrounds hidden{.protected_paths = {fact(path)}, .view = view_granting("/w")};
    EXPECT_TRUE(is_refused(R::kProtected, hidden, "/w", IdentityPlatform::kDarwin));
    EXPECT_TRUE(is_admitted(hidden, "/w", IdentityPlatform::kLinux));
    hidden.protected_paths = {fact("/elsewhere")};
    hidden.protected_paths.front().links = {{.place = at(path), .target = "/elsewhere"}};
    EXPECT_TRUE(is_refused(R::kProtected, hidden, "/w", IdentityPlatform::kDarwin));
  }
  const PublicationGrounds spelled_apart{.protected_paths = {fact("/caf\u00E9/.codemode")},
                                         .view = view_granting("/cafe\u0301")};
  EXPECT_TRUE(is_refused(R::kProtected, spelled_apart, "/cafe\u0301", IdentityPlatform::kDarwin));
  const PublicationGrounds of_links{.protected_paths = {fact("/Var/x/.codemode")},
                                    .view = view_granting("/private/var/x")};
  EXPECT_TRUE(is_refused(R::kProtected, of_links, "/private/var/x", IdentityPlatform::kDarwin));

  const PublicationGrounds mounted{.mounts = {fact("/w/.codemode/home/GITCONFIG")},
                                   .view = view_granting("/w")};
  EXPECT_TRUE(is_refused(R::kMountAtFile, mounted, "/w", IdentityPlatform::kDarwin));
  EXPECT_TRUE(is_admitted(mounted, "/w", IdentityPlatform::kLinux));

  PublicationGrounds narrowed{.view = view_granting("/w")};
  narrowed.view.push_back(operation(MountClass::kReadable, "/w/.CODEMODE"));
  EXPECT_TRUE(is_refused(R::kNotWritable, narrowed, "/w", IdentityPlatform::kDarwin));
  EXPECT_TRUE(is_admitted(narrowed, "/w", IdentityPlatform::kLinux));
}

TEST(AdmitPublicationTest, OnMacOsWhatGrantsHoldsAsItIsStored) {
  const PublicationGrounds grounds{.view = view_granting("/W")};
  EXPECT_TRUE(is_refused(R::kNotWritable, grounds, "/w", IdentityPlatform::kDarwin));
  EXPECT_TRUE(is_admitted(grounds, "/W", IdentityPlatform::kDarwin));
}

TEST(AdmitPublicationTest, OnMacOsTmpAndPrivateTmpAreOneDirectory) {
  const PublicationGrounds written{.view = view_granting("/tmp/x")};
  EXPECT_TRUE(is_admitted(written, "/private/tmp/x", IdentityPlatform::kDarwin));
  EXPECT_TRUE(is_refused(R::kNotWritable, written, "/private/tmp/x", IdentityPlatform::kLinux));
  EXPECT_TRUE(is_refused(R::kNotWritable, written, "/private/tmpx", IdentityPlatform::kDarwin));
  EXPECT_TRUE(is_refused(R::kNotWritable, written, "/private/tmp/y", IdentityPlatform::kDarwin));

  PublicationGrounds hidden{.view = view_granting("/private/var/x")};
  EXPECT_TRUE(is_admitted(hidden, "/private/var/x", IdentityPlatform::kDarwin));
  hidden.protected_paths = {fact("/var/x/.codemode")};
  EXPECT_TRUE(is_refused(R::kProtected, hidden, "/private/var/x", IdentityPlatform::kDarwin));
  EXPECT_TRUE(is_admitted(hidden, "/private/var/x", IdentityPlatform::kLinux));

  PublicationGrounds mounted{.view = view_granting("/private/etc/x")};
  mounted.mounts = {fact("/etc/x/.codemode/home/gitconfig")};
  EXPECT_TRUE(is_refused(R::kMountAtFile, mounted, "/private/etc/x", IdentityPlatform::kDarwin));
}

// The link leads to everything in the directory, and hides none of it.
TEST(AdmitPublicationTest, OnMacOsAProtectedPathBehindTheLinkHidesNothingElseInTmp) {
  PublicationGrounds grounds{.view = view_granting("/private/tmp/x")};
  grounds.protected_paths = {fact("/tmp/secret", "/private/tmp/secret")};
  grounds.protected_paths[0].links = {{.place = at("/tmp"), .target = "private/tmp"}};
  EXPECT_TRUE(is_admitted(grounds, "/private/tmp/x", IdentityPlatform::kDarwin));
}

TEST(AdmitPublicationTest, AnotherPlatformPublishesNothing) {
  const PublicationGrounds grounds{.view = view_granting("/w")};
  EXPECT_TRUE(is_admitted(grounds));
  EXPECT_TRUE(is_refused(R::kPlatform, grounds, "/w", IdentityPlatform::kOther));
}

TEST(AdmitDirectoriesTest, AProtectedDirectoryHoldsUnderEveryName) {
  const std::vector<FileIdentity> walked = {{1, 2}, {1, 7}, {3, 9}};
  PathFact hidden = fact("/secret");
  hidden.identity = {1, 7};
  EXPECT_FALSE(admit_directories(walked, {hidden}));

  hidden.identity = {3, 7};
  EXPECT_TRUE(admit_directories(walked, {hidden}));
  hidden.identity = {};  // absent: whatever is not there was not walked through
  hidden.kind = PathKind::kMissing;
  EXPECT_TRUE(admit_directories({{}}, {hidden}));
}

}  // namespace
}  // namespace loom

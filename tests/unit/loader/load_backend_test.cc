#include "host/load_backend.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <loom/table_backend.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/promised.h"

namespace loom::host {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class NoHost final : public HostServices {
 public:
  void log(LogLevel, std::string_view) override {}
  Result<TrialResult> try_launch(const LaunchSpec&, std::uint32_t) override {
    return fail(ErrorCode::kDenied, "not here");
  }
  Result<std::int32_t> spawn(const LaunchSpec&) override {
    return fail(ErrorCode::kDenied, "not here");
  }
  Result<ExecObject> next_exec_object() override { return fail(ErrorCode::kDenied, "not here"); }
  Result<std::vector<std::int32_t>> children(std::int32_t) override {
    return fail(ErrorCode::kDenied, "not here");
  }
};

std::size_t count_entries(const char* directory) {
  const fs::directory_iterator entries(directory);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

class LoadBackendTest : public ::testing::Test {
 protected:
  LoadBackendTest() {
    std::string pattern = ::testing::TempDir() + "loom-loader-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) directory_ = pattern;
    ::setenv("LOOM_TEST_MARK", mark().c_str(), 1);
  }
  ~LoadBackendTest() override {
    ::unsetenv("LOOM_TEST_MARK");
    fs::remove_all(directory_);
  }

  // A copy of a module with a mode that the loader accepts, whatever the umask of the build was.
  std::string module(const std::string& name) const {
    const fs::path copy = directory_ / (name + ".so");
    fs::copy_file(LOOM_HOSTILE_DIR "/" + name + ".so", copy, fs::copy_options::overwrite_existing);
    fs::permissions(copy, fs::perms(0755));
    return copy.string();
  }
  std::string file(const std::string& name, std::string_view contents) const {
    const fs::path place = directory_ / name;
    std::ofstream(place) << contents;
    fs::permissions(place, fs::perms(0644));
    return place.string();
  }

  // Left behind by the constructor of any module of table_module.c.
  fs::path mark() const { return directory_ / "mark"; }

  std::unique_ptr<JailBackend> instance_of(const std::string& name) {
    const auto table = load_backend(module(name));
    EXPECT_TRUE(table) << (table ? "" : table.error().message);
    if (!table) return nullptr;
    auto backend = make_table_backend(**table, host_);
    EXPECT_TRUE(backend);
    return backend ? *std::move(backend) : nullptr;
  }

  fs::path directory_;
  NoHost host_;
};

TEST_F(LoadBackendTest, AnHonestModuleIsLoadedAndAnswers) {
  const auto table = load_backend(module("honest"));

  ASSERT_TRUE(table) << table.error().message;
  EXPECT_STREQ((*table)->name, "honest");
  const auto backend = make_table_backend(**table, host_);
  ASSERT_TRUE(backend);
  EXPECT_EQ((*backend)->pieces().value(), Pieces{});
  EXPECT_EQ((*backend)->features({}).error().message, "no");
}

// Packages strip what they ship.
TEST_F(LoadBackendTest, AModuleWithoutItsSymbolTableIsLoaded) {
  EXPECT_TRUE(load_backend(module("stripped")));
}

TEST_F(LoadBackendTest, EachBadModuleEarnsItsRefusal) {
  const struct {
    const char* module;
    const char* refusal;
  } kCases[] = {
      {"no_entry", "does not export loom_backend_entry_v1"},
      {"wrong_magic", "table: wrong magic"},
      {"old_abi", "table: ABI 0, this helper speaks 1"},
      {"short_table", "table: 120 bytes, at least 144 are due"},
      {"empty_slot", "table: slot render is empty (built with test)"},
      {"no_name", "table: name, version or build tag is missing"},
      {"no_table", "table: the entry returned none"},
  };
  for (const auto& [name, refusal] : kCases) {
    SCOPED_TRACE(name);
    const std::string place = module(name);

    const auto table = load_backend(place);

    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, ErrorCode::kBackend);
    EXPECT_EQ(table.error().message, "backend " + place + ": " + refusal);
  }
}

TEST_F(LoadBackendTest, AnUnresolvedSymbolIsFoundWhenLoadingAndNotWhenCalled) {
  const auto table = load_backend(module("unresolved"));

  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kBackend);
  EXPECT_THAT(table.error().message, HasSubstr("cannot be mapped: "));
  EXPECT_THAT(table.error().message, HasSubstr("loom_symbol_that_nobody_has"));
}

TEST_F(LoadBackendTest, NothingOfAModuleWithoutTheEntryRuns) {
  EXPECT_FALSE(load_backend(module("no_entry")));
  EXPECT_FALSE(fs::exists(mark()));

  EXPECT_TRUE(load_backend(module("honest")));
  EXPECT_TRUE(fs::exists(mark()));
}

TEST_F(LoadBackendTest, EachFileThatIsNoLibraryEarnsItsRefusal) {
  std::string cut_short(64, '\0');
  std::ifstream(module("honest")).read(cut_short.data(), 64);
  const struct {
    const char* name;
    std::string contents;
    const char* refusal;
  } kCases[] = {
      {"empty.so", "", "is not a shared library of this system"},
      {"text.so", "#!/bin/sh\necho loom_backend_entry_v1\n",
       "is not a shared library of this system"},
      {"header_only.so", cut_short, "does not export loom_backend_entry_v1"},
  };
  for (const auto& [name, contents, refusal] : kCases) {
    SCOPED_TRACE(name);
    const std::string place = file(name, contents);

    const auto table = load_backend(place);

    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, ErrorCode::kBackend);
    EXPECT_EQ(table.error().message, "backend " + place + ": " + refusal);
  }
}

TEST_F(LoadBackendTest, AModuleCutAnywhereIsRefused) {
  const std::string whole = module("no_entry");
  std::string contents(fs::file_size(whole), '\0');
  std::ifstream(whole).read(contents.data(), static_cast<std::streamsize>(contents.size()));
  for (std::size_t size = 0; size < contents.size(); size += 211) {
    EXPECT_FALSE(load_backend(file("cut.so", contents.substr(0, size)))) << size;
  }
}

// Any byte of the structures that the check reads may lie; none makes an entry where there is none.
TEST_F(LoadBackendTest, AModuleWithADamagedHeaderIsRefused) {
  const std::string whole = module("no_entry");
  std::string contents(fs::file_size(whole), '\0');
  std::ifstream(whole).read(contents.data(), static_cast<std::streamsize>(contents.size()));
  ElfW(Ehdr) header{};
  std::memcpy(&header, contents.data(), sizeof(header));
  const auto try_damage = [&](std::size_t at) {
    std::string damaged = contents;
    damaged[at] = static_cast<char>(~damaged[at]);
    EXPECT_FALSE(load_backend(file("damaged.so", damaged))) << at;
  };

  for (std::size_t at = 0; at < sizeof(header); ++at) try_damage(at);
  for (std::size_t at = header.e_shoff; at < contents.size(); at += 11) try_damage(at);
}

TEST_F(LoadBackendTest, AModuleBehindALinkIsRefused) {
  const std::string target = module("honest");
  const std::string link = (directory_ / "link.so").string();
  fs::create_symlink(target, link);

  const auto table = load_backend(link);

  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kDenied);
  EXPECT_EQ(table.error().message, "backend " + link + ": is a symbolic link");
  EXPECT_FALSE(fs::exists(mark()));
  EXPECT_TRUE(load_backend(target));
}

TEST_F(LoadBackendTest, AModuleThatOthersMayWriteIsRefused) {
  const std::string place = module("honest");
  for (const unsigned mode : {0775u, 0757u, 0777u}) {
    SCOPED_TRACE(mode);
    fs::permissions(place, fs::perms(mode));

    const auto table = load_backend(place);

    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, ErrorCode::kDenied);
    EXPECT_EQ(table.error().message, "backend " + place + ": is writable by group or others");
  }
  EXPECT_FALSE(fs::exists(mark()));
  fs::permissions(place, fs::perms(0755));
  EXPECT_TRUE(load_backend(place));
}

TEST_F(LoadBackendTest, AModuleOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string place = module("honest");
  ASSERT_EQ(::chown(place.c_str(), 12345, 12345), 0);

  const auto table = load_backend(place);

  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kDenied);
  EXPECT_EQ(table.error().message,
            "backend " + place + ": belongs to uid 12345, neither to us nor to root");
}

TEST_F(LoadBackendTest, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  const std::string fifo = (directory_ / "fifo.so").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string absent = (directory_ / "absent.so").string();

  EXPECT_EQ(load_backend(fifo).error().message, "backend " + fifo + ": is not a regular file");
  EXPECT_EQ(load_backend(directory_.string()).error().message,
            "backend " + directory_.string() + ": is not a regular file");
  EXPECT_EQ(load_backend(absent).error().message,
            "backend " + absent + ": open: No such file or directory");
}

TEST_F(LoadBackendTest, TwoModulesInARowAreTwo) {
  const auto first = load_backend(module("honest"));
  const auto second = load_backend(module("other"));
  const auto refused = load_backend(module("wrong_magic"));

  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_NE(*first, *second);
  EXPECT_STREQ((*first)->name, "honest");
  EXPECT_STREQ((*second)->name, "other");
  EXPECT_FALSE(refused);
}

TEST_F(LoadBackendTest, ARefusedModuleDoesNotShadowTheNext) {
  EXPECT_FALSE(load_backend(module("no_entry")));
  EXPECT_FALSE(load_backend(module("unresolved")));
  EXPECT_FALSE(load_backend(module("wrong_magic")));

  const auto table = load_backend(module("other"));

  ASSERT_TRUE(table);
  EXPECT_STREQ((*table)->name, "other");
}

TEST_F(LoadBackendTest, ChangingTheFileDoesNotChangeTheRunningModule) {
  const std::string place = module("honest");
  const auto backend = instance_of("honest");
  ASSERT_TRUE(backend);

  std::fstream changed(place, std::ios::in | std::ios::out | std::ios::binary);
  changed << std::string(fs::file_size(place), '\xCC');
  changed.close();

  EXPECT_EQ(backend->pieces().value(), Pieces{});
}

// Names of what this process has mapped executable.
std::string mapped_code() {
  std::ifstream maps("/proc/self/maps");
  std::string code;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r-xp ") != std::string::npos) code += line + '\n';
  }
  return code;
}

TEST_F(LoadBackendTest, TheFileItselfIsMappedWhereThatIsAskedForAndElseACopy) {
  const std::string copied = module("honest");
  const std::string itself = module("other");

  ASSERT_TRUE(load_backend(copied));
  const auto table = load_backend(itself, BackendImage::kFile);

  ASSERT_TRUE(table);
  EXPECT_STREQ((*table)->name, "other");
  EXPECT_THAT(mapped_code(), HasSubstr(itself));
  EXPECT_THAT(mapped_code(), Not(HasSubstr(copied)));
  EXPECT_THAT(mapped_code(), HasSubstr("memfd:loom-backend"));
}

TEST_F(LoadBackendTest, TheFileItselfIsCheckedLikeACopy) {
  const std::string open_to_others = module("honest");
  fs::permissions(open_to_others, fs::perms(0777));
  const std::string text = file("text.so", "text");
  const std::string link = (directory_ / "link.so").string();
  fs::create_symlink(module("other"), link);
  const auto refusal = [](const std::string& place, BackendImage image) {
    const auto table = load_backend(place, image);
    return table ? Error{.message = "loaded"} : table.error();
  };

  for (const std::string& place : {open_to_others, text, link, module("no_entry")}) {
    EXPECT_EQ(refusal(place, BackendImage::kFile), refusal(place, BackendImage::kSealedCopy));
  }
  EXPECT_THAT(refusal(module("unresolved"), BackendImage::kFile).message,
              HasSubstr("loom_symbol_that_nobody_has"));
  EXPECT_FALSE(fs::exists(mark())) << "none of them has run";
  EXPECT_THAT(refusal(module("wrong_magic"), BackendImage::kFile).message,
              HasSubstr("wrong magic"));
  EXPECT_TRUE(load_backend(module("other"), BackendImage::kFile));
}

TEST_F(LoadBackendTest, AFileThatCannotBeMappedIsCopiedAfterAll) {
  const std::string original = module("honest");
  const std::string place = (directory_ / "noexec/honest.so").string();
  fs::create_directory(directory_ / "noexec");
  bool could_mount = false;
  std::thread([&] {
    could_mount =
        ::unshare(CLONE_NEWNS | CLONE_FS) == 0 &&
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        ::mount("tmpfs", fs::path(place).parent_path().c_str(), "tmpfs", MS_NOEXEC, nullptr) == 0;
    if (!could_mount) return;
    fs::copy_file(original, place);
    const auto table = load_backend(place, BackendImage::kFile);
    EXPECT_TRUE(table) << (table ? "" : table.error().message);
  }).join();
  if (!could_mount) LOOM_SKIP_UNLESS_PROMISED("no file system can be mounted here");
  EXPECT_THAT(mapped_code(), Not(HasSubstr(place)));
}

TEST_F(LoadBackendTest, AFileBeyondTheCeilingIsRefusedUnread) {
  const std::string place = module("honest");
  fs::resize_file(place, kMaxBackendBytes + 1);

  for (const BackendImage image : {BackendImage::kFile, BackendImage::kSealedCopy}) {
    const auto table = load_backend(place, image);
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message, HasSubstr("is larger than 67108864 bytes"));
  }
  fs::resize_file(place, kMaxBackendBytes);
  EXPECT_TRUE(load_backend(place, BackendImage::kFile));
}

TEST_F(LoadBackendTest, WhatAModuleThrowsBecomesAnErrorValue) {
  const auto backend = instance_of("throws");
  ASSERT_TRUE(backend);
  const auto expect_thrown = [](const char* verb, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::kBackend);
    EXPECT_EQ(error.message, std::string(verb) + " threw: a private exception");
  };

  expect_thrown("features", backend->features({}).error());
  expect_thrown("survey", backend->survey({}).error());
  expect_thrown("pieces", backend->pieces().error());
  expect_thrown("probe", backend->probe({}).error());
  expect_thrown("plan", backend->plan({}).error());
  expect_thrown("render", backend->render({}).error());
  expect_thrown("audit", backend->audit({}).error());
  expect_thrown("start", backend->start({}).error());
  expect_thrown("observe", backend->observe({}).error());
  expect_thrown("targets", backend->targets({}).error());
  backend->finish();
}

TEST_F(LoadBackendTest, EachBreachAtACallIsTheBackendsError) {
  const struct {
    const char* module;
    const char* message;
  } kCases[] = {
      {"answers_forever", "pieces: the answer is longer than its ceiling"},
      {"complains_forever", "pieces: the error text is longer than 4 KiB"},
      {"strange_status", "pieces: status 77 is out of range"},
  };
  for (const auto& [name, message] : kCases) {
    SCOPED_TRACE(name);
    const auto backend = instance_of(name);
    ASSERT_TRUE(backend);

    const auto pieces = backend->pieces();

    ASSERT_FALSE(pieces);
    EXPECT_EQ(pieces.error().code, ErrorCode::kBackend);
    EXPECT_EQ(pieces.error().message, message);
  }
}

// A backend is trusted not to print: nothing stands between it and our standard output, and a
// reader of frames would take "hello" for a length. That is why the conformance suite looks.
TEST_F(LoadBackendTest, WhatAModulePrintsReachesStandardOutput) {
  const auto backend = instance_of("prints");
  ASSERT_TRUE(backend);

  ::testing::internal::CaptureStdout();
  const auto pieces = backend->pieces();
  const std::string printed = ::testing::internal::GetCapturedStdout();

  EXPECT_TRUE(pieces);
  EXPECT_EQ(printed, "hello\n");
}

TEST_F(LoadBackendTest, AThreadOfAModuleShowsInTheTaskList) {
  const std::size_t before = count_entries("/proc/self/task");
  {
    const auto honest = instance_of("honest");
    EXPECT_EQ(count_entries("/proc/self/task"), before);
    const auto backend = instance_of("starts_thread");
    EXPECT_EQ(count_entries("/proc/self/task"), before + 1);
  }
}

TEST_F(LoadBackendTest, ALoadedModuleCostsOneDescriptorAndARefusedOneNone) {
  ASSERT_TRUE(load_backend(module("honest")));
  const std::size_t before = count_entries("/proc/self/fd");

  EXPECT_FALSE(load_backend(module("no_entry")));
  EXPECT_FALSE(load_backend(file("text.so", "text")));
  EXPECT_EQ(count_entries("/proc/self/fd"), before);

  EXPECT_TRUE(load_backend(module("other")));
  EXPECT_EQ(count_entries("/proc/self/fd"), before + 1);
}

TEST_F(LoadBackendTest, OurOwnBackendOfTheBuildTreeLoads) {
  const fs::path built = LOOM_BINARY_DIR "/lib/loom-exec/backends/unsupported.so";
  const fs::path copy = directory_ / "unsupported.so";
  fs::copy_file(built, copy);
  fs::permissions(copy, fs::perms(0755));

  const auto table = load_backend(copy.string());

  ASSERT_TRUE(table) << table.error().message;
  EXPECT_STREQ((*table)->name, "unsupported");
  const auto backend = make_table_backend(**table, host_);
  ASSERT_TRUE(backend);
  EXPECT_TRUE((*backend)->features({.os = "plan9"})->degraded);
}

}  // namespace
}  // namespace loom::host

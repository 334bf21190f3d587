#include "app/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace loom::app {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Caller caller_in(const std::string& directory) {
  return {.directory = directory,
          .environment = {{"PATH", "/usr/bin"}, {"HOME", "/home/me"}, {"TOKEN", "secret"}}};
}

AbsolutePath path(std::string_view text) { return *AbsolutePath::parse(text); }

ParsedOptions parse(std::initializer_list<const char*> words) {
  const std::vector<const char*> argv(words);
  return parse_run_options("run", static_cast<int>(argv.size()), argv.data());
}

TEST(RunOptionsTest, WordsBehindTheMarkAreTheCommandEvenWhenTheyLookLikeOptions) {
  const ParsedOptions parsed = parse({"--network", "full", "--", "ls", "--read", "--", "-x"});

  ASSERT_FALSE(parsed.exit_status);
  EXPECT_THAT(parsed.options.command, ElementsAre("ls", "--read", "--", "-x"));
  EXPECT_EQ(parsed.options.network, "full");
}

TEST(RunOptionsTest, UsageErrorsEndWithTwo) {
  EXPECT_EQ(parse({"--nonsense", "--", "true"}).exit_status, 2);
  EXPECT_EQ(parse({"--network", "proxy", "--", "true"}).exit_status, 2);
  EXPECT_EQ(parse({"--demand", "most", "--", "true"}).exit_status, 2);
  EXPECT_EQ(parse({"--pids", "-1", "--", "true"}).exit_status, 2);
  EXPECT_EQ(parse({"--read", "/usr"}).exit_status, 2);
  EXPECT_FALSE(parse({"--read", "/usr", "--", "true"}).exit_status);
}

TEST(RunOptionsTest, UnixSocketsAreAllowedUnlessDeniedAndNoOtherWordCounts) {
  EXPECT_FALSE(parse({"--", "true"}).options.deny_unix_sockets);
  EXPECT_FALSE(parse({"--unix-sockets", "allow", "--", "true"}).options.deny_unix_sockets);
  EXPECT_TRUE(parse({"--unix-sockets", "deny", "--", "true"}).options.deny_unix_sockets);
  EXPECT_EQ(parse({"--unix-sockets", "no", "--", "true"}).exit_status, 2);
  // The operator's word, not the policy's.
  const ParsedOptions both = parse({"--policy", "p.json", "--unix-sockets", "deny", "--", "true"});
  EXPECT_FALSE(both.exit_status);
  EXPECT_TRUE(both.options.deny_unix_sockets);
}

TEST(RunOptionsTest, OnlyAPlanShowsTheFilterAndNeedsNoCommandForIt) {
  const auto plan = [](std::initializer_list<const char*> words) {
    const std::vector<const char*> argv(words);
    return parse_run_options("plan", static_cast<int>(argv.size()), argv.data());
  };
  EXPECT_FALSE(plan({"--filter"}).exit_status);
  EXPECT_TRUE(plan({"--filter", "--network", "full", "--", "true"}).options.show_filter);
  EXPECT_EQ(plan({"--network", "full"}).exit_status, 2);
  EXPECT_EQ(parse({"--filter", "--", "true"}).exit_status, 2);
}

ParsedOptions parse_why(std::initializer_list<const char*> words) {
  const std::vector<const char*> argv(words);
  return parse_run_options("why", static_cast<int>(argv.size()), argv.data());
}

TEST(RunOptionsTest, AQuestionFollowsThePolicyOptionsAndIsNoneOfTheirValues) {
  const ParsedOptions parsed =
      parse_why({"--read", "/a", "--read", "/b", "rename", "/x", "/y", "--protect", "/p"});

  ASSERT_FALSE(parsed.exit_status);
  EXPECT_THAT(parsed.options.question, ElementsAre("rename", "/x", "/y"));
  EXPECT_THAT(parsed.options.read, ElementsAre("/a", "/b"));
  EXPECT_THAT(parsed.options.protect, ElementsAre("/p"));
  EXPECT_FALSE(parsed.options.json);
  EXPECT_TRUE(parse_why({"--json", "read", "/x"}).options.json);
}

TEST(RunOptionsTest, WordsBehindTheMarkAreTheQuestionEvenWhenTheyLookLikeOptions) {
  EXPECT_THAT(parse_why({"--read", "/a", "--", "read", "--json"}).options.question,
              ElementsAre("read", "--json"));
  EXPECT_THAT(parse_why({"read", "--", "-x"}).options.question, ElementsAre("read", "-x"));
}

TEST(RunOptionsTest, AQuestionOrRequestsButNotBothAndNoneIsAUsageError) {
  EXPECT_FALSE(parse_why({"--requests", "-"}).exit_status);
  EXPECT_EQ(parse_why({"--requests", "-", "read", "/x"}).exit_status, 2);
  EXPECT_EQ(parse_why({}).exit_status, 2);
  EXPECT_EQ(parse_why({"--report", "json", "read", "/x"}).exit_status, 2);
  EXPECT_EQ(parse({"--json", "--", "true"}).exit_status, 2);
}

TEST(RunOptionsTest, ANumberIsDecimalAndFitsOrIsAUsageError) {
  for (const char* option : {"--cpu-seconds", "--wall-seconds", "--memory-bytes", "--pids",
                             "--file-bytes", "--output-bytes"}) {
    SCOPED_TRACE(option);
    for (const char* text : {"-1", "+1", " 1", "1 ", "0x10", "1e3", "1.5", "", "eight",
                             "18446744073709551616", "99999999999999999999999"}) {
      EXPECT_EQ(parse({option, text, "--", "true"}).exit_status, 2) << '"' << text << '"';
    }
    EXPECT_FALSE(parse({option, "18446744073709551615", "--", "true"}).exit_status);
  }
  EXPECT_EQ(parse({"--file-bytes", "010", "--", "true"}).options.limits.fsize_bytes, 10u);
  EXPECT_EQ(parse({"--file-bytes", "8", "--", "true"}).options.limits.fsize_bytes, 8u);
}

TEST(RunOptionsTest, AStepUpBehindALinkMeansWhatTheKernelMeans) {
  std::string pattern = (std::filesystem::temp_directory_path() / "loom-XXXXXX").string();
  const std::filesystem::path place = std::filesystem::canonical(::mkdtemp(pattern.data()));
  std::filesystem::create_directories(place / "far/deep");
  std::filesystem::create_directories(place / "z");
  std::filesystem::create_directory_symlink(place / "far/deep", place / "z/lk");
  RunOptions options;
  options.protect = {"z/lk/../sec", "z/../sec", "z/lk"};
  options.mounts = {"z/lk/../tool:rw"};

  resolve_parent_steps(options, place.string());

  EXPECT_THAT(options.protect,
              ElementsAre((place / "far/sec").string(), (place / "sec").string(), "z/lk"));
  EXPECT_THAT(options.mounts, ElementsAre((place / "far/tool").string() + ":rw"));
  std::filesystem::remove_all(place);
}

TEST(RunOptionsTest, APolicyFileExcludesThePolicyOptionsButNotTheEnvironment) {
  for (const char* option : {"--workspace", "--read", "--write", "--protect", "--mount"}) {
    SCOPED_TRACE(option);
    EXPECT_EQ(parse({"--policy", "p.json", option, "/x", "--", "true"}).exit_status, 2);
  }
  EXPECT_EQ(parse({"--policy", "p.json", "--pids", "3", "--", "true"}).exit_status, 2);
  EXPECT_FALSE(parse({"--policy", "p.json", "--env", "A=1", "--", "true"}).exit_status);
}

TEST(RunOptionsTest, TheCurrentDirectoryIsTheWorkspaceUnlessAnotherIsNamed) {
  const auto here = policy_of({}, caller_in("/home/me/project"));
  const auto named = policy_of({.workspace = "sub"}, caller_in("/home/me/project"));

  ASSERT_TRUE(here && named);
  EXPECT_THAT(here->writable_roots, ElementsAre(path("/home/me/project")));
  EXPECT_THAT(named->writable_roots, ElementsAre(path("/home/me/project/sub")));
}

TEST(RunOptionsTest, TheWholeSystemIsNoWorkspace) {
  const auto refused = policy_of({}, caller_in("/"));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--workspace"));
}

TEST(RunOptionsTest, NetworkIsOffAndNothingIsLimitedUnlessAsked) {
  const auto policy = policy_of({}, caller_in("/w"));

  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->network.mode, NetworkMode::kOff);
  EXPECT_EQ(policy->limits, Limits{});
  EXPECT_TRUE(policy->scratch.is_tmpfs());
}

TEST(RunOptionsTest, MountsAreReadOnlyUnlessTheySayOtherwise) {
  RunOptions options;
  options.mounts = {"/a", "/b:rw", "c:ro"};
  const auto policy = policy_of(options, caller_in("/w"));

  ASSERT_TRUE(policy);
  ASSERT_EQ(policy->mounts.size(), 3u);
  EXPECT_FALSE(policy->mounts[0].writable);
  EXPECT_TRUE(policy->mounts[1].writable);
  EXPECT_EQ(policy->mounts[2].path, path("/w/c"));
  EXPECT_TRUE(policy->mounts[2].required);
}

TEST(RunOptionsTest, OptionsGetNoRightThatADocumentWouldBeRefused) {
  RunOptions options;
  options.protect = {"/srv/x"};
  options.mounts = {"/srv"};
  const auto refused = policy_of(options, caller_in("/w"));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("overlaps protected path"));
}

TEST(RunOptionsTest, TheCommandSeesNoVariableNobodyNamed) {
  const Caller caller = caller_in("/w");
  RunOptions named;
  named.env = {"TOKEN"};
  const auto plain_policy = policy_of({}, caller);
  const auto named_policy = policy_of(named, caller);
  ASSERT_TRUE(plain_policy && named_policy);

  const auto plain = requested_environment({}, caller, *plain_policy, true);
  const auto with_token = requested_environment(named, caller, *named_policy, true);

  ASSERT_TRUE(plain && with_token);
  EXPECT_EQ(plain->count("TOKEN"), 0u);
  EXPECT_EQ(with_token->at("TOKEN"), "secret");
}

TEST(RunOptionsTest, HomeIsTheScratchUnlessNamed) {
  const Caller caller = caller_in("/w");
  RunOptions own;
  own.env = {"HOME"};
  const auto policy = policy_of({}, caller);
  ASSERT_TRUE(policy);

  EXPECT_EQ(requested_environment({}, caller, *policy, true)->at("HOME"), "/tmp");
  EXPECT_EQ(requested_environment(own, caller, *policy, true)->at("HOME"), "/home/me");
  EXPECT_EQ(requested_environment({}, caller, *policy, false)->count("HOME"), 0u);
}

TEST(RunOptionsTest, AVariableThePolicyDoesNotAllowIsRefusedByName) {
  Policy policy;
  policy.env_allow = {"PATH"};
  RunOptions options;
  options.env = {"TOKEN=1"};
  const auto refused = requested_environment(options, caller_in("/w"), policy, true);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("TOKEN"));
}

TEST(RunOptionsTest, TheCommandStartsHereIfTheWorkspaceHoldsItAndElseInTheWorkspace) {
  RunOptions options;
  options.workspace = "/w";
  const auto policy = policy_of(options, caller_in("/w/deep"));
  ASSERT_TRUE(policy);

  EXPECT_EQ(*directory_of(options, caller_in("/w/deep"), *policy), "/w/deep");
  EXPECT_EQ(*directory_of(options, caller_in("/elsewhere"), *policy), "/w");
  options.cwd = "sub";
  EXPECT_EQ(*directory_of(options, caller_in("/w"), *policy), "/w/sub");
}

}  // namespace
}  // namespace loom::app

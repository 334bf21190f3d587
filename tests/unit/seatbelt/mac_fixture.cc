#include "mac_fixture.h"

#include <gtest/gtest.h>
#include <loom/check.h>

#include <cerrno>
#include <sstream>
#include <utility>

#include "backends/seatbelt/audit.h"
#include "backends/seatbelt/plan.h"
#include "backends/seatbelt/platform.h"
#include "backends/seatbelt/render.h"
#include "backends/seatbelt/survey.h"

namespace loom::seatbelt::test {

AbsolutePath path(std::string_view text) {
  auto parsed = AbsolutePath::parse(text);
  LOOM_CHECK(parsed.has_value());
  return *std::move(parsed);
}

std::vector<AbsolutePath> paths(const std::vector<std::string>& texts) {
  std::vector<AbsolutePath> all;
  for (const std::string& text : texts) all.push_back(path(text));
  return all;
}

ExplicitMount mount(std::string_view at, bool writable, bool required) {
  return {.path = path(at), .writable = writable, .required = required};
}

ExecRule exec_directory(std::string_view real) {
  return {.scope = ExecScope::kDirectory,
          .real = path(real),
          .written = std::string(real),
          .identity = identity_at(std::string(real))};
}

ExecRule exec_file(std::string_view real) {
  ExecRule rule = exec_directory(real);
  rule.scope = ExecScope::kFile;
  return rule;
}

ExecRule exec_name(std::string_view name) {
  return {.scope = ExecScope::kName,
          .real = AbsolutePath::root(),
          .name = std::string(name),
          .written = std::string(name)};
}

ExecRule exec_any() { return {.scope = ExecScope::kAny, .real = AbsolutePath::root()}; }

ExecRules exec_rules(std::vector<ExecRule> allow, std::vector<ExecRule> deny,
                     std::vector<AbsolutePath> support) {
  return {.restrictive = true,
          .allow = std::move(allow),
          .deny = std::move(deny),
          .support = std::move(support)};
}

Mac::Mac() {
  for (const std::string_view root : kSystemView) directory(std::string(root));
  link("/tmp", "private/tmp").link("/var", "private/var").link("/etc", "private/etc");
  directory("/private/tmp").directory(kRunScratch);
  directory("/private/var/folders/zz/T").directory("/private/var/folders/zz/C");
  directory("/Users/me/work/src").directory("/Users/me/work/.git/hooks").file("/usr/bin/true");
  file("/Users/me/work/src/main.c").file("/Users/me/work/.env").file("/Users/me/.ssh/id");
  file("/bin/sh").file("/bin/cat");
  tree_.device("/dev/null").device("/dev/tty");
  facts_.os = "darwin";
  facts_.machine = "arm64";
  facts_.uid = 501;
  facts_.launcher = {.present = true, .path = std::string(kLauncher)};
  stage2(kStage2Path);
  machine({.user_directories = {kUserTemp, kUserCache}});
}

Mac& Mac::directory(const std::string& at) {
  tree_.directory(at);
  return *this;
}

Mac& Mac::file(const std::string& at) {
  tree_.file(at);
  return *this;
}

Mac& Mac::link(const std::string& at, const std::string& target) {
  tree_.link(at, target);
  return *this;
}

Mac& Mac::uid(std::uint32_t number) {
  facts_.uid = number;
  return *this;
}

Mac& Mac::machine(const MachineFacts& facts) {
  facts_.backend = encode(facts);
  return *this;
}

Mac& Mac::without_launcher() {
  facts_.launcher = {.present = false, .reason = "no such file"};
  return *this;
}

Mac& Mac::without_stage2() {
  facts_.stage2 = {.present = false, .reason = "no such file"};
  return *this;
}

Mac& Mac::stage2(const std::string& at) {
  if (!tree_.walk(at).kind) file(at);
  facts_.stage2 = {.present = true, .path = at};
  return *this;
}

HostFacts Mac::facts(const Survey& survey) const {
  HostFacts facts = facts_;
  facts.paths = tree_.facts(survey.paths);
  facts.directories = tree_.directories(facts.paths);
  return facts;
}

PlanRequest Mac::request(const Policy& policy, std::optional<ExecRules> exec) const {
  const auto asked = survey({.policy = policy, .facts = facts_});
  EXPECT_TRUE(asked.has_value());
  PlanRequest request{.policy = policy,
                      .command = {.argv = {"/bin/sh"}, .environment = {}, .cwd = kWork},
                      .exec = std::move(exec),
                      .facts = facts(*asked),
                      .nonce = "n"};
  if (request.exec) request.policy.version = 3;
  if (asked->private_scratch) request.private_scratch = path(kRunScratch);
  return request;
}

Policy work_policy() {
  Policy policy;
  policy.writable_roots = paths({kWork});
  policy.protected_paths = paths({std::string(kWork) + "/.git"});
  return policy;
}

Launched::Launched(const Mac& mac, const PlanRequest& request) : tree_(mac.tree()) {
  auto planned = seatbelt::plan(request);
  EXPECT_TRUE(planned.has_value()) << planned.error().message;
  if (!planned) return;
  plan_ = *std::move(planned);
  auto rendered = render(plan_);
  auto audited = seatbelt::audit(plan_);
  EXPECT_TRUE(rendered.has_value() && audited.has_value());
  if (!rendered || !audited) return;
  launch_ = *std::move(rendered);
  audit_ = *std::move(audited);
  auto call = read_call(launch_);
  EXPECT_TRUE(call.has_value()) << call.error().message;
  if (!call) return;
  call_ = *std::move(call);
  auto rules = Profile::parse(call_.profile, call_.definitions);
  EXPECT_TRUE(rules.has_value()) << rules.error().message << '\n' << call_.profile;
  if (rules) rules_ = *std::move(rules);
}

std::vector<std::string> Launched::defined(const std::string& prefix) const {
  std::vector<std::string> found;
  for (const std::string& name : call_.order) {
    if (name.starts_with(prefix)) found.push_back(call_.definitions.at(name));
  }
  return found;
}

Error refusal(const PlanRequest& request) {
  const auto planned = plan(request);
  EXPECT_FALSE(planned.has_value());
  return planned ? Error{} : planned.error();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace loom::seatbelt::test

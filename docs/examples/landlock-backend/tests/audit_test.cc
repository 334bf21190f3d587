#include "audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan.h"
#include "question.h"

namespace landlock {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

loom::JailPlan plan_of(const Question& question) {
  auto made = plan(question.request);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : loom::JailPlan{};
}

loom::Audit audit_of(const loom::JailPlan& made) {
  auto judged = audit(made);
  EXPECT_TRUE(judged) << judged.error().message;
  return judged ? *judged : loom::Audit{};
}

TEST(LandlockAuditTest, TheEntryCountsWhatTheViewGives) {
  Question question;
  question.request.policy.readable_roots = {path("/a"), path("/b")};
  question.request.policy.protected_paths = {path("/x"), path("/y/z")};
  question.request.policy.mounts = {{.path = path("/m"), .writable = true}};
  question.look();

  const loom::Audit judged = audit_of(plan_of(question));

  EXPECT_THAT(judged.when_witnessed,
              Contains(StartsWith("landlock-fs:ro=2,rw=1,mask=2,bind_ro=0,bind_rw=1,scratch="
                                  "private-dir,base=minimal,plan=")));
  EXPECT_THAT(judged.widened, IsEmpty());
}

TEST(LandlockAuditTest, AMaskThatTheViewLostIsWidenedAndNotCounted) {
  Question question;
  question.request.policy.protected_paths = {path("/x")};
  question.look();
  loom::JailPlan made = plan_of(question);
  ASSERT_EQ(made.view.back().region, path("/x"));
  made.view.back().mount_class = loom::MountClass::kReadable;

  const loom::Audit judged = audit_of(made);

  EXPECT_THAT(judged.when_witnessed, Contains(HasSubstr(",mask=0,")));
  EXPECT_THAT(judged.widened, Contains(HasSubstr("protected path /x is open")));
}

TEST(LandlockAuditTest, AWritableRootUnderAReadOnlyMountIsNamed) {
  Question question;
  question.request.policy.writable_roots = {path("/m/ws")};
  question.request.policy.mounts = {{.path = path("/m"), .writable = false}};
  question.look();

  const loom::Audit judged = audit_of(plan_of(question));

  EXPECT_THAT(judged.widened, Contains(HasSubstr("writable root /m/ws is read-only")));
}

TEST(LandlockAuditTest, NothingIsClaimedWithoutAWitness) {
  const loom::Audit judged = audit_of(plan_of(Question()));

  EXPECT_TRUE(judged.expects_witness);
  for (const std::string& entry : judged.when_silent) EXPECT_THAT(entry, StartsWith("skip:"));
  EXPECT_THAT(judged.always, IsEmpty());
}

TEST(LandlockAuditTest, NamespacesArePassedOverInEveryReport) {
  const loom::Audit judged = audit_of(plan_of(Question()));

  EXPECT_THAT(judged.when_witnessed, Contains(StartsWith("skip:bwrap: ")));
  EXPECT_THAT(judged.when_silent, Contains(StartsWith("skip:bwrap: ")));
  EXPECT_THAT(judged.extras, Contains(StartsWith("unheld:pid-namespace=")));
}

TEST(LandlockAuditTest, WhatAnOlderKernelDoesNotHoldIsNamed) {
  Question question;
  question.kernel(1);

  const loom::Audit judged = audit_of(plan_of(question));

  for (const char* missing :
       {"unheld:refer", "unheld:truncate", "unheld:device-ioctl", "unheld:signal-scope"}) {
    EXPECT_THAT(judged.extras, Contains(missing));
  }
  const auto keepers =
      Contains(AllOf(StartsWith("unheld:processes="), HasSubstr("does not scope signals")));
  EXPECT_THAT(judged.extras, keepers);
  EXPECT_THAT(audit_of(plan_of(Question())).extras, Not(keepers));
  EXPECT_THAT(audit_of(plan_of(Question())).extras, Not(Contains("unheld:truncate")));
}

TEST(LandlockAuditTest, WhatMayOutliveARunIsNamedUnlessAControlGroupEndsIt) {
  const auto outlives = Contains(StartsWith("unheld:processes="));
  Question question;
  question.request.facts.ceilings.available = true;
  EXPECT_THAT(audit_of(plan_of(question)).extras, outlives);

  question.request.policy.limits.pids = 100;
  EXPECT_THAT(audit_of(plan_of(question)).extras, Not(outlives));

  question.request.facts.ceilings.available = false;
  EXPECT_THAT(audit_of(plan_of(question)).extras, outlives);
}

TEST(LandlockAuditTest, WhatTheKernelGivesNoMeansForIsNamedInEveryReport) {
  const loom::Audit judged = audit_of(plan_of(Question()));

  EXPECT_THAT(judged.extras, Contains(StartsWith("unheld:ipc-namespace=")));
  EXPECT_THAT(judged.extras, Contains(StartsWith("unheld:devices=")));
}

TEST(LandlockAuditTest, UnixSocketsAreNamedUnlessTheyAreDenied) {
  Question question;
  EXPECT_THAT(
      audit_of(plan_of(question)).extras,
      Contains("unheld:unix-path=any socket of the account, granted or not, protected ones too"));

  question.request.deny_unix_sockets = true;
  EXPECT_THAT(audit_of(plan_of(question)).extras, Not(Contains(StartsWith("unheld:unix-path"))));
}

TEST(LandlockAuditTest, FurtherHardLinksOfAMaskedFileAreCounted) {
  Question question;
  question.request.policy.protected_paths = {path("/x")};
  question.look();
  question.fact("/x").kind = loom::PathKind::kRegular;
  question.fact("/x").link_count = 2;

  EXPECT_THAT(audit_of(plan_of(question)).extras, Contains("mask-links=1"));
}

}  // namespace
}  // namespace landlock

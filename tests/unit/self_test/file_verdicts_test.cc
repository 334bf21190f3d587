#include "app/self_test/file_verdicts.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

WriteEvidence held_write() {
  return {.run = printed("ALLOWED-OK\n", "cannot create victim\n"),
          .victim_exists = false,
          .allowed_arrived = true};
}

TEST(OutsideWriteVerdictTest, ADeniedWriteBesideAnAllowedOneIsEnforced) {
  EXPECT_THAT(judge_outside_write(held_write()), IsEnforced());
}

TEST(OutsideWriteVerdictTest, AWriteThatWasDoneIsFoundInsideAndOnTheHost) {
  WriteEvidence seen = held_write();
  seen.run = printed("WROTE\nALLOWED-OK\n");
  EXPECT_THAT(judge_outside_write(seen), IsAFailure("wrote outside"));

  seen = held_write();
  seen.victim_exists = true;
  EXPECT_THAT(judge_outside_write(seen), IsAFailure("appeared on the host"));
}

TEST(OutsideWriteVerdictTest, AJailThatRefusesEverythingProvesNothing) {
  WriteEvidence seen = held_write();
  seen.run = printed("", "sh: nothing works\n");
  EXPECT_THAT(judge_outside_write(seen), IsAFailure("could not write inside"));

  seen = held_write();
  seen.allowed_arrived = false;
  EXPECT_THAT(judge_outside_write(seen), IsAFailure("did not reach the host"));
}

MaskEvidence held_masks() {
  return {.run = printed("ALLOWED-OK\nopen-bytes\n.\n..\n", "cat: secret.env: Permission denied\n"),
          .file_marker = "file-bytes",
          .inner_marker = "inner-bytes",
          .inner_name = "private-key",
          .open_marker = "open-bytes",
          .file_changed = false,
          .inner_changed = false};
}

TEST(MaskVerdictTest, MasksThatShowNothingBesideWhatIsOpenAreEnforced) {
  EXPECT_THAT(judge_masks(held_masks()), IsEnforced());
}

TEST(MaskVerdictTest, EveryLeakAndEveryChangeIsFound) {
  MaskEvidence seen = held_masks();
  seen.run.out += "file-bytes\n";
  EXPECT_THAT(judge_masks(seen), IsAFailure("protected file was read"));
  seen = held_masks();
  seen.run.err += "cat: inner-bytes\n";
  EXPECT_THAT(judge_masks(seen), IsAFailure("directory's file was read"));
  seen = held_masks();
  seen.run.out += "private-key\n";
  EXPECT_THAT(judge_masks(seen), IsAFailure("listed"));
  seen = held_masks();
  seen.file_changed = true;
  EXPECT_THAT(judge_masks(seen), IsAFailure("file was changed"));
  seen = held_masks();
  seen.inner_changed = true;
  EXPECT_THAT(judge_masks(seen), IsAFailure("directory was changed"));
}

TEST(MaskVerdictTest, TheNameInAnErrorMessageIsNoListing) {
  MaskEvidence seen = held_masks();
  seen.run.err += "cat: secrets.d/private-key: No such file\n";

  EXPECT_THAT(judge_masks(seen), IsEnforced());
}

TEST(MaskVerdictTest, WordsOfThePayloadAloneDecideNothing) {
  MaskEvidence seen = held_masks();
  seen.run.out += "WROTE\nREMOVED\n";

  EXPECT_THAT(judge_masks(seen), IsEnforced());
}

TEST(MaskVerdictTest, AJailThatRefusesEverythingProvesNothing) {
  MaskEvidence seen = held_masks();
  seen.run = printed("open-bytes\n");
  EXPECT_THAT(judge_masks(seen), IsAFailure("beside the masks"));
  seen.run = printed("ALLOWED-OK\n");
  EXPECT_THAT(judge_masks(seen), IsAFailure("beside the masks"));
}

RevealEvidence held_reveal() {
  return {.control = printed("ALLOWED-OK\none\ntwo\npublic\n"),
          .test = printed("ALLOWED-OK\npublic\n"),
          .secrets = {"one", "two"},
          .open = {"public"}};
}

TEST(RevealVerdictTest, WhatOnlyTheControlShowsIsEnforced) {
  EXPECT_THAT(judge_reveal(held_reveal()), IsEnforced());
}

TEST(RevealVerdictTest, AControlThatShowsLessProvesNothing) {
  RevealEvidence seen = held_reveal();
  seen.control = printed("ALLOWED-OK\none\n");

  EXPECT_THAT(judge_reveal(seen), IsAFailure("a refusal proves nothing"));
}

TEST(RevealVerdictTest, OneSecretOnEitherStreamIsEnough) {
  RevealEvidence seen = held_reveal();
  seen.test.err = "two";

  EXPECT_THAT(judge_reveal(seen), IsAFailure("read \"two\""));
}

TEST(RevealVerdictTest, AJailThatRefusesEverythingProvesNothing) {
  RevealEvidence seen = held_reveal();
  seen.test = printed("public\n");
  EXPECT_THAT(judge_reveal(seen), IsAFailure("what it was allowed"));
  seen.test = printed("ALLOWED-OK\n");
  EXPECT_THAT(judge_reveal(seen), IsAFailure("what is not protected"));
}

}  // namespace
}  // namespace loom::app

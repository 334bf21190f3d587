// How macOS tells what a program is (guard 6.3).

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "guard/program_file.h"
#include "mac_images.h"
#include "program_images.h"

namespace loom::guard {
namespace {

const ProgramRules kArmMac = program_rules("darwin", "arm64");
const ProgramRules kX86Mac = program_rules("darwin", "x86_64");

ProgramFile parsed(const std::string& file, const ProgramRules& rules = kArmMac) {
  const auto read = [&file](std::uint64_t offset, std::size_t size) -> Result<Bytes> {
    if (offset >= file.size()) return Bytes();
    const ByteView rest = as_bytes(file).subspan(offset);
    const ByteView part = rest.first(std::min(size, rest.size()));
    return Bytes(part.begin(), part.end());
  };
  return *parse_program(read, rules);
}

std::string why(const std::string& file, const ProgramRules& rules = kArmMac) {
  const ProgramFile program = parsed(file, rules);
  if (program.format == ProgramFormat::kBinary) {
    return program.needs ? "needs " + *program.needs : "runs";
  }
  return program.format == ProgramFormat::kScript ? "is a script" : program.why;
}

std::optional<std::string> interpreter(std::string_view head) {
  const auto found = script_interpreter(head, kArmMac.script);
  return found ? std::optional(std::string(*found)) : std::nullopt;
}

TEST(ProgramRulesTest, TheSystemOfTheFactsChoosesThem) {
  EXPECT_EQ(kArmMac.script.head_bytes, 512U);
  EXPECT_TRUE(kArmMac.script.ends_at_hash);
  EXPECT_EQ(kArmMac.binary, BinaryFormat::kMachO);
  EXPECT_FALSE(kArmMac.linker_is_a_program);
  ASSERT_TRUE(kArmMac.forwarding);
  EXPECT_EQ(kArmMac.forwarding->shell_choice, "/private/var/select/sh");
  EXPECT_EQ(kArmMac.forwarding->developer_choice, "/private/var/db/xcode_select_link");
  EXPECT_EQ(kArmMac.forwarding->developer_default, "/Library/Developer/CommandLineTools");

  const ProgramRules linux = program_rules("linux", "x86_64");
  EXPECT_EQ(linux.script.head_bytes, 256U);
  EXPECT_EQ(linux.script.max_scripts, 5U);
  EXPECT_FALSE(linux.script.ends_at_hash);
  EXPECT_EQ(linux.binary, BinaryFormat::kElf);
  EXPECT_TRUE(linux.linker_is_a_program);
  EXPECT_FALSE(linux.forwarding);
  EXPECT_EQ(own_program_rules(), linux);
}

// --- scripts
// ---------------------------------------------------------------------------------------

TEST(MacScriptTest, TheLineEndsAtANewlineOrAHash) {
  EXPECT_EQ(interpreter("#!/bin/sh\n"), "/bin/sh");
  EXPECT_EQ(interpreter("#! \t/bin/sh -e\n"), "/bin/sh");
  EXPECT_EQ(interpreter("#!/bin/sh#comment"), "/bin/sh");
  EXPECT_EQ(interpreter("#!/bin/sh -e # comment"), "/bin/sh");
  EXPECT_EQ(interpreter("#!/bin/s#h\n"), "/bin/s");
  EXPECT_EQ(interpreter("#!#/bin/sh\n"), std::nullopt);
  EXPECT_EQ(interpreter("#!\n/bin/sh\n"), std::nullopt);
  EXPECT_EQ(interpreter("#!   \n"), std::nullopt);
}

TEST(MacScriptTest, ALineThatDoesNotEndIsNoScript) {
  EXPECT_EQ(interpreter("#!/bin/sh"), std::nullopt);
  EXPECT_EQ(interpreter(std::string("#!/bin/sh\0", 10)), std::nullopt);
  EXPECT_EQ(script_interpreter("#!/bin/sh", program_rules("linux", "x86_64").script), "/bin/sh");
}

TEST(MacScriptTest, ACarriageReturnIsPartOfTheName) {
  EXPECT_EQ(interpreter("#!/bin/sh\r\n"), "/bin/sh\r");
}

// The newline counts: it must be one of the 512 bytes.
TEST(MacScriptTest, TheWholeLineFitsInto512Bytes) {
  const auto line_of = [](std::size_t size) {  // its newline is byte number `size`
    std::string line = "#!/bin/sh ";
    line.resize(size - 1, 'a');
    return line + '\n';
  };
  EXPECT_EQ(interpreter(line_of(511)), "/bin/sh");
  EXPECT_EQ(interpreter(line_of(512)), "/bin/sh");
  EXPECT_EQ(interpreter(line_of(513)), std::nullopt);
  EXPECT_EQ(parsed(line_of(512)).format, ProgramFormat::kScript);
  EXPECT_EQ(parsed(line_of(513)).format, ProgramFormat::kUnknown);
  std::string hash(511, 'a');
  hash.replace(0, 10, "#!/bin/sh ");
  EXPECT_EQ(interpreter(hash + '#'), "/bin/sh");
  EXPECT_EQ(interpreter(hash + "a#"), std::nullopt);
}

// --- binaries
// --------------------------------------------------------------------------------------

TEST(MacBinaryTest, AProgramForThisProcessorRunsAndNeedsNothing) {
  EXPECT_EQ(why(mac_image(kMacArm)), "runs");
  EXPECT_EQ(why(mac_image(kMacX86), kX86Mac), "runs");
  EXPECT_EQ(why(mac_image(kMacX86)), "runs") << "translated";
  EXPECT_EQ(why(mac_image(kMacArm), kX86Mac), "is a binary for another machine");
  EXPECT_EQ(why(mac_image(0x12)), "is a binary for another machine") << "PowerPC";
}

TEST(MacBinaryTest, ALibraryIsNoProgram) {
  EXPECT_EQ(why(mac_image(kMacArm, kMacLibrary)), "is a binary file, but no program");
  EXPECT_EQ(why(mac_fat({mac_image(kMacArm, kMacLibrary)}, {kMacArm})),
            "is a binary file, but no program");
}

TEST(MacBinaryTest, TheOtherByteOrderIsRecognisedAndForAnotherMachine) {
  EXPECT_EQ(why(big(0xfeedface) + big(0x12) + std::string(24, '\0')),
            "is a binary for another machine");
  EXPECT_EQ(why(big(0xfeedfacf) + big(kMacArm) + std::string(24, '\0')),
            "is a binary for another machine");
  EXPECT_EQ(why(little(0xfeedface) + little(7) + std::string(24, '\0')),
            "is a binary for another machine")
      << "32 bits";
  EXPECT_EQ(why(little(0xcafebabe) + little(1) + std::string(64, '\0')),
            "is a binary for another machine");
}

TEST(MacBinaryTest, OfSeveralImagesOneForThisProcessorIsEnough) {
  const std::string both = mac_fat({mac_image(kMacX86), mac_image(kMacArm)}, {kMacX86, kMacArm});
  EXPECT_EQ(why(both), "runs");
  EXPECT_EQ(why(both, kX86Mac), "runs");
  EXPECT_EQ(why(mac_fat({mac_image(kMacArm)}, {kMacArm}), kX86Mac),
            "is a binary for another machine");
  EXPECT_EQ(why(mac_fat({mac_image(0x12)}, {kMacArm})), "is a binary for another machine")
      << "the table does not say what the image is";
}

TEST(MacBinaryTest, WhatIsCutShortIsNoProgram) {
  const std::string thin = mac_image(kMacArm);
  for (std::size_t size = 4; size < thin.size(); ++size) {
    EXPECT_EQ(why(thin.substr(0, size)), "is a binary that is cut short") << size;
  }
  const std::string fat = mac_fat({thin, thin}, {kMacX86, kMacArm});
  for (std::size_t size = 4; size < 8 + 2 * 20; ++size) {
    EXPECT_EQ(why(fat.substr(0, size)), "is a binary that is cut short") << size;
  }
  EXPECT_EQ(why(fat.substr(0, fat.size() - 1)), "is a binary that is cut short");
  EXPECT_EQ(why(fat), "runs");
}

TEST(MacBinaryTest, ATableOfAnImpossibleSizeIsNone) {
  EXPECT_EQ(why(big(0xcafebabe) + big(0)), "is a binary without a sound table of images");
  EXPECT_EQ(why(big(0xcafebabe) + big(205) + std::string(8'192, '\0')),
            "is a binary without a sound table of images");
  // A class file of Java begins with the same bytes, and then with its version.
  EXPECT_EQ(why(big(0xcafebabe) + big(52) + std::string(2'000, 'j')),
            "is a binary for another machine");
}

TEST(MacBinaryTest, EachSystemKnowsItsOwnFormat) {
  EXPECT_EQ(why(static_program()), "is neither a script that names its interpreter nor a binary");
  EXPECT_EQ(why(mac_program(), program_rules("linux", "x86_64")),
            "is neither a script that names its interpreter nor a binary");
}

}  // namespace
}  // namespace loom::guard

#include "guard/program_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "guard_support.h"
#include "program_images.h"

namespace loom::guard {
namespace {

const ProgramRules kLinux = program_rules("linux", "x86_64");
const std::size_t kHead = kLinux.script.head_bytes;

ReadBytes reader_of(std::string file) {
  return [file = std::move(file)](std::uint64_t offset, std::size_t size) -> Result<Bytes> {
    if (offset >= file.size()) return Bytes();
    const ByteView rest = as_bytes(file).subspan(offset);
    const ByteView part = rest.first(std::min(size, rest.size()));
    return Bytes(part.begin(), part.end());
  };
}

ProgramFile parsed(const std::string& file) { return *parse_program(reader_of(file), kLinux); }

std::optional<std::string_view> script_interpreter(std::string_view head) {
  return guard::script_interpreter(head, kLinux.script);
}

// --- scripts
// ---------------------------------------------------------------------------------------

// A line that fills the head exactly: `start`, then 'i' up to `size` bytes.
std::string filled(std::string start, std::size_t size) {
  start.resize(size, 'i');
  return start;
}

TEST(ScriptTest, TheInterpreterRunsFromTheFirstToTheNextBlankOrTheEndOfTheLine) {
  EXPECT_EQ(script_interpreter("#!/x/i\n"), "/x/i");
  EXPECT_EQ(script_interpreter("#! \t /x/i\n"), "/x/i");
  EXPECT_EQ(script_interpreter("#!/x/i -a b\n"), "/x/i");
  EXPECT_EQ(script_interpreter("#!/x/i\t-a\n"), "/x/i");
  EXPECT_EQ(script_interpreter("#!/x/i\n#!/y\n"), "/x/i");
  EXPECT_EQ(script_interpreter("#!i\n"), "i");
}

// guard 9.5: 96
TEST(ScriptTest, AShortFileNeedsNoNewline) {
  EXPECT_EQ(script_interpreter("#!/x/i"), "/x/i");
  EXPECT_EQ(script_interpreter(std::string("#!/x/i\0rest", 11)), "/x/i");
}

// guard 9.5: 97
TEST(ScriptTest, ACarriageReturnIsPartOfTheName) {
  EXPECT_EQ(script_interpreter("#!/x/i\r\n"), "/x/i\r");
}

TEST(ScriptTest, WithoutAnInterpreterThereIsNoScript) {
  for (const char* const head : {"", "#", "#!", "#!\n", "#! \t\n", "#!  ", " #!/x/i\n", "/x/i\n"}) {
    EXPECT_EQ(script_interpreter(head), std::nullopt) << head;
  }
}

TEST(ScriptTest, ANameThatMayBeCutShortByTheEndOfTheHeadIsNone) {
  EXPECT_EQ(script_interpreter(filled("#!/", kHead)), std::nullopt);
  EXPECT_EQ(script_interpreter(filled("#!/", kHead) + "\n"), std::nullopt) << "beyond the head";
  EXPECT_EQ(script_interpreter(filled("#!/", kHead - 1) + "\n"), filled("/", kHead - 3));
  EXPECT_EQ(script_interpreter(filled("#!/", kHead - 1) + " "), filled("/", kHead - 3));
  EXPECT_EQ(script_interpreter(filled("#!/", kHead - 1)), filled("/", kHead - 3));
  EXPECT_EQ(script_interpreter(filled("#!/x/i ", kHead)), "/x/i") << "only the argument is cut";
}

// What execve(2) says, or 0.
int execve_says(const std::string& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::string name = file;
    char* const argv[] = {name.data(), nullptr};
    char* const none[] = {nullptr};
    ::execve(file.c_str(), argv, none);
    ::_exit(errno);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ScriptTest, TheKernelReadsTheLineAlike) {
  const Tree tree;
  tree.link("/bin/true", "/i");
  tree.link("/bin/true", "/i\r");
  const std::string interpreter = tree.at("/i");
  const auto name_of = [&](std::size_t size) {
    return tree.at("") + std::string(size - tree.at("i").size(), '/') + "i";
  };
  const std::vector<std::string> heads = {
      "#!" + interpreter + "\n",
      "#! \t" + interpreter + " -a\n",
      "#!" + interpreter,
      "#!" + interpreter + "\t",
      "#!" + interpreter + std::string("\0\n", 2),
      "#!" + interpreter + "\r\n",
      "#!" + interpreter + "x\n",
      "#!" + name_of(kHead - 3),
      "#!" + name_of(kHead - 3) + "\n",
      "#!" + name_of(kHead - 3) + " ",
      "#!" + name_of(kHead - 2),
      "#!" + name_of(kHead - 2) + "\n",
      "#!" + filled(interpreter + " ", kHead),
      "#!" + filled(interpreter + " ", 2 * kHead) + "\n",
      "#!",
      "#! \n",
      "#!" + std::string(2 * kHead, ' ') + interpreter + "\n",
      "text\n",
      "",
  };
  for (const std::string& head : heads) {
    tree.file("/s", head, 0755);
    const ProgramFile file = parsed(head);
    const bool runs = file.needs && ::access(file.needs->c_str(), X_OK) == 0;
    const int said = execve_says(tree.at("/s"));
    EXPECT_EQ(said == 0, runs) << testing::PrintToString(head) << ": " << strerror(said);
  }
}

// --- binaries
// --------------------------------------------------------------------------------------

TEST(BinaryTest, ALinkerIsNamedByTheFirstSegmentThatNamesOne) {
  const ProgramFile file = parsed(Image("/l/ld.so").bytes());

  EXPECT_EQ(file.format, ProgramFormat::kBinary);
  EXPECT_EQ(file.needs, "/l/ld.so");
}

TEST(BinaryTest, AStaticBinaryNeedsNothing) {
  Image image("/l");
  image.segment.p_type = PT_LOAD;

  const ProgramFile file = parsed(image.bytes());

  EXPECT_EQ(file.format, ProgramFormat::kBinary);
  EXPECT_EQ(file.needs, std::nullopt);
}

TEST(BinaryTest, ThisTestItselfIsOneThatNamesAnExistingLinker) {
  const UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto file = read_program(self.get(), kLinux);

  ASSERT_TRUE(file);
  EXPECT_EQ(file->format, ProgramFormat::kBinary);
  ASSERT_TRUE(file->needs);
  EXPECT_EQ(::access(file->needs->c_str(), X_OK), 0) << *file->needs;
}

TEST(BinaryTest, AnotherMachineOrClassOrByteOrderIsNoProgramHere) {
  const Image good("/l");
  Image machine = good;
  machine.header.e_machine = EM_MIPS;
  Image width = good;
  width.header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS32 : ELFCLASS64;
  Image order = good;
  order.header.e_ident[EI_DATA] = ELFDATA2MSB;

  for (const Image& image : {machine, width, order}) {
    const ProgramFile file = parsed(image.bytes());
    EXPECT_EQ(file.format, ProgramFormat::kUnknown);
    EXPECT_EQ(file.why, "is a binary for another machine");
  }
  EXPECT_EQ(parsed(good.bytes()).format, ProgramFormat::kBinary);
}

TEST(BinaryTest, WhatTheKernelWouldNotLoadIsUnknown) {
  const auto broken = [](auto change) {
    Image image("/l");
    change(image);
    return parsed(image.bytes());
  };
  const std::vector<ProgramFile> files = {
      broken([](Image& image) { image.header.e_type = ET_REL; }),
      broken([](Image& image) { image.header.e_type = ET_CORE; }),
      broken([](Image& image) { image.header.e_phnum = 0; }),
      broken([](Image& image) { image.header.e_phnum = 0xffff; }),
      broken([](Image& image) { image.header.e_phnum = 2; }),  // the table is cut short
      broken([](Image& image) { image.header.e_phentsize = 1; }),
      broken([](Image& image) { image.header.e_phoff = ~std::uint64_t{0}; }),
      broken([](Image& image) { image.segment.p_offset = ~std::uint64_t{0}; }),
      broken([](Image& image) { image.segment.p_filesz = 1; }),
      broken([](Image& image) { image.segment.p_filesz = 1'000'000; }),
      broken([](Image& image) { image.segment.p_filesz = 2; }),  // no NUL at its end
  };
  for (const ProgramFile& file : files) {
    EXPECT_EQ(file.format, ProgramFormat::kUnknown);
    EXPECT_NE(file.why, "");
  }
}

TEST(BinaryTest, NothingButTheWholeFileIsAProgram) {
  const std::string whole = Image("/l/ld.so").bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(parsed(whole.substr(0, size)).format, ProgramFormat::kUnknown) << size;
  }
  EXPECT_EQ(parsed(whole).format, ProgramFormat::kBinary);
}

TEST(BinaryTest, EveryFlippedBitGivesAnAnswer) {
  const std::string whole = Image("/l/ld.so").bytes();
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const ProgramFile file = parsed(flipped);
    EXPECT_EQ(file.format == ProgramFormat::kUnknown, !file.why.empty()) << bit;
  }
}

TEST(BinaryTest, AnOffsetThatNoFileHasIsReadAsTheEnd) {
  const Tree tree;
  Image image("/l");
  image.header.e_phoff = ~std::uint64_t{0};
  tree.file("/t", image.bytes());
  const UniqueFd file(::open(tree.at("/t").c_str(), O_RDONLY | O_CLOEXEC));

  const auto program = read_program(file.get(), kLinux);

  ASSERT_TRUE(program);
  EXPECT_EQ(program->format, ProgramFormat::kUnknown);
}

TEST(BinaryTest, AFailedReadIsAnError) {
  const UniqueFd directory(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

  const auto program = read_program(directory.get(), kLinux);

  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().sys_errno, EISDIR);
}

}  // namespace
}  // namespace loom::guard

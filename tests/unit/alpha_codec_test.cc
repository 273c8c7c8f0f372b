// Decoder, encoder, printer and parser of Alpha against GNU objdump.
//
// RESPIKE_CODEC_IMAGES, a list of ELF images separated by colons, adds real programs.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/machine/machines.h"
#include "tests/unit/temporary_folder.h"

namespace respike {
namespace {

struct Line {
  uint64_t address;
  uint32_t word;
  std::string text;
};

constexpr const char* kObjdump = "alpha-linux-gnu-objdump";

bool have_objdump() {
  return std::system((std::string(kObjdump) + " --version > /dev/null 2>&1").c_str()) == 0;
}

/// objdump's text without the symbol, which our printer leaves out, and without the 0x that objdump
/// puts before addresses if an image has no symbols.
std::string normalise(std::string text) {
  text = text.substr(0, text.find(" <"));
  while (!text.empty() && (text.back() == '\t' || text.back() == '\n')) text.pop_back();
  const size_t last = std::min(text.find_last_of("\t,") + 1, text.size());
  const bool has_address = (text[0] == 'b' && text.find("bi") != 0) || text.starts_with("fb") ||
                           text.starts_with("jmp") || text.starts_with("jsr\t");
  if (has_address && text.substr(last).starts_with("0x")) text.erase(last, 2);
  return text;
}

/// Reads lines such as "   4:\t10 04 ff 47 \tmov\tzero,a0".
std::vector<Line> run_objdump(const std::string& arguments) {
  const std::string command = std::string(kObjdump) + " " + arguments;
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<Line> lines;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    unsigned long address = 0;
    unsigned bytes[4];
    int end = 0;
    const int count = sscanf(buffer, " %lx:\t%2x %2x %2x %2x%n", &address, bytes, bytes + 1,
                             bytes + 2, bytes + 3, &end);
    if (count != 5 || !std::string_view(buffer + end).starts_with(" \t")) continue;  // e.g. data
    const uint32_t word = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24;
    lines.push_back({address, word, normalise(buffer + end + 2)});
  }
  return lines;
}

std::vector<Line> disassemble(const std::vector<uint32_t>& words) {
  const TemporaryFolder directory;
  const std::string file = directory / "words";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(4 * words.size()));
  return run_objdump("-D -z -b binary -m alpha " + file);
}

Instruction decode(uint32_t word) {
  Instruction instruction;
  std::array<uint8_t, 4> bytes;
  store(bytes.data(), word);
  alpha_machine().codec.decode(bytes, 0, &instruction);
  return instruction;
}

uint32_t encode(const Instruction& instruction) {
  std::vector<uint8_t> bytes;
  alpha_machine().codec.encode({&instruction, 1}, bytes);
  return load<uint32_t>(bytes.data());
}

/// Register fields that make aliases and conditions visible: zero, equal, general.
constexpr uint32_t kRegisterFields[][3] = {{1, 2, 3},   {31, 2, 3},   {1, 31, 3},  {1, 2, 31},
                                           {31, 31, 3}, {31, 2, 31},  {5, 31, 31}, {31, 31, 31},
                                           {7, 7, 9},   {30, 30, 30}, {0, 26, 0},  {31, 26, 1}};

/// Words with every function code of every major opcode that has function codes, and displacements
/// for other opcodes.
std::vector<uint32_t> systematic_words() {
  std::vector<uint32_t> words;
  for (uint32_t major = 0; major < 64; ++major) {
    const bool has_long_function = major == 0x18;
    const uint32_t functions = has_long_function ? 0x10000 : 0x800;
    for (uint32_t function = 0; function < functions; ++function) {
      for (const auto& [a, b, c] : kRegisterFields) {
        if (has_long_function) {
          words.push_back(major << 26 | a << 21 | b << 16 | function);
          if (function % 0x400 != 0) break;
        } else {
          words.push_back(major << 26 | a << 21 | b << 16 | function << 5 | c);
        }
      }
    }
  }
  for (uint32_t function = 0; function < 0x400; ++function) words.push_back(function);
  for (uint32_t hint = 0; hint < 0x10000; hint += 7) words.push_back(0x6bfa0000 | hint);
  words.push_back(0x6bfa8001);
  return words;
}

std::vector<uint32_t> random_words(size_t count) {
  std::mt19937 random(1);
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = random();
  return words;
}

void compare(const std::vector<Line>& lines) {
  size_t differences = 0;
  for (const Line& line : lines) {
    const Instruction instruction = decode(line.word);
    const std::string text = alpha_machine().text.print(instruction, line.address);
    if (text != line.text || encode(instruction) != line.word) {
      ADD_FAILURE() << std::hex << line.word << " at " << line.address << ": objdump \""
                    << line.text << "\", Respike \"" << text << "\", encoded "
                    << encode(instruction);
      if (++differences == 20) return;
    }
  }
  std::cout << lines.size() << " words compared\n";
}

TEST(AlphaCodec, PrintsEveryEncodingAsObjdump) {
  if (!have_objdump()) GTEST_SKIP() << "no " << kObjdump;
  const auto words = systematic_words();
  const auto lines = disassemble(words);
  ASSERT_EQ(lines.size(), words.size());
  compare(lines);
}

TEST(AlphaCodec, PrintsRandomWordsAsObjdump) {
  if (!have_objdump()) GTEST_SKIP() << "no " << kObjdump;
  const auto words = random_words(300'000);
  const auto lines = disassemble(words);
  ASSERT_EQ(lines.size(), words.size());
  compare(lines);
}

TEST(AlphaCodec, PrintsImagesAsObjdump) {
  const char* images = getenv("RESPIKE_CODEC_IMAGES");
  if (images == nullptr || !have_objdump()) GTEST_SKIP() << "RESPIKE_CODEC_IMAGES is not set";
  std::istringstream list(images);
  for (std::string image; std::getline(list, image, ':');) {
    const auto lines = run_objdump("-d " + image);
    EXPECT_FALSE(lines.empty()) << image;
    compare(lines);
  }
}

TEST(AlphaCodec, RoundTripsEveryWord) {
  auto words = systematic_words();
  const auto more = random_words(2'000'000);
  words.insert(words.end(), more.begin(), more.end());
  std::vector<Instruction> instructions(words.size());
  const std::span bytes(reinterpret_cast<const uint8_t*>(words.data()), 4 * words.size());
  alpha_machine().codec.decode(bytes, 0x100, instructions.data());
  std::vector<uint8_t> encoded = {1, 2};  // encode appends
  alpha_machine().codec.encode(instructions, encoded);
  ASSERT_EQ(encoded.size(), bytes.size() + 2);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), encoded.begin() + 2));
  EXPECT_EQ(instructions[3].origin, 0x10cu);
}

/// Says whether the text does not show all bits of the word: the parser then gives the usual
/// encoding.
bool loses_bits(const Instruction& instruction, const std::string& text) {
  const std::string mnemonic = text.substr(0, text.find('\t'));
  for (const char* name : {"unop", "mov", "trapb", "excb", "mb", "wmb", "rc", "rs"}) {
    if (mnemonic == name) return true;
  }
  return instruction.registers[3] != 0;
}

TEST(AlphaCodec, ParsesWhatItPrints) {
  auto words = systematic_words();
  const auto more = random_words(100'000);
  words.insert(words.end(), more.begin(), more.end());
  size_t differences = 0;
  for (uint32_t word : words) {
    Instruction instruction = decode(word);
    instruction.origin = kNone;
    const uint64_t address = 0x120001000;
    const std::string text = alpha_machine().text.print(instruction, address);
    const Instruction parsed = alpha_machine().text.parse(text, address);
    if (alpha_machine().text.print(parsed, address) != text ||
        (parsed != instruction && !loses_bits(instruction, text))) {
      ADD_FAILURE() << std::hex << word << " \"" << text << "\" became " << encode(parsed);
      if (++differences == 20) return;
    }
  }
}

TEST(AlphaCodec, ParsesWhatPeopleWrite) {
  const auto word = [](std::string_view text) {
    return encode(alpha_machine().text.parse(text, 0x1000));
  };
  EXPECT_EQ(word("  addq  a0, 16 , v0"), 0x42021400u);
  EXPECT_EQ(word("addq a0,0x10,v0"), 0x42021400u);
  EXPECT_EQ(word("bis zero,sp,a0"), 0x47fe0410u);
  EXPECT_EQ(word("nop"), 0x47ff041fu);
  EXPECT_EQ(word("unop"), 0x2ffe0000u);
  EXPECT_EQ(word("ret"), 0x6bfa8001u);
  EXPECT_EQ(word("br 0x1004"), 0xc3e00000u);
  EXPECT_EQ(word("jsr ra,(t12),1004"), 0x6b5b4000u);
}

TEST(AlphaCodec, RefusesWhatIsNoInstruction) {
  for (const char* text : {"", "frobnicate t0", "addq t0,t1", "addq t0,256,t1", "lda t0,32768(t1)",
                           "beq t0,1002", "beq t0,1000000", "addq $f1,t0,t1", "nop nop",
                           ".long 123456789", "addt t0,t1,t2", "lda t0,99999999999(t1)"}) {
    EXPECT_THROW(alpha_machine().text.parse(text, 0x1000), Error) << text;
  }
}

}  // namespace
}  // namespace respike

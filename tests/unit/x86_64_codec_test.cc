// The x86-64 decoder against Zydis (everything) and LLVM (lengths).
//
// Inputs are the code of programs and libraries of the system (large files are sampled), all
// opcodes with all values of ModRM, and random bytes after random prefixes. RESPIKE_X86_64_IMAGES,
// a list of ELF images separated by colons, adds programs, which are compared as a whole.

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "optimizer/machine/x86_64/meaning.h"
#include "tests/unit/x86_64_zydis.h"

namespace respike {
namespace {

using x86_64::decode;
using x86_64::Decoded;
using Bytes = std::vector<uint8_t>;
using Code = std::span<const uint8_t>;

std::string hexadecimal(Code code) {
  std::string text;
  for (const uint8_t byte : code.first(std::min<size_t>(code.size(), x86_64::kLongest)))
    text += fmt::format("{:02x} ", byte);
  return text;
}

/// Counts differences by their first two words, and keeps the first difference of each kind.
class Differences {
 public:
  void add(Code code, const std::string& difference) {
    ++compared_;
    if (difference.empty()) return;
    ++differ_;
    const std::string kind = difference.substr(0, difference.find(' ', difference.find(' ') + 1));
    auto& [count, example] = kinds_[kind];
    if (count++ == 0) example = hexadecimal(code) + difference;
  }
  void expect_none(const std::string& what) const {
    std::string text;
    for (const auto& [kind, entry] : kinds_)
      text += fmt::format("{:8} {}\n", entry.first, entry.second);
    EXPECT_EQ(differ_, 0u) << what << "\n" << text;
    fmt::print("{}: {} instructions, {} differ\n", what, compared_, differ_);
  }

 private:
  uint64_t compared_ = 0, differ_ = 0;
  std::map<std::string, std::pair<uint64_t, std::string>> kinds_;
};

// ---- code of real files ----

struct Text {
  std::string file;
  Bytes bytes;
};

/// The executable sections of an ELF image, one after the other; empty without the file.
Text read_text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const Bytes image(std::istreambuf_iterator<char>(in), {});
  Text text{file, {}};
  if (image.size() < sizeof(Elf64_Ehdr)) return text;
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    if ((section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_type != SHT_PROGBITS) continue;
    const auto start = image.begin() + static_cast<ptrdiff_t>(section.sh_offset);
    text.bytes.insert(text.bytes.end(), start, start + static_cast<ptrdiff_t>(section.sh_size));
  }
  return text;
}

constexpr size_t kWindow = 1 << 16;

/// At most `windows` parts of the code, at equal distances. If a part begins inside an instruction,
/// decoders find the next instruction in the same wrong way.
std::vector<Code> sample(const Text& text, size_t windows) {
  const size_t size = text.bytes.size();
  if (size <= windows * kWindow) return {Code(text.bytes)};
  std::vector<Code> parts;
  for (size_t i = 0; i < windows; ++i)
    parts.push_back(Code(text.bytes).subspan(size / windows * i, kWindow));
  return parts;
}

std::vector<Code> parts_of(const Text& text, bool all) {
  return sample(text, all ? text.bytes.size() : 12);
}

/// Calls `compare` with the parts of each file.
template <class Compare>
void for_each_file(Compare compare) {
  const std::vector<std::string> files = {"/proc/self/exe",
                                          "/lib/x86_64-linux-gnu/libc.so.6",
                                          "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                          "/lib/x86_64-linux-gnu/libm.so.6",
                                          "/usr/bin/bash",
                                          "/usr/bin/python3.11",
                                          "/usr/lib/llvm-22/lib/libLLVM.so"};
  for (const std::string& file : files) {
    const Text text = read_text(file);
    if (!text.bytes.empty()) compare(file, parts_of(text, false));
  }
  const char* more = std::getenv("RESPIKE_X86_64_IMAGES");
  std::istringstream names(more == nullptr ? "" : more);
  for (std::string file; std::getline(names, file, ':');)
    compare(file, parts_of(read_text(file), true));
}

TEST(X8664Codec, FilesAsZydis) {
  for_each_file([](const std::string& file, const std::vector<Code>& parts) {
    Differences differences;
    for (const Code part : parts) {
      for (size_t at = 0; at < part.size();) {
        const Code code = part.subspan(at);
        differences.add(code, difference_from_zydis(code));
        at += std::max(1u, zydis_length(code));
      }
    }
    differences.expect_none(file);
  });
}

// ---- LLVM ----

class LlvmDecoder {
 public:
  LlvmDecoder() {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    context_ = LLVMCreateDisasm("x86_64-linux-gnu", nullptr, 0, nullptr, nullptr);
  }
  ~LlvmDecoder() { LLVMDisasmDispose(context_); }
  LlvmDecoder(const LlvmDecoder&) = delete;
  LlvmDecoder& operator=(const LlvmDecoder&) = delete;

  /// 0 when LLVM does not decode the code. LLVM takes some prefixes for instructions of their own.
  unsigned length(Code code) const {
    unsigned length = 0;
    do {
      char text[256];
      const auto bytes = const_cast<uint8_t*>(code.data()) + length;
      const auto part = static_cast<unsigned>(
          LLVMDisasmInstruction(context_, bytes, code.size() - length, 0, text, sizeof text));
      if (part == 0) return 0;
      length += part;
    } while (is_prefix(code[length - 1]) && only_prefixes(code.first(length)));
    return length;
  }

 private:
  static bool is_prefix(uint8_t byte) {
    return byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x66 || byte == 0x67 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65 || (byte & 0xf0) == 0x40;
  }
  static bool only_prefixes(Code code) { return std::ranges::all_of(code, is_prefix); }

  LLVMDisasmContextRef context_;
};

/// LLVM knows neither f1, int1, nor the second encoding of shl, ModRM.reg 6.
bool is_unknown_to_llvm(const Decoded& decoded) {
  const bool shift = (decoded.opcode & 0xfe) == 0xc0 || (decoded.opcode & 0xfc) == 0xd0;
  return (decoded.modrm_at == 0 && decoded.opcode == 0xf1) || (shift && decoded.reg() == 6);
}

/// Whether LLVM accepts code that this processor does not: with the prefix REX2 of the extension
/// APX (Intel APX Architecture Specification, 3.1.1), or with a lock prefix at an instruction that
/// cannot be locked. A sweep that starts inside an instruction meets such code by chance.
bool is_known_to_llvm_alone(Code code) {
  constexpr uint8_t kRex2 = 0xd5, kLock = 0xf0;
  constexpr uint8_t kPrefixes[] = {0x26, 0x2e, 0x36,  0x3e, 0x64, 0x65,
                                   0x66, 0x67, kLock, 0xf2, 0xf3};
  const auto first = std::ranges::find_if(code, [&](uint8_t byte) {
    return std::ranges::find(kPrefixes, byte) == std::end(kPrefixes);
  });
  return first != code.end() && (*first == kRex2 || std::find(code.begin(), first, kLock) != first);
}

TEST(X8664Codec, FilesHaveTheLengthsOfLlvm) {
  const LlvmDecoder llvm;
  for_each_file([&](const std::string& file, const std::vector<Code>& parts) {
    Differences differences;
    for (const Code part : parts) {
      for (size_t at = 0; at + x86_64::kLongest < part.size();) {
        const Code code = part.subspan(at);
        const Decoded decoded = decode(code);
        const unsigned ours = decoded.length, theirs = llvm.length(code);
        const bool same = ours == theirs || (theirs == 0 && is_unknown_to_llvm(decoded)) ||
                          (ours == 0 && is_known_to_llvm_alone(code));
        differences.add(code, same ? "" : fmt::format("length {} not {}", ours, theirs));
        at += std::max(1u, ours);
      }
    }
    differences.expect_none(file);
  });
}

// ---- systematic and random code ----

/// Compares `code` with random bytes after it.
void compare(Differences& differences, Bytes code, std::mt19937& random) {
  while (code.size() < 32) code.push_back(static_cast<uint8_t>(random()));
  differences.add(code, difference_from_zydis(code));
}

TEST(X8664Codec, AllOpcodesWithPrefixes) {
  const std::vector<Bytes> prefixes = {{},           {0x66},       {0xf3},       {0xf2},
                                       {0x48},       {0x66, 0x48}, {0xf3, 0x48}, {0xf2, 0x48},
                                       {0x66, 0xf3}, {0x41},       {0xf0},       {0x67}};
  const std::vector<Bytes> maps = {{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
  std::mt19937 random(1);
  Differences differences;
  for (const Bytes& map : maps) {
    for (const Bytes& prefix : prefixes) {
      for (unsigned opcode = 0; opcode < 0x10000; opcode += 1 + random() % 2) {
        Bytes code = prefix;
        code.insert(code.end(), map.begin(), map.end());
        code.push_back(static_cast<uint8_t>(opcode >> 8));
        code.push_back(static_cast<uint8_t>(opcode));
        compare(differences, code, random);
      }
    }
  }
  differences.expect_none("all opcodes");
}

TEST(X8664Codec, VexWithAllOpcodes) {
  std::mt19937 random(2);
  Differences differences;
  for (unsigned map = 1; map <= 3; ++map) {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      for (unsigned i = 0; i < 1000; ++i) {
        const auto extensions = static_cast<uint8_t>(random() % 8 == 0 ? random() & 0xe0 : 0xe0);
        const auto vvvv = static_cast<uint8_t>(random() % 2 == 0 ? 0x78 : random() & 0x78);
        compare(differences,
                {0xc4, static_cast<uint8_t>(extensions | map),
                 static_cast<uint8_t>(vvvv | (random() & 0x87)), static_cast<uint8_t>(opcode),
                 static_cast<uint8_t>(random())},
                random);
      }
    }
  }
  differences.expect_none("VEX");
}

TEST(X8664Codec, EvexWithAllOpcodes) {
  std::mt19937 random(3);
  Differences differences;
  for (const unsigned map : {1u, 2u, 3u, 5u, 6u}) {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      for (unsigned i = 0; i < 1000; ++i) {
        const auto extensions = static_cast<uint8_t>(random() % 4 == 0 ? random() & 0xf0 : 0xf0);
        const auto vvvv = static_cast<uint8_t>(random() % 2 == 0 ? 0x78 : random() & 0x78);
        auto last = static_cast<uint8_t>(random());
        if (random() % 2 == 0) last = static_cast<uint8_t>((last & 0x68) | 8);
        compare(differences,
                {0x62, static_cast<uint8_t>(extensions | map),
                 static_cast<uint8_t>(vvvv | 4 | (random() & 0x83)), last,
                 static_cast<uint8_t>(opcode), static_cast<uint8_t>(random())},
                random);
      }
    }
  }
  differences.expect_none("EVEX");
}

TEST(X8664Codec, RandomBytesBehindPrefixes) {
  constexpr std::array<uint8_t, 17> kSoup = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x64, 0x48, 0x40,
                                             0x4f, 0x41, 0x44, 0x42, 0xc4, 0xc5, 0x62, 0x0f};
  std::mt19937 random(4);
  Differences differences;
  for (unsigned i = 0; i < 1'000'000; ++i) {
    Bytes code;
    for (unsigned count = random() % 6; count != 0; --count)
      code.push_back(kSoup[random() % kSoup.size()]);
    compare(differences, code, random);
  }
  differences.expect_none("random bytes");
}

/// A decoder that is given the first bytes of an instruction says that nothing decodes.
TEST(X8664Codec, CutInstructionsDoNotDecode) {
  const Text text = read_text("/proc/self/exe");
  const Code code(text.bytes);
  for (size_t at = 0; at < std::min<size_t>(code.size(), 100'000);) {
    const unsigned length = decode(code.subspan(at)).length;
    for (unsigned cut = 0; cut < length; ++cut)
      ASSERT_FALSE(decode(Bytes(code.begin() + at, code.begin() + at + cut)).valid());
    at += std::max(1u, length);
  }
}

// ---- single cases ----

Decoded decode_bytes(const Bytes& bytes) {
  const Decoded decoded = decode(bytes);
  EXPECT_EQ(decoded.length, bytes.size());
  return decoded;
}

TEST(X8664Codec, FieldsOfALongInstruction) {
  // movl $0x11223344,0x8(%rip)
  const Decoded move = decode_bytes({0xc7, 0x05, 8, 0, 0, 0, 0x44, 0x33, 0x22, 0x11});
  EXPECT_TRUE(move.is_rip_relative());
  EXPECT_EQ(move.displacement_at, 2);
  EXPECT_EQ(move.displacement_size, 4);
  EXPECT_EQ(move.immediate_at, 6);
  EXPECT_EQ(move.immediate_size, 4);
}

TEST(X8664Codec, FamiliesThatAreLeftOut) {
  for (const Bytes& code : std::vector<Bytes>{{0x0f, 0x0f, 0xc1, 0x9e},                    // 3DNow!
                                              {0x8f, 0xe9, 0x78, 0x01, 0xc8},              // XOP
                                              {0xd5, 0x18, 0x89, 0xc0},                    // REX2
                                              {0x62, 0xf4, 0x7c, 0x18, 0x01, 0xc0, 0x90},  // APX
                                              {0xc4, 0xe2, 0x78, 0x49, 0xc0}})             // AMX
    EXPECT_FALSE(decode(code).valid()) << hexadecimal(code);
}

TEST(X8664Codec, FlagsOfConditions) {
  using namespace x86_64;
  EXPECT_EQ(condition_flags(0x74), kZero);
  EXPECT_EQ(condition_flags(0x77), kCarry | kZero);
  EXPECT_EQ(condition_flags(0x7f), kZero | kSign | kOverflow);
  EXPECT_EQ(condition_flags(0x7c), kSign | kOverflow);
}

TEST(X8664Codec, InverseConditions) {
  EXPECT_EQ(inverse_condition(decode(Bytes{0x74, 0})), 0x75);                         // je
  EXPECT_EQ(inverse_condition(decode(Bytes{0x0f, 0x8d, 0, 0, 0, 0})), 0x8c);          // jge
  EXPECT_EQ(inverse_condition(decode(Bytes{0xe3, 0})), std::nullopt);                 // jrcxz
  EXPECT_EQ(inverse_condition(decode(Bytes{0xc7, 0xf8, 0, 0, 0, 0})), std::nullopt);  // xbegin
  EXPECT_EQ(inverse_condition(decode(Bytes{0x0f, 0x94, 0xc0})), std::nullopt);        // sete
}

TEST(X8664Codec, ShiftsByZeroKeepFlags) {
  const Bytes by_cl = {0xd3, 0xe0}, by_one = {0xd1, 0xe0};
  EXPECT_TRUE(effects_of(decode(by_cl), by_cl.data()).keeps_flags);
  EXPECT_FALSE(effects_of(decode(by_one), by_one.data()).keeps_flags);
}

TEST(X8664Codec, Speed) {
  const Text text = read_text("/proc/self/exe");
  uint64_t count = 0, bytes = 0;
  const std::clock_t start = std::clock();
  for (const Code code(text.bytes); bytes < code.size(); ++count)
    bytes += std::max<unsigned>(1, decode(code.subspan(bytes)).length);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print("{:.1f} million instructions per second\n",
             static_cast<double>(count) / seconds / 1e6);
  EXPECT_GT(count, 100'000u);
}

}  // namespace
}  // namespace respike

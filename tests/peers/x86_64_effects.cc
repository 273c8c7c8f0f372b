// Respike's facts about what x86-64 instructions read and write, for oracles outside this build.
//
//   x86_64_effects IMAGE    the executable sections of an ELF image, from first byte to last
//   x86_64_effects -        instructions of the standard input, one in a line, as hexadecimal bytes
//
// Prints a line for each kind of instruction, in the order in which they first appear:
//
//   COUNT ADDRESS BYTES READS WRITES KEEPS FLAGS-READ FLAGS-WRITTEN FLAGS-UNDEFINED
//
// Instructions are of one kind when they differ only in displacements and long immediates, on which
// no effect depends; COUNT says how many there are, ADDRESS and BYTES are those of the first. The
// other fields are those of Effects, `-` stands for none. Bytes that do not decode are `bad`: one
// byte in an image, with the 14 bytes after it. READS is `?` where Respike does not describe all
// effects. Example: `echo 014b08 | x86_64_effects -`, an addition to memory, prints `1 0 014b08
// rcx,rbx - - - cpazso -`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike {
namespace {

using namespace x86_64;
using Code = std::span<const uint8_t>;

constexpr std::string_view kGeneral[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                         "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

std::string or_none(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string text_of(const RegisterSet& set, bool x87) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < 32; ++i) {
    if (i < 16 && (set.general >> i & 1) != 0) names.emplace_back(kGeneral[i]);
    if ((set.vector >> i & 1) != 0) names.push_back(fmt::format("v{}", i));
    if (i < 8 && (set.mask >> i & 1) != 0) names.push_back(fmt::format("k{}", i));
    if (i < 8 && (set.mmx >> i & 1) != 0 && !x87) names.push_back(fmt::format("mm{}", i));
  }
  if (x87) names.emplace_back("x87");
  return or_none(fmt::format("{}", fmt::join(names, ",")));
}

std::string text_of_flags(uint8_t flags) {
  constexpr std::pair<uint8_t, char> kNames[] = {{kCarry, 'c'},    {kParity, 'p'}, {kAdjust, 'a'},
                                                 {kZero, 'z'},     {kSign, 's'},   {kOverflow, 'o'},
                                                 {kDirection, 'd'}};
  std::string text;
  for (const auto& [flag, name] : kNames)
    if ((flags & flag) != 0) text += name;
  return or_none(text);
}

std::string text_of(const Decoded& decoded, const uint8_t* code) {
  if (!decoded.valid()) return "bad - - - - -";
  const Effects effects = effects_of(decoded, code);
  if (!effects.described) return "? - - - - -";
  return fmt::format("{} {} {} {} {} {}", text_of(effects.reads, effects.x87),
                     text_of(effects.writes, effects.x87), text_of(effects.keeps, false),
                     text_of_flags(effects.flags_read), text_of_flags(effects.flags_written),
                     text_of_flags(effects.flags_undefined));
}

std::string hexadecimal(Code code) {
  return fmt::format("{:02x}", fmt::join(code, ""));
}

void print(uint64_t count, uint64_t address, const Decoded& decoded, Code code) {
  fmt::print("{} {:x} {} {}\n", count, address, hexadecimal(code), text_of(decoded, code.data()));
}

/// The bytes without displacement and without an immediate of more than one byte.
std::string kind_of(const Decoded& decoded, Code code) {
  std::string kind(code.begin(), code.end());
  std::fill_n(kind.begin() + decoded.displacement_at, decoded.displacement_size, '\0');
  if (decoded.immediate_size > 1)
    std::fill_n(kind.begin() + decoded.immediate_at, decoded.immediate_size, '\0');
  return kind;
}

/// The kinds of instructions of an image.
class Kinds {
 public:
  void add(Code code, uint64_t address) {
    for (size_t at = 0; at < code.size();) {
      const Code rest = code.subspan(at);
      const Decoded decoded = decode(rest);
      const Code bytes =
          rest.first(decoded.valid() ? decoded.length : std::min<size_t>(rest.size(), kLongest));
      const auto [entry, is_new] = by_bytes_.try_emplace(kind_of(decoded, bytes), kinds_.size());
      if (is_new) kinds_.push_back({0, address + at, decoded, bytes});
      ++kinds_[entry->second].count;
      at += std::max<size_t>(1, decoded.length);
    }
  }
  void print() const {
    for (const Kind& kind : kinds_)
      respike::print(kind.count, kind.address, kind.decoded, kind.code);
  }

 private:
  struct Kind {
    uint64_t count, address;
    Decoded decoded;
    Code code;
  };
  std::vector<Kind> kinds_;
  std::unordered_map<std::string, size_t> by_bytes_;
};

void print_image(const std::string& file) {
  const Image image = read_image(file);
  Kinds kinds;
  for (const Section& section : image.sections)
    if (section.allocated() && section.executable()) kinds.add(section.contents, section.address);
  kinds.print();
}

/// Digits that are none end the line's bytes.
std::vector<uint8_t> bytes_of(std::string_view line) {
  std::vector<uint8_t> bytes;
  for (uint8_t byte = 0; line.size() >= 2; line.remove_prefix(2)) {
    const auto [end, error] = std::from_chars(line.data(), line.data() + 2, byte, 16);
    if (end != line.data() + 2) break;
    bytes.push_back(byte);
  }
  return bytes;
}

void print_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<uint8_t> bytes = bytes_of(line);
    const Decoded decoded = decode(bytes);
    print(1, 0, decoded, Code(bytes).first(decoded.valid() ? decoded.length : bytes.size()));
  }
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: x86_64_effects IMAGE|-\n");
    return 2;
  }
  try {
    if (std::string_view(argv[1]) == "-")
      respike::print_lines();
    else
      respike::print_image(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "x86_64_effects: {}\n", error.what());
    return 1;
  }
}

// Words to instructions and back.
//
// Problem: images hold tens of millions of instructions, and each is decoded at least once.
// Idea: a word's major opcode says which other bits select the encoding: 2, 6, 8, 11 or no bits.
// These bits index the opcode's slice of one flat table of row numbers. The row describes the
// fields by masks and shifts, so the same straight-line code extracts the fields of all formats. A
// word whose fixed bits do not match its row, for instance because a field that must be 31 is not,
// belongs to no row: the word becomes kInvalid with all its bits in the immediate. Bits that a
// format leaves open are kept, even bits that should be zero, so encoding returns the same word.
//
// Example: the major opcode of 0x40203402 is 0x10, so bits 12:5 select the encoding. These bits are
// 0xa0, the entry of addq with a literal; masks and shifts give addq t0,0x1,t1.
//
// Source: Alpha Architecture Handbook, version 4, section 3.3 and appendix C. All tables are built
// by the compiler: 32 bytes per encoding and 19 KB of row numbers.

#include "optimizer/machine/alpha/codec.h"

namespace respike::alpha {
namespace {

/// The slice of a major opcode: where it starts, and which bits of a word select its entry.
struct Slice {
  uint16_t start = 0;
  uint16_t mask = 0;
  uint8_t shift = 0;
};

constexpr Slice selector(Format format) {
  switch (format) {
    case Format::operate:
    case Format::literal:
      return {0, 0xff, 5};
    case Format::floating:
      return {0, 0x7ff, 5};
    case Format::function:
      return {0, 0x3f, 10};
    case Format::jump:
      return {0, 3, 14};
    default:
      return {};
  }
}

struct Slices {
  std::array<Slice, 64> slices{};
  size_t size = 0;
};

/// Opcode 1C mixes operate and floating formats: the narrower selector distinguishes its rows.
consteval Slices make_slices() {
  Slices result;
  std::array<bool, 64> used{};
  for (size_t row = 1; row < kEncodingCount; ++row) {
    const Encoding& encoding = kEncodings[row];
    const uint32_t major = encoding.codec.match >> 26;
    const Slice slice = selector(encoding.format);
    if (!used[major] || slice.mask < result.slices[major].mask) result.slices[major] = slice;
    used[major] = true;
  }
  for (Slice& slice : result.slices) {
    slice.start = static_cast<uint16_t>(result.size);
    result.size += slice.mask + 1;
  }
  return result;
}

constexpr Slices kSlices = make_slices();

consteval std::array<uint16_t, kSlices.size> make_row_numbers() {
  std::array<uint16_t, kSlices.size> rows{};
  for (size_t row = 1; row < kEncodingCount; ++row) {
    const uint32_t match = kEncodings[row].codec.match;
    const Slice& slice = kSlices.slices[match >> 26];
    uint16_t& entry = rows[slice.start + ((match >> slice.shift) & slice.mask)];
    if (entry != 0) throw "two rows for one encoding";
    entry = static_cast<uint16_t>(row);
  }
  return rows;
}

constexpr std::array<uint16_t, kSlices.size> kRowNumbers = make_row_numbers();

/// The codecs alone, adjacent in memory for the cache.
consteval std::array<Codec, kEncodingCount> make_codecs() {
  std::array<Codec, kEncodingCount> codecs;
  for (size_t row = 0; row < kEncodingCount; ++row) codecs[row] = kEncodings[row].codec;
  return codecs;
}

constexpr std::array<Codec, kEncodingCount> kCodecs = make_codecs();

size_t find_row(uint32_t word) {
  const Slice& slice = kSlices.slices[word >> 26];
  const size_t row = kRowNumbers[slice.start + ((word >> slice.shift) & slice.mask)];
  const Codec& codec = kCodecs[row];
  if ((word & codec.mask) != codec.match) return 0;
  if (codec.same_registers) {
    const uint32_t a = word >> 21 & 31;
    if ((word >> 16 & 31) != a || (word & 31) != a) return 0;
  }
  return row;
}

inline Instruction decode_with_origin(uint32_t word, uint32_t origin) {
  const size_t row = find_row(word);
  const Codec& codec = kCodecs[row];
  Instruction instruction;
  instruction.opcode = opcode_of_row(row);
  instruction.registers[0] = word >> 21 & codec.a;
  instruction.registers[1] = word >> 16 & codec.b;
  instruction.registers[2] = word & codec.c;
  instruction.registers[3] = word >> 13 & codec.s;
  const int32_t shifted = static_cast<int32_t>(word << codec.left) >> codec.right;
  instruction.immediate =
      static_cast<int32_t>((static_cast<uint32_t>(shifted) & codec.keep) + codec.add);
  instruction.origin = origin;
  return instruction;
}

}  // namespace

Instruction decode_word(uint32_t word) {
  return decode_with_origin(word, kNone);
}

void decode_words(const uint8_t* code, size_t count, uint32_t origin, Instruction* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] =
        decode_with_origin(load<uint32_t>(code + 4 * i), origin + static_cast<uint32_t>(4 * i));
  }
}

void encode_words(const Instruction* instructions, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    const Instruction& instruction = instructions[i];
    const Codec& codec = kCodecs[row_of(instruction.opcode)];
    store(out + 4 * i, encode_fields(codec, instruction));
  }
}

}  // namespace respike::alpha

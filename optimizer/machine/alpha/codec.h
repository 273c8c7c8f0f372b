#pragma once
// The expanded instruction table, and words to instructions and back.
//
// Opcode kFirstMachineOpcode + i is kEncodings[i + 1]; kEncodings[0] stands for words that are not
// instructions. registers[0], [1], [2] of an Instruction are the fields Ra, Rb, Rc; registers[3] is
// bits 15:13 of an operate instruction, which should be zero. Fields that a format lacks are 0.
// immediate: literal, displacement, PALcode function or raw jump hint; for direct branches the
// distance in bytes from the branch itself.
//
// Example: 0x40203402, addq t0,0x1,t1, has the registers 1, 0, 2, 0 and the immediate 1.

#include <array>
#include <cstdint>
#include <string_view>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/alpha/rows.h"

namespace respike::alpha {

consteval size_t encoding_count() {
  size_t count = 1;
  expand(kRows, [&](const Encoding&) { ++count; });
  return count;
}

inline constexpr size_t kEncodingCount = encoding_count();

consteval std::array<Encoding, kEncodingCount> make_encodings() {
  std::array<Encoding, kEncodingCount> encodings;
  encodings[0].name.append(".long");
  set_immediate(encodings[0].codec, Format::invalid);
  encodings[0].codec.field = 0xffffffff;
  size_t count = 1;
  expand(kRows, [&](const Encoding& encoding) { encodings[count++] = encoding; });
  return encodings;
}

inline constexpr std::array<Encoding, kEncodingCount> kEncodings = make_encodings();

/// Index in kEncodings of an opcode other than kCfiState, and back.
constexpr size_t row_of(uint16_t opcode) {
  return opcode == kInvalid ? 0 : opcode - 1;
}
constexpr uint16_t opcode_of_row(size_t row) {
  return row == 0 ? static_cast<uint16_t>(kInvalid) : static_cast<uint16_t>(row + 1);
}
static_assert(kFirstMachineOpcode == 2);

constexpr const Encoding& encoding_of(const Instruction& instruction) {
  return kEncodings[row_of(instruction.opcode)];
}

/// The opcode with the Handbook's `name`; `literal`: the form with a literal.
consteval uint16_t opcode(std::string_view name, bool literal = false) {
  for (size_t row = 1; row < kEncodingCount; ++row) {
    if (kEncodings[row].name == name && (kEncodings[row].format == Format::literal) == literal) {
      return opcode_of_row(row);
    }
  }
  throw "no such instruction";
}

/// The major opcode, bits 31:26, of a decoded instruction.
constexpr unsigned major_opcode(const Instruction& instruction) {
  return encoding_of(instruction).codec.match >> 26;
}

/// Decodes one word; `origin` stays kNone.
Instruction decode_word(uint32_t word);
void decode_words(const uint8_t* code, size_t count, uint32_t origin, Instruction* out);

/// The inverse of decode_words(); immediates that do not fit their field lose their high bits.
void encode_words(const Instruction* instructions, size_t count, uint8_t* out);

constexpr uint32_t encode_fields(const Codec& codec, const Instruction& instruction) {
  const uint32_t value = static_cast<uint32_t>(instruction.immediate) - codec.add;
  return codec.match | (instruction.registers[0] & codec.a) << 21 |
         (instruction.registers[1] & codec.b) << 16 | (instruction.registers[3] & codec.s) << 13 |
         (instruction.registers[2] & codec.c) |
         (((value >> codec.scale) << codec.position) & codec.field);
}

constexpr uint32_t encode_word(const Instruction& instruction) {
  return encode_fields(encoding_of(instruction).codec, instruction);
}

}  // namespace respike::alpha

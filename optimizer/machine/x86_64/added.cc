// Instructions that Respike adds, and their bytes.
//
// An added instruction is an Instruction like those of the input, so facts() and operands() apply
// to it. Instead of bytes of the input it has everything in its fields: the scale is where EVEX
// instructions keep their mask, followed by a bit for the prefix of gs, and the number is the
// displacement. The length distinguishes an instruction with lock from one without; no added
// instruction has both lock and gs.
//
// Example: inc of the memory at 0x3008, with an origin_base of 0x1000, has base 16 (rip), the
// number 0x2008 and the length 7: 48 ff 05 and four bytes of displacement.

#include "optimizer/machine/x86_64/added.h"

#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/machine/x86_64/instruction.h"

namespace respike::x86_64 {
namespace {

constexpr uint8_t kNoModrm = 0xff, kRegister = 0xfe;
constexpr uint8_t kNone = 31;  // of a base or an index in the fields

/// The encoding of an instruction.
struct Encoding {
  std::array<uint8_t, 2> opcode;
  uint8_t extension = kNoModrm;  // ModRM.reg; kRegister: the number of the register
  bool wide = true;              // has REX.W
  bool in_opcode = false;        // the register's number is in the opcode
  bool has_immediate = false;    // one byte
  uint8_t immediate = 0;
  bool locked = false;

  bool has_modrm() const { return extension != kNoModrm; }
  unsigned opcode_size() const { return opcode[0] == 0x0f ? 2 : 1; }
};

/// By the number of Added.
constexpr Encoding kEncodings[] = {
    {.opcode = {0x0f, 0x0b}, .wide = false},
    {.opcode = {0x90}, .wide = false},
    {.opcode = {0x8b}, .extension = kRegister},
    {.opcode = {0x89}, .extension = kRegister},
    {.opcode = {0x8d}, .extension = kRegister},
    {.opcode = {0x2b}, .extension = kRegister},
    {.opcode = {0x01}, .extension = kRegister},
    {.opcode = {0xff}, .extension = 0},
    {.opcode = {0xff}, .extension = 0, .locked = true},
    {.opcode = {0x83}, .extension = 2, .has_immediate = true},
    {.opcode = {0xf7}, .extension = 3},
    {.opcode = {0x50}, .wide = false, .in_opcode = true},
    {.opcode = {0x58}, .wide = false, .in_opcode = true},
    {.opcode = {0x9f}, .wide = false},
    {.opcode = {0x0f, 0x90}, .extension = 0, .wide = false},
    {.opcode = {0x04}, .wide = false, .has_immediate = true, .immediate = 0x7f},
    {.opcode = {0x9e}, .wide = false},
};

/// The fields of ModRM and SIB.
struct Fields {
  unsigned reg = 0, base = kNone, index = kNone, scale = 0;  // scale: its logarithm
  bool memory = false;
  bool own = false;  // has the prefix of gs
};

void put(unsigned byte, std::vector<uint8_t>& out) {
  out.push_back(static_cast<uint8_t>(byte));
}

/// Appends ModRM, SIB and the displacement, except the distance of an operand relative to rip.
void write_operands(const Fields& fields, int32_t number, std::vector<uint8_t>& out) {
  const unsigned reg = (fields.reg & 7) << 3, base = fields.base & 7;
  if (!fields.memory) return put(0xc0 | reg | base, out);
  if (fields.base == kRip) {
    put(reg | 5, out);
    out.resize(out.size() + 4);
    return;
  }
  const bool has_base = fields.base != kNone, is_short = has_base && fits_signed(number, 8);
  const bool has_sib = !has_base || fields.index != kNone || base == kRsp;
  put((!has_base ? 0u : is_short ? 0x40u : 0x80u) | reg | (has_sib ? 4u : base), out);
  if (has_sib)
    put(fields.scale << 6 | (fields.index == kNone ? 4u : fields.index & 7) << 3 |
            (has_base ? base : 5u),
        out);
  if (is_short) return put(static_cast<uint8_t>(number), out);
  out.resize(out.size() + 4);
  std::memcpy(&out[out.size() - 4], &number, 4);
}

void write(const Encoding& encoding, const Fields& fields, int32_t number,
           std::vector<uint8_t>& out) {
  const auto high = [](unsigned r) { return r < 16 ? r >> 3 & 1 : 0; };
  if (encoding.locked) put(0xf0, out);
  if (fields.own) put(0x65, out);
  if (encoding.in_opcode) {
    if (fields.base >= 8) put(0x41, out);
    return put(encoding.opcode[0] | (fields.base & 7), out);
  }
  if (encoding.wide)
    put(0x48 | high(fields.reg) << 2 | high(fields.index) << 1 | high(fields.base), out);
  for (unsigned i = 0; i < encoding.opcode_size(); ++i) put(encoding.opcode[i], out);
  if (encoding.has_modrm()) write_operands(fields, number, out);
  if (encoding.has_immediate) put(encoding.immediate, out);
}

/// Instructions without REX.W, except push and pop, work on al and ah.
Fields fields_for(const Encoding& encoding, unsigned r) {
  if (!encoding.wide) return {.base = encoding.in_opcode ? r : unsigned{kRax}};
  return {.reg = encoding.extension == kRegister ? r : encoding.extension & 7u};
}

/// By the number of Added: the form that the decoder finds for the instruction.
const std::array<uint16_t, std::size(kEncodings)>& form_numbers() {
  static const auto numbers = [] {
    std::array<uint16_t, std::size(kEncodings)> result;
    for (size_t i = 0; i < result.size(); ++i) {
      std::vector<uint8_t> bytes;
      Fields fields = fields_for(kEncodings[i], kRax);
      fields.memory = kEncodings[i].wide;
      write(kEncodings[i], fields, 0, bytes);
      result[i] = decode(bytes).form;
    }
    return result;
  }();
  return numbers;
}

Fields fields_of(const Instruction& added) {
  uint32_t packed;
  std::memcpy(&packed, added.registers, sizeof packed);
  return {.reg = packed & 31,
          .base = packed >> 5 & 31,
          .index = packed >> 10 & 31,
          .scale = packed >> 20 & 3,
          .memory = (packed >> 23 & 1) != 0,
          .own = (packed >> 22 & 1) != 0};
}

}  // namespace

Instruction make_added(Added what, uint8_t r, const Place& place) {
  const auto number = static_cast<size_t>(what);
  const Encoding& encoding = kEncodings[number];
  Fields fields = fields_for(encoding, r);
  if (encoding.wide) {
    fields.memory = place.memory;
    fields.own = place.own;
    fields.base = place.base == kNoRegister ? kNone : place.base;
    fields.index = place.index == kNoRegister ? kNone : place.index;
    fields.scale = static_cast<unsigned>(std::countr_zero(place.scale));
  }
  std::vector<uint8_t> bytes;
  write(encoding, fields, place.number, bytes);
  Instruction added;
  added.opcode = static_cast<uint16_t>(kFirstMachineOpcode + form_numbers()[number]);
  added.flags = static_cast<uint8_t>(bytes.size() << kLengthShift);
  added.immediate = place.number;
  unsigned opcode = encoding.opcode[encoding.opcode_size() - 1], base = fields.base;
  if (encoding.in_opcode) {
    opcode |= base & 7;
    base &= 8;
  }
  const uint32_t packed = fields.reg | base << 5 | fields.index << 10 | fields.scale << 20 |
                          (fields.own ? 1u : 0u) << 22 | (fields.memory ? 1u : 0u) << 23 |
                          (encoding.wide ? 2u : 1u) << 24 |
                          (encoding.wide || base == 8 ? 1u : 0u) << 26 | (opcode & 15u) << 28;
  std::memcpy(added.registers, &packed, sizeof packed);
  return added;
}

Instruction make_added(Added what, uint8_t r, uint32_t reference, bool own) {
  Instruction added = make_added(what, r, Place{.base = kRip, .own = own});
  added.immediate = static_cast<int32_t>(reference);
  added.flags |= Instruction::kHasReference;
  return added;
}

void write_added(const Instruction& added, uint64_t address, uint64_t origin_base,
                 std::vector<uint8_t>& out) {
  Fields fields = fields_of(added);
  const size_t start = out.size(), length = length_of(added);
  const auto& numbers = form_numbers();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != form_number(added)) continue;
    if (kEncodings[i].in_opcode) fields.base |= opcode_bits(added) & 7;
    write(kEncodings[i], fields, added.immediate, out);
    if (out.size() - start == length) break;
    out.resize(start);
  }
  if (out.size() == start) throw Error("internal error: an added instruction has no bytes");
  if (!fields.memory || fields.base != kRip) return;
  const bool from_place = (added.flags & kFromPlace) != 0;
  const uint64_t target =
      (from_place ? address : origin_base) + static_cast<uint64_t>(int64_t{added.immediate});
  const auto distance = static_cast<int64_t>(target - (address + length));
  if (!fits_signed(distance, 32))
    throw Error(fmt::format("an instruction at {:#x} cannot refer so far", address));
  const Decoded decoded = decode(std::span(out).subspan(start));
  std::memcpy(&out[start + decoded.displacement_at], &distance, 4);
}

}  // namespace respike::x86_64

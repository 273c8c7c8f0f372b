#pragma once
// Bytes to instructions: length, form, and the places of all fields.

#include <cstdint>
#include <cstring>
#include <span>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/x86_64/forms.h"

namespace respike::x86_64 {

inline constexpr unsigned kLongest = 15;  // bytes of an instruction

/// The base that is added to addresses. The other segments start at 0.
enum class Segment : uint8_t { none, fs, gs };

/// The contents of an instruction's bytes. Offsets are bytes from its start.
struct Decoded {
  enum Prefixes : uint8_t {
    kOperandSize = 1,
    kAddressSize = 2,
    kRepeat = 4,     // f3
    kRepeatNot = 8,  // f2
    kLock = 16,
    kRex = 32,
  };

  uint16_t form = 0;  // index of Forms::forms; 0: does not decode
  uint8_t length = 0;
  uint8_t prefixes = 0;
  Segment segment = Segment::none;  // of a prefix
  uint8_t opcode = 0;
  uint8_t modrm = 0, sib = 0;
  uint8_t modrm_at = 0;  // 0: there is no ModRM
  uint8_t displacement_at = 0, displacement_size = 0;
  uint8_t immediate_at = 0, immediate_size = 0;  // of all immediates together
  uint8_t w = 0, r = 0, x = 0, b = 0;            // extensions of register numbers: 0 or 8
  uint8_t r4 = 0, v4 = 0;                        // of EVEX: 0 or 16
  uint8_t vvvv = 0;                              // 0 to 15
  uint8_t vector_length = 0;                     // 0, 1, 2: 128, 256, 512 bits
  uint8_t mask = 0;                              // EVEX.aaa
  bool zeroing = false;
  bool broadcast = false;        // EVEX.b
  bool jumps_over_lock = false;  // see decode_unit()

  bool valid() const { return form != 0; }
  bool has_memory() const { return modrm_at != 0 && modrm < 0xc0; }
  bool is_rip_relative() const { return modrm_at != 0 && (modrm & 0xc7) == 5; }
  unsigned reg() const { return modrm >> 3 & 7; }
  unsigned rm() const { return modrm & 7; }
};

/// Decodes the instruction at the start of `code`; an instruction longer than `code` does not
/// decode.
Decoded decode(std::span<const uint8_t> code);

/// As decode(), but a short je or jne to the byte after a lock prefix counts as a prefix of the
/// locked instruction: glibc jumps over `lock` where a process has only one thread. Example: 74 01
/// f0 0f b1 16, `je 1f; lock; 1: cmpxchg %edx,(%rsi)`, is one instruction of 6 bytes, and nothing
/// else may jump into it.
Decoded decode_unit(std::span<const uint8_t> code);

inline const Form& form_of(const Decoded& decoded) {
  return forms().forms[decoded.form];
}

/// A displacement or an immediate operand: a little-endian signed number of 1, 2, 4 or 8 bytes.
inline int64_t read_signed(const uint8_t* bytes, unsigned size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, size);
  return sign_extend(value, 8 * size);
}

/// 0, 1, 2: operands of 16, 32, 64 bits.
unsigned operand_size_index(const Form& form, const Decoded& decoded);

}  // namespace respike::x86_64

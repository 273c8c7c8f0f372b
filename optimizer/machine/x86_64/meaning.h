#pragma once
// What a decoded instruction reads and writes.

#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/machine/x86_64/codec.h"

namespace respike::x86_64 {

/// Numbers of general registers.
enum : uint8_t { kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi, kR8, kR11 = 11 };
/// Bases and indices of memory operands that are not general registers.
enum : uint8_t { kRip = 16, kNoRegister = 0xff };

/// Registers, as sets of bits. General registers and vector registers stand for their full width.
/// `mmx` is the registers of x87; the MMX registers are their lower halves.
struct RegisterSet {
  uint32_t vector = 0;
  uint16_t general = 0;
  uint8_t mask = 0;
  uint8_t mmx = 0;

  RegisterSet& operator|=(const RegisterSet& other);
  bool operator==(const RegisterSet&) const = default;
};

struct MemoryOperand {
  uint8_t base = kNoRegister;
  uint8_t index = kNoRegister;
  bool vector_index = false;
  bool stack = false;  // of a push or a pop
  uint8_t scale = 1;
  Segment segment = Segment::none;
  uint8_t access = kRead;    // kNoAccess: only the address is computed
  uint16_t size = 0;         // bytes; 0 where the instruction has no fixed size
  int64_t displacement = 0;  // from the next instruction when the base is rip
};

struct Effects {
  RegisterSet reads;
  RegisterSet writes;
  RegisterSet keeps;  // of `writes`: registers that may keep all or a part of their value
  uint8_t flags_read = 0;
  uint8_t flags_written = 0;
  uint8_t flags_undefined = 0;
  bool keeps_flags = false;  // the flags may keep their values
  bool x87 = false;          // reads and writes the state of x87
  bool described = true;     // false: there may be further effects
  bool sees = false;         // not described, but its further effects only read registers
  uint8_t memory_operands = 0;
  MemoryOperand memory[3];

  std::span<const MemoryOperand> memory_list() const { return {memory, memory_operands}; }
};

/// `code`: the bytes that were decoded.
Effects effects_of(const Decoded& decoded, const uint8_t* code);

/// Whether an immediate is the branch target: the distance from the next instruction.
bool is_direct(const Form& form);
int64_t branch_distance(const Decoded& decoded, const uint8_t* code);

/// The opcode of the conditional branch with the opposite condition; nullopt for loop, jrcxz and
/// xbegin, which have no opposite, and for other instructions.
std::optional<uint8_t> inverse_condition(const Decoded& decoded);

/// Flags that the condition `opcode & 15` of jcc, setcc and cmovcc reads.
uint8_t condition_flags(uint8_t opcode);

}  // namespace respike::x86_64

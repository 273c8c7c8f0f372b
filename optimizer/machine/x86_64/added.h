#pragma once
// Instructions that Respike adds to a program.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike::x86_64 {

/// All except the first two and the last four work on 64 bits. In parentheses: operands, in the
/// order of AT&T's syntax.
enum class Added : uint8_t {
  undefined,
  no_operation,
  load,              // mov (memory or register, register)
  store,             // mov (register, memory)
  load_address,      // lea (memory, register)
  subtract,          // sub (memory, register)
  add_to_memory,     // add (register, memory)
  increment,         // inc (memory)
  increment_locked,  // lock inc (memory)
  add_carry,         // adc (0, memory)
  negate,            // neg (register)
  push,              // push (register)
  pop,               // pop (register)
  flags_to_ah,       // lahf
  overflow_to_al,    // seto %al
  overflow_from_al,  // add $0x7f,%al
  flags_from_ah,     // sahf
};

/// Where an operand is: in a register (`base`), or in memory.
struct Place {
  bool memory = true;
  uint8_t base = kNoRegister;  // kRip: `number` is an address minus Program::origin_base
  uint8_t index = kNoRegister;
  uint8_t scale = 1;
  int32_t number = 0;  // displacement, or of kRip
  bool own = false;    // relative to the base of gs, which each thread has its own
};

/// An instruction with a register operand `r`, in the encoding's numbering, and another operand.
/// Operands that the instruction lacks are ignored.
Instruction make_added(Added what, uint8_t r = 0, const Place& place = {});

/// The same with a memory operand given by a Reference: `immediate` is the number `reference`.
Instruction make_added(Added what, uint8_t r, uint32_t reference, bool own = false);

/// Appends the bytes of an instruction of make_added(), which is at `address`. Throws Error when
/// rip does not reach the operand, or when `added` is not such an instruction.
void write_added(const Instruction& added, uint64_t address, uint64_t origin_base,
                 std::vector<uint8_t>& out);

}  // namespace respike::x86_64

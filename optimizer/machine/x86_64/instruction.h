#pragma once
// Instructions of the IR: the contents of an x86-64 Instruction, and the way back to bytes.
//
// The bytes of an instruction of the input stay in the image, at its origin. The Instruction holds
// the facts that passes ask for, and the number that changes when code moves.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/machine/machine.h"
#include "optimizer/machine/x86_64/codec.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike::x86_64 {

/// Bits of Instruction::flags, besides the length in the upper four bits. `opcode` is
/// kFirstMachineOpcode plus the form; a short branch with a long form has the long form.
enum : uint8_t {
  kFromPlace = 2,      // `immediate` is the distance of the operand from the instruction's start
  kHasAddress = 4,     // `immediate` is the immediate operand
  kKeepsBytes = 8,     // a direct branch with prefixes: has no other form
  kJumpsOverLock = 8,  // of other instructions; see decode_unit()
  kLengthShift = 4,
  kStandingFlags = kFromPlace | kHasAddress | kKeepsBytes | 0xf0,
};

/// Numbers in the IR. General and vector registers have the numbers of DWARF (System V ABI, AMD64
/// supplement, figure 3.36), since unwind states also name registers; 16 is DWARF's return address,
/// which no instruction names, and here the state of x87.
enum : Register { kMmx = 16, kVectors = 17, kMasks = 49, kFlags = 57, kRegisterCount = 64 };

/// The number in the IR of a general register encoded as `encoded`, and back.
constexpr Register register_of(unsigned encoded) {
  constexpr uint8_t kNumbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
  return encoded < 8 ? kNumbers[encoded] : static_cast<Register>(encoded);
}
constexpr uint8_t encoded_of(Register r) {
  constexpr uint8_t kEncoded[] = {kRax, kRdx, kRcx, kRbx, kRsi, kRdi, kRbp, kRsp};
  return r < 8 ? kEncoded[r] : static_cast<uint8_t>(r);
}

inline unsigned length_of(const Instruction& instruction) {
  return instruction.is_pseudo() ? 0 : instruction.flags >> kLengthShift;
}
/// The index of Forms::forms; 0: the instruction did not decode.
inline unsigned form_number(const Instruction& instruction) {
  return instruction.opcode < kFirstMachineOpcode ? 0u : instruction.opcode - kFirstMachineOpcode;
}
/// The lowest four bits of the opcode: of conditional instructions, the condition.
inline uint8_t opcode_bits(const Instruction& instruction) {
  return instruction.registers[3] >> 4;
}

/// Bytes of the instruction that starts `code`; 1 when it does not decode.
unsigned length(std::span<const uint8_t> code);
/// See Codec::decode and Codec::encode_at.
void decode_all(std::span<const uint8_t> code, uint32_t origin, Instruction* out);
void encode_all(std::span<const Instruction> run, const CodePlace& place,
                std::vector<uint8_t>& out);

/// The instruction as the decoder found it, except displacements, immediates and facts in the bytes
/// alone: enough for effects_of().
Decoded unpack(const Instruction& instruction);

InstructionFacts facts(const Instruction& instruction);
Operands operands(const Instruction& instruction);
bool is_signal_return(std::span<const Instruction> instructions);

/// `jmp` and `call` with a displacement of 32 bits.
Instruction jump();
Instruction call();

/// Gives a conditional jump the opposite condition; returns false for other instructions.
bool invert(Instruction& branch);
/// See BranchForms.
void set_length(Instruction& branch, bool is_long);
bool is_short(const Instruction& branch);
/// See Fixups::apply.
bool apply(Instruction& instruction, ReferenceKind kind, uint64_t place, uint64_t target,
           uint64_t gp);

extern const WholeAddresses kWholeAddresses;  // whole_addresses.cc
Codec::Field field_at(std::span<const uint8_t> code, unsigned offset);
bool same(const Codec::Code& before, const Codec::Code& after,
          std::optional<ReferenceKind> reference);
extern const PushedReturns kPushedReturns;  // pushed_returns.cc

}  // namespace respike::x86_64

#pragma once
// What Itanium instructions do: registers, control flow, the register stack and rotation.

#include <span>

#include "optimizer/ir/program.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/machine.h"

namespace respike::ia64 {

// Flat numbering of registers. Registers that always read as the same value (r0, f0, f1, p0) have a
// number, but are neither used nor defined.
inline constexpr Register kGeneral = 0;  // r0 to r127
inline constexpr Register kFloating = 128;
inline constexpr Register kPredicate = 256;
inline constexpr Register kBranch = 320;
inline constexpr Register kApplication = 328;      // ar0 to ar127
inline constexpr Register kFrameMarker = 456;      // cfm: sizes of frame and rotating parts, bases
inline constexpr Register kProcessorStatus = 457;  // psr, all its parts
inline constexpr Register kPredicateFile = 458;    // p1 to p63 at once
inline constexpr unsigned kRegisterCount = 459;

/// "r14", "f8", "p6", "b0", "ar.pfs", "cfm", "psr", "pr".
std::string register_name(Register r);

/// Registers have the names that the instruction uses; see frame_effect(). An instruction under a
/// predicate uses the registers that it defines, since old values stay when the predicate is false;
/// compares of type unc define their predicates in any case. Check loads also use the registers
/// that they define.
Operands operands(const Instruction& instruction);

/// `flow` of a call, jump or return under a predicate is the flow when the predicate is true: also
/// ask `falls_through`. `source` is about general and branch registers.
InstructionFacts facts(const Instruction& instruction);
inline ControlFlow control_flow(const Instruction& instruction) {
  return facts(instruction).flow;
}
inline bool is_nop(const Instruction& instruction) {  // nop.m, .i, .f, .b, .x
  return facts(instruction).nop;
}

/// Puts the branch under the opposite predicate, if the last compare in `before` that sets the
/// branch's predicate sets another predicate to the opposite; returns false otherwise. For code in
/// which no compare sees a NaT, which would set both predicates to 0.
bool invert(Instruction& branch, std::span<const Instruction> before);
/// Sets the completer .dptk or .dpnt; see BranchForms::predict().
void predict(Instruction& branch, uint64_t taken, uint64_t executed);

/// Whether the instruction is chk.s, chk.a or fchkf: a branch to recovery code, executed by another
/// unit than the branch unit. Inline, since plugins of emulators are not linked with this library.
constexpr bool is_check(Op op) {
  switch (op) {
    case Op::chk_s_i:
    case Op::chk_s_m:
    case Op::chk_s_f:
    case Op::chk_a_nc:
    case Op::chk_a_clr:
    case Op::chk_a_nc_f:
    case Op::chk_a_clr_f:
    case Op::fchkf:
      return true;
    default:
      return false;
  }
}
/// Whether the instruction is br.cloop or a branch of a modulo-scheduled loop: in slot 2 only.
constexpr bool is_loop_branch(Op op) {
  return op == Op::br_cloop || op == Op::br_ctop || op == Op::br_cexit || op == Op::br_wtop ||
         op == Op::br_wexit;
}
/// Whether the instruction is a compare of type unc, which writes 0 to its two predicates when its
/// qualifying predicate is false.
bool is_unconditional_compare(Op op);

/// Whether the instruction reads or writes memory at the address in a general register, or adds a
/// short immediate to the register: linkers fill in long immediates.
bool uses_as_pointer(const Instruction& instruction, Register r);

/// How an instruction changes the meaning of the names r32 to r127, f32 to f127, p16 to p63.
enum class FrameEffect : uint8_t {
  none,
  allocate,  // alloc: sizes of frame and rotating part
  call,      // the output registers become r32 and up
  restore,   // return: back to the caller's frame
  rotate,    // a modulo-scheduled loop: register n is called n + 1 from here on
  unrotate,  // clrrrb: register n is called n again
  cover,     // a new, empty frame after the current frame
};
FrameEffect frame_effect(const Instruction& instruction);

/// Names that depend on the frame: r32 and up.
constexpr RegisterRange kStacked = {kGeneral + 32, kFloating};
constexpr bool is_stacked(Register r) {
  return kStacked.contains(r);
}
/// For alloc, the inputs and locals that do not rotate; for cover, no registers; nullopt for other
/// instructions.
std::optional<RegisterRange> kept_registers(const Instruction& instruction);
/// Whether the name can rotate: always f32 and up and p16 and up; r32 and up as alloc says.
constexpr bool may_rotate(Register r) {
  return is_stacked(r) || (r >= kFloating + 32 && r < kPredicate) ||
         (r >= kPredicate + 16 && r < kBranch);
}

}  // namespace respike::ia64

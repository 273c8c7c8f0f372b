#pragma once
// What Itanium instructions do: registers, control flow, the register stack and rotation.

#include <span>

#include "optimizer/ir/program.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/machine.h"

namespace respike::ia64 {

// Flat numbering of registers. Those that always read as the same (r0, f0, f1, p0) have a number,
// but are neither used nor defined.
inline constexpr Register kGeneral = 0;  // r0 to r127
inline constexpr Register kFloating = 128;
inline constexpr Register kPredicate = 256;
inline constexpr Register kBranch = 320;
inline constexpr Register kApplication = 328;      // ar0 to ar127
inline constexpr Register kFrameMarker = 456;      // cfm: size of frame and rotating parts, bases
inline constexpr Register kProcessorStatus = 457;  // psr, all its parts
inline constexpr Register kPredicateFile = 458;    // p1 to p63 at once
inline constexpr unsigned kRegisterCount = 459;

/// "r14", "f8", "p6", "b0", "ar.pfs", "cfm", "psr", "pr".
std::string register_name(Register r);

/// Registers are named as the instruction names them; see frame_effect(). An instruction under a
/// predicate uses what it defines, since the old value stays when the predicate is false; compares
/// of type unc define their predicates in any case. Check loads use what they define, too.
Operands operands(const Instruction& instruction);

/// An instruction under a predicate may do nothing; of a call, jump or return `flow` is that of one
/// that does: ask `falls_through`, too. `source` says what general and branch registers get.
InstructionFacts facts(const Instruction& instruction);
inline ControlFlow control_flow(const Instruction& instruction) {
  return facts(instruction).flow;
}
inline bool is_nop(const Instruction& instruction) {  // nop.m, .i, .f, .b, .x
  return facts(instruction).nop;
}

/// Makes a branch one on the opposite predicate, when the last compare in `before` that sets its
/// predicate sets another one to the opposite; false otherwise. For code in which no compare sees a
/// NaT: then both would be 0.
bool invert(Instruction& branch, std::span<const Instruction> before);
/// Sets the completer .sptk, .spnt, .dptk or .dpnt; see BranchForms::predict().
void predict(Instruction& branch, uint64_t taken, uint64_t executed);

/// chk.s, chk.a, fchkf: branches to recovery code, which are not of the branch unit. Inline, since
/// plugins of emulators have no part of this library.
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
/// br.cloop and those of modulo-scheduled loops: the last of their bundle.
constexpr bool is_loop_branch(Op op) {
  return op == Op::br_cloop || op == Op::br_ctop || op == Op::br_cexit || op == Op::br_wtop ||
         op == Op::br_wexit;
}
/// Compares of type unc, which write 0 to their predicates when their own predicate is false.
bool is_unconditional_compare(Op op);

/// Reads or writes memory at what a general register holds, or adds a short immediate to it: longer
/// ones are what linkers fill in.
bool uses_as_pointer(const Instruction& instruction, Register r);

/// What an instruction does to the meaning of the names r32 to r127, f32 to f127, p16 to p63.
enum class FrameEffect : uint8_t {
  none,
  allocate,  // alloc: sizes of frame and rotating part
  call,      // output registers become r32 and up
  restore,   // return: the caller's frame
  rotate,    // a modulo-scheduled loop: what was called n is n + 1 from here on
  unrotate,  // clrrrb: register n is called n again
  cover,     // an empty frame behind this one
};
FrameEffect frame_effect(const Instruction& instruction);

/// Names that depend on the frame: r32 and up.
constexpr RegisterRange kStacked = {kGeneral + 32, kFloating};
constexpr bool is_stacked(Register r) {
  return kStacked.contains(r);
}
/// Of alloc: the inputs and locals that do not rotate. Of cover: none. nullopt: another one.
std::optional<RegisterRange> kept_registers(const Instruction& instruction);
/// Whether the name can rotate: f32 and p16 and up always, r32 and up as alloc says.
constexpr bool may_rotate(Register r) {
  return is_stacked(r) || (r >= kFloating + 32 && r < kPredicate) ||
         (r >= kPredicate + 16 && r < kBranch);
}

}  // namespace respike::ia64

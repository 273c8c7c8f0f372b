#pragma once
// The handlers from which translation chooses: specialised handlers for frequent shapes of
// instructions, general handlers for all instructions.
//
// Specialised handlers assume that no register holds a NaT; general handlers check NaT bits. Blocks
// without NaT bits mix both kinds. A general handler that makes the first NaT leaves the block, so
// that translation begins again with kNatKey.

#include "emulators/ia64/block_cache.h"
#include "emulators/ia64/micro_op.h"
#include "optimizer/machine/ia64/codec.h"

namespace respike::emulator::ia64 {

/// The specialised handler of an instruction and its operands; registers are physical. If there is
/// no such handler, the result's handler is null.
MicroOp specialise_integer(const respike::ia64::Slot& slot);
MicroOp specialise_memory(const respike::ia64::Slot& slot);
MicroOp specialise_floating(const respike::ia64::Slot& slot);

/// The general handler of an instruction, by its family. `nat`: for blocks that may see NaT bits.
Handler general_handler(const respike::ia64::Slot& slot, bool nat);

/// Whether an instruction ends a block: branches but not checks, and instructions that change the
/// frame marker like branches.
bool ends_block(respike::ia64::Op op);

// Execution of instructions by general handlers. Each raises a fault before it changes any state.
void execute_integer(Cpu& cpu, const GeneralInstruction& instruction);
void execute_compare(Cpu& cpu, const GeneralInstruction& instruction);
void execute_memory(Cpu& cpu, const GeneralInstruction& instruction);
void execute_floating(Cpu& cpu, const GeneralInstruction& instruction);
void execute_system(Cpu& cpu, const GeneralInstruction& instruction);
/// Raises SIGFPE for the result of an arithmetic function.
[[noreturn]] void raise_floating(Cpu& cpu, uint32_t interruption);
/// Sets cpu.ip to the next instruction to execute.
void execute_branch(Cpu& cpu, const GeneralInstruction& instruction);

enum class Family : uint8_t { none, nop, integer, compare, memory, floating, system, branch };
Family family_of(respike::ia64::Op op);

/// The meaning of a compare or test instruction, parsed from its name.
struct CompareKind {
  enum class Type : uint8_t { none, unc, and_, or_, or_andcm } type;
  enum class Relation : uint8_t { eq, ne, lt, le, gt, ge, ltu, z, nz } relation;
  enum class What : uint8_t { not_compare, cmp, cmp4, tbit, tnat, tf } what;
  bool immediate, zero;  ///< the first operand is an immediate, or r0
};
CompareKind compare_kind(respike::ia64::Op op);

// Operations that belong to no single instruction.
const MicroOp* op_guard(const MicroOp* op, Cpu* cpu,
                        uint64_t* frame);  ///< skips if predicate a is 0
const MicroOp* op_count(const MicroOp* op, Cpu* cpu, uint64_t* frame);  ///< data: Count
const MicroOp* op_model(const MicroOp* op, Cpu* cpu, uint64_t* frame);  ///< data: Stretch
const MicroOp* op_illegal(const MicroOp* op, Cpu* cpu,
                          uint64_t* frame);  ///< immediate: the signal's code
const MicroOp* op_no_code(const MicroOp* op, Cpu* cpu,
                          uint64_t* frame);  ///< nothing to execute here
const MicroOp* op_break(const MicroOp* op, Cpu* cpu,
                        uint64_t* frame);  ///< leaves; data: GeneralInstruction

// Branches. Branches that are not linked yet hold a Link as data.
const MicroOp* op_jump_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_jump(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_continue(const MicroOp* op, Cpu* cpu,
                           uint64_t* frame);  ///< a jump that is no branch
/// `a` is the predicate.
const MicroOp* op_branch_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_branch(const MicroOp* op, Cpu* cpu, uint64_t* frame);
/// a: branch register for the return address, b: sol, c: the callee's sof; op[1].immediate: return
/// address.
const MicroOp* op_call_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_call(const MicroOp* op, Cpu* cpu, uint64_t* frame);
/// As op_call_unresolved; d: branch register with the target.
const MicroOp* op_call_indirect(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_return(const MicroOp* op, Cpu* cpu, uint64_t* frame);  ///< d as before
const MicroOp* op_branch_indirect(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_cloop_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_cloop(const MicroOp* op, Cpu* cpu, uint64_t* frame);
/// br.ctop in a loop with the rename bases of its block. Both exits have links; op[1] holds the
/// link of the fall-through.
const MicroOp* op_ctop_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame);
const MicroOp* op_ctop(const MicroOp* op, Cpu* cpu, uint64_t* frame);
/// a: target, b: sof, c: sol, d: sor/8.
const MicroOp* op_alloc(const MicroOp* op, Cpu* cpu, uint64_t* frame);

}  // namespace respike::emulator::ia64

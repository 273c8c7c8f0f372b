#pragma once
// What a procedure does with its stack frame: how large it is, which registers it saves there and
// restores, and which instructions are this prolog and epilog work (Spike, section "Hot-Cold
// Optimization": half of it can be removed).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"

namespace respike {

struct FrameShape {
  /// The frame's purpose of one instruction. Offsets are in bytes from the stack pointer's value
  /// at the entry.
  enum class Role : uint8_t {
    allocate,           // lowers the stack pointer by a constant
    release,            // raises it by a constant, or restores it from the frame pointer
    save,               // stores a register's value at the entry to its slot
    restore,            // loads it back
    set_frame_pointer,  // copies the stack pointer to the register that stands for it
  };
  struct Step {
    BlockId block = kNone;
    uint32_t index = 0;  // of BasicBlock::instructions
    Role role = Role::allocate;
    Register reg = 0;  // save, restore: which one
    int32_t offset = 0;

    bool operator==(const Step&) const = default;
  };

  /// Of fixed size, allocated once or not at all: the stack pointer is at 0 or at -size everywhere,
  /// and at 0 at every way out. Otherwise only the steps are certain.
  bool regular = false;
  int32_t size = 0;  // bytes; the lowest known place of the stack pointer
  std::optional<Register> frame_pointer;
  bool address_escapes =
      false;                // an address in the frame is kept other than in these two registers
  std::vector<Step> steps;  // by block and index

  struct Slot {
    Register reg = 0;
    int32_t offset = 0;
    bool operator==(const Slot&) const = default;
  };
  std::vector<Slot> slots;  // by register; several may take turns in one place
  /// Registers that a caller finds unchanged although the procedure has a slot for them: on every
  /// way out they hold the value they had at the entry, the procedure writes them, and that value
  /// is used for nothing but saving. Callees may change Abi::scratch; what else known ones do is
  /// not looked at, and unknown ones that do not follow the standard may read and change all. Only
  /// slots that unwind information knows, so that the save is of the whole register and nothing
  /// else is kept there.
  RegisterSet restored;
  /// Per block, at its start: registers whose value at the entry certainly is in their slot and
  /// certainly no longer in themselves. Empty for an opaque procedure.
  std::vector<RegisterSet> overwritten;
};

/// `calls` and `entries`: of that procedure in the call graph. Linear for reducible flow graphs.
/// A procedure that is opaque has no known shape: not regular, nothing restored.
FrameShape find_frame_shape(const Program& program, ProcedureId id, std::span<const Call> calls,
                            std::span<const BlockId> entries);

/// Whether unwind information tells of any register in the frame; without it there are no slots.
bool may_have_slots(const Program& program, const Procedure& procedure);

/// Those of the shape's slots that an unwind state says hold what its register had at the entry.
RegisterSet saved_in(const FrameShape& shape, const Program& program, const Procedure& procedure,
                     uint32_t cfi_state);

}  // namespace respike

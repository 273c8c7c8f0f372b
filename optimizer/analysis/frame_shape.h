#pragma once
// What a procedure does with its stack frame: the size of the frame, which registers the procedure
// saves and restores, and which instructions do this work of prolog and epilog (Spike, section
// "Hot-Cold Optimization": half of them can be removed).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"

namespace respike {

struct FrameShape {
  /// What an instruction does for the frame. Offsets are in bytes from the stack pointer's value at
  /// the entry.
  enum class Role : uint8_t {
    allocate,           // lowers the stack pointer by a constant
    release,            // raises the stack pointer, or restores it from the frame pointer
    save,               // stores a register, which holds its value at the entry, to its slot
    restore,            // loads a register from its slot
    set_frame_pointer,  // copies the stack pointer to the frame pointer
  };
  struct Step {
    BlockId block = kNone;
    uint32_t index = 0;  // of BasicBlock::instructions
    Role role = Role::allocate;
    Register reg = 0;  // save, restore: the register
    int32_t offset = 0;

    bool operator==(const Step&) const = default;
  };

  /// Whether the frame has a fixed size and is allocated once or not at all: the stack pointer is
  /// at 0 or at -size everywhere, and at 0 at every way out. If false, only `steps` are certain.
  bool regular = false;
  int32_t size = 0;  // bytes; -size is the lowest known offset of the stack pointer
  std::optional<Register> frame_pointer;
  bool address_escapes = false;  // an address in the frame is also kept outside of these registers
  std::vector<Step> steps;       // by block and index

  struct Slot {
    Register reg = 0;
    int32_t offset = 0;
    bool operator==(const Slot&) const = default;
  };
  std::vector<Slot> slots;  // by register; several registers may have one offset
  /// Registers with a slot that the procedure changes, that hold their value at the entry on every
  /// way out, and whose value at the entry is only used for saving. The analysis assumes that
  /// standard and known callees change only Abi::scratch; unknown callees that do not follow the
  /// standard may read and change all registers.
  RegisterSet restored;
  /// Per block, at its start: registers whose slot certainly holds their value at the entry, and
  /// that certainly hold another value themselves. Empty for an opaque procedure.
  std::vector<RegisterSet> overwritten;
};

/// `calls` and `entries` are those of the procedure in the call graph. Linear for reducible flow
/// graphs. The shape of an opaque procedure is unknown: not regular, nothing restored.
FrameShape find_frame_shape(const Program& program, ProcedureId id, std::span<const Call> calls,
                            std::span<const BlockId> entries);

/// Whether unwind information says that a register is in the frame; otherwise there are no slots.
bool may_have_slots(const Program& program, const Procedure& procedure);

/// The registers of the shape's slots that, by an unwind state, hold the values at the entry.
RegisterSet saved_in(const FrameShape& shape, const Program& program, const Procedure& procedure,
                     uint32_t cfi_state);

}  // namespace respike

#pragma once
// Private slots: places in a procedure's frame that only its own plain loads and stores access.
// Compilers keep values for which they have no register there.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/analysis/frame_shape.h"
#include "optimizer/ir/program.h"

namespace respike {

/// A load or store of a whole register, or a store of zero, relative to a register.
struct WholeRegisterAccess {
  bool store = false;
  Register base = 0;
  std::optional<Register> value;  // loaded or stored; nullopt: zero
  int64_t displacement = 0;
};

/// nullopt when the instruction is not such an access, or does more.
std::optional<WholeRegisterAccess> whole_register_access(const Machine& machine,
                                                         const Instruction& instruction);

/// Whether an instruction is a call or system call, which may read and write private slots.
bool enters_other_code(const Machine& machine, const Instruction& instruction);

struct PrivateSlots {
  static constexpr size_t kMost = 64;

  /// Ascending, in bytes from the stack pointer at the entry. Slots have 8 bytes, and overlap
  /// neither each other nor other accesses to the frame. The base of every access is the stack
  /// pointer, with the frame allocated. All slots are written before they are read.
  std::vector<int32_t> offsets;
  /// Per block, a bit per slot: whether the slot is live at the block's start, that is, may be read
  /// before it is written or the frame is released. Calls and system calls read all slots: one of
  /// them may return twice, and code after it then reads the values of that time.
  std::vector<uint64_t> live;

  std::optional<size_t> find(int64_t offset) const;
};

/// `shape` and `entries` are those of the procedure. No slots where the frame is not regular, has a
/// frame pointer, or its address escapes. Linear for reducible flow graphs.
PrivateSlots find_private_slots(const Program& program, ProcedureId id, const FrameShape& shape,
                                std::span<const BlockId> entries);

}  // namespace respike

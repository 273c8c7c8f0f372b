#pragma once
// Places in a procedure's frame that nothing can mean but its own plain loads and stores: where
// compilers keep values for which they had no register.

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

/// nullopt: the instruction is nothing of the kind, or does more.
std::optional<WholeRegisterAccess> whole_register_access(const Machine& machine,
                                                         const Instruction& instruction);

/// Calls and system calls, which may read and write private slots.
bool enters_other_code(const Machine& machine, const Instruction& instruction);

struct PrivateSlots {
  static constexpr size_t kMost = 64;

  /// Ascending, bytes from the stack pointer at the entry. 8 bytes each, apart from each other and
  /// from all else in the frame. Every access has the stack pointer for its base, as low as it
  /// gets. All are written before they are read.
  std::vector<int32_t> offsets;
  /// Per block, a bit per slot: whether it may be read before it is written, or before the frame
  /// goes. Calls and system calls read all: one of them may return twice, with what was there then.
  std::vector<uint64_t> live;

  std::optional<size_t> find(int64_t offset) const;
};

/// `shape` and `entries`: of that procedure. None where the frame is not regular, has a frame
/// pointer, or its address escapes. Linear for reducible flow graphs.
PrivateSlots find_private_slots(const Program& program, ProcedureId id, const FrameShape& shape,
                                std::span<const BlockId> entries);

}  // namespace respike

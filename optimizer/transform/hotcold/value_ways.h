#pragma once
// Reaching definitions of one instruction, together with its operands: where the instruction's
// result is still in its register or slot, and where it could be computed again.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "optimizer/transform/hotcold/hot_procedure.h"

namespace respike {

/// Follows the result of one instruction, in a register or a slot, over all paths through the hot
/// procedure.
class ValueWays {
 public:
  /// The possible states at a point: a bit set, joined over all paths to the point; 0: unreachable.
  enum : uint8_t {
    kOther = 1,  // the last writer of the register or slot is another instruction or none
    kReady = 2,  // the last writer is the instruction, and the registers that it read are unchanged
    kLost = 4,   // the last writer is the instruction, but a register that it read was overwritten
  };

  /// For instruction `index` of hot block `block`, which only computes `result`.
  ValueWays(const HotProcedure& procedure, uint32_t block, size_t index, Register result);
  /// For a store to a slot; `writes` says whether an instruction writes that slot.
  ValueWays(const HotProcedure& procedure, uint32_t block, size_t index,
            std::function<bool(const HotInstruction&)> writes);

  uint8_t at_start(uint32_t block) const { return before_[block]; }
  /// The states after instruction `index` of a block, given the states before it.
  uint8_t behind(uint32_t block, size_t index, uint8_t state) const;

 private:
  void follow();
  uint8_t behind_call(uint32_t block, uint8_t state) const;
  /// The states after a write. `result`: it writes the result's register, `certainly` or perhaps.
  /// `read`: it writes a register that the instruction read.
  static uint8_t written(bool result, bool certainly, bool read, uint8_t state);

  const HotProcedure& procedure_;
  const uint32_t home_;
  const size_t home_index_;
  const std::optional<Register> result_;
  const std::function<bool(const HotInstruction&)> writes_;
  const RegisterSet reads_;
  std::vector<uint8_t> before_;  // per block
};

/// Moves instruction `index` of a hot block to those stubs for which `is_live` says that they need
/// its result. If such a stub cannot compute the result again, changes nothing and returns false.
/// `ways` belongs to the instruction.
bool move_to_stubs(HotProcedure& procedure, uint32_t block, size_t index, const ValueWays& ways,
                   const std::function<bool(uint32_t stub)>& is_live);

}  // namespace respike

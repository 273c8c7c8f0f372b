#pragma once
// Where the value that an instruction computes still is, and could be computed again.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "optimizer/transform/hotcold/hot_procedure.h"

namespace respike {

/// Follows the result of one instruction, in a register or a place in memory, over all ways through
/// the hot procedure.
class ValueWays {
 public:
  /// What may be so at a point, over all ways to it; 0 where control does not get to.
  enum : uint8_t {
    kOther = 1,  // the register was last written elsewhere, or not at all
    kReady = 2,  // by the instruction, and what that read still holds
    kLost = 4,   // by the instruction, but what it read was overwritten
  };

  /// Instruction `index` of hot block `block`, which computes `result` and does nothing else.
  ValueWays(const HotProcedure& procedure, uint32_t block, size_t index, Register result);
  /// A store to a place that only instructions for which `writes` holds write.
  ValueWays(const HotProcedure& procedure, uint32_t block, size_t index,
            std::function<bool(const HotInstruction&)> writes);

  uint8_t at_start(uint32_t block) const { return before_[block]; }
  /// Behind instruction `index` of a block, given what is so before it.
  uint8_t behind(uint32_t block, size_t index, uint8_t state) const;

 private:
  void follow();
  uint8_t behind_call(uint32_t block, uint8_t state) const;
  /// `result`, `read`: whether the result's register is written, and one that the instruction read.
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
/// its result. False, and nothing changes, where one of them could not compute it again. `ways`: of
/// that instruction.
bool move_to_stubs(HotProcedure& procedure, uint32_t block, size_t index, const ValueWays& ways,
                   const std::function<bool(uint32_t stub)>& is_live);

}  // namespace respike

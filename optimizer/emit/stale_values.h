#pragma once
// Which values of the input are not where they were, in a procedure that hot-cold optimization
// split.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/analysis/register_set.h"
#include "optimizer/debug/address_map.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// Follows stale values along the flow graph of one procedure. A register is stale at a place if it
/// need not hold what it holds at that place of the input: the instruction that computed the value
/// is missing, or writes another register now. A place in memory is stale if its store is missing.
///
/// Example: hot code keeps a value in $1 that was in $9. From the instruction on that computes the
/// value both registers are stale: $9 holds what it held before, $1 held something else.
///
/// Cost: linear in the instructions of the procedure for each pass over its loops.
class StaleFlow {
 public:
  StaleFlow(const Image& image, const Program& program, ProcedureId id);

  /// The values that are stale in front of an instruction that the block still has.
  struct Step {
    uint64_t old_address = 0;
    StaleValues before;
  };
  /// The steps of a block in the order of the output, and last what is stale behind the block.
  std::vector<Step> steps(BlockId block) const;

 private:
  /// Registers, and behind them stores that are missing.
  using Stale = RegisterSet;
  struct Problem;

  struct Work {
    uint64_t old_address = 0;
    Operands before, now;  // in the input and in the output
    bool removed = false;
    bool is_call = false;
    bool loads = false;
    Register store = 0;  // removed, or in a stub: the store's number in the set; 0: it is no store
  };
  std::vector<Work> work_of(const BasicBlock& block);
  std::vector<Instruction> decode(uint64_t address) const;
  Register store_number(uint64_t old_address);
  void find_saves();
  bool is_save(const Instruction& store, const Operands& operands) const;
  bool is_stub(const BasicBlock& block) const;
  bool has_stale_store(const Stale& stale) const;
  void step(const Work& work, Stale& stale) const;
  StaleValues values(const Stale& stale) const;

  const Image& image_;
  const Program& program_;
  const Procedure& procedure_;
  const Machine& machine_;
  Register registers_ = 0;  // of the machine; stores are numbered from here on
  Stale kept_equal_;        // registers whose instructions are only left out where that is the same
  Stale lost_at_calls_;
  std::vector<std::pair<Register, int64_t>> saves_;  // register, distance from the stack pointer
  std::map<uint64_t, Register> stores_;              // by address in the input
  std::vector<std::vector<Work>> work_;              // by block
  std::vector<Stale> before_;                        // by block
};

}  // namespace respike

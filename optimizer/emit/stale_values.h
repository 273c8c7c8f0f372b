#pragma once
// Which values of the input are in other places or missing, in a procedure that hot-cold
// optimization split.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// Follows stale values along the flow graph of one procedure. A register is stale at a place if it
/// need not hold the value that it holds at that place of the input: the instruction that computed
/// the value is missing, or now writes another register. A place in memory is stale if its store is
/// missing.
///
/// A stub executes instructions that hot code lacks. A value is correct again after the stub if its
/// last instruction was missing on every way to the stub, and the stub has exactly that
/// instruction.
///
/// Example: hot code keeps a value in $1 that was in $9. From the instruction on that computes the
/// value, both registers are stale: $9 holds its earlier value, and $1 held another value in the
/// input.
///
/// Cost: linear in the instructions of the procedure for each pass over its loops.
class StaleFlow {
 public:
  StaleFlow(const Image& image, const Program& program, ProcedureId id);

  /// The values that are stale before an instruction that the block still has.
  struct Step {
    uint64_t old_address = 0;
    StaleValues before;
  };
  /// The steps of a block in the order of the output; the last step has the stale values after the
  /// block.
  std::vector<Step> steps(BlockId block) const;

 private:
  /// Why each register is stale, followed by each store that is missing somewhere. kRight: it is
  /// not stale. kUnknown: for different reasons. Otherwise: the missing instruction of the input,
  /// as its distance from origin_base plus one. Empty: control does not come here.
  using Reasons = std::vector<uint32_t>;
  static constexpr uint32_t kRight = 0, kUnknown = UINT32_MAX;
  struct Problem;

  struct Work {
    uint64_t old_address = 0;
    Operands before, now;  // in the input and in the output
    bool removed = false;
    bool loads = false;  // from the frame
    uint32_t store = 0;  // its number if it is missing somewhere; 0: not missing, or no store
  };
  std::vector<Work> work_of(const BasicBlock& block);
  std::vector<Instruction> decode(uint64_t address) const;
  void find_saves();
  bool is_save(const Instruction& store, const Operands& operands) const;
  bool is_stub(const BasicBlock& block) const;
  bool has_stale_store(const Reasons& reasons) const;
  void step(const Work& work, bool in_stub, Reasons& reasons) const;
  StaleValues values(const Reasons& reasons) const;

  const Image& image_;
  const Program& program_;
  const Procedure& procedure_;
  const Machine& machine_;
  const uint32_t registers_;                         // of the machine
  std::vector<std::pair<Register, int64_t>> saves_;  // register, distance from the stack pointer
  std::map<uint64_t, uint32_t> stores_;              // number by address in the input
  std::vector<std::vector<Work>> work_;              // by block
  std::vector<Reasons> before_;                      // by block
};

}  // namespace respike

#pragma once
// Whether addresses of labels in a procedure (computed goto) are only passed on, or computed with.
// Private to this folder.

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/lift/jumps.h"

namespace respike {

/// Traces addresses of code through one procedure.
class LabelTracer {
 public:
  using Blocks = std::vector<BlockId>;

  /// `predecessors`: over all edges except edges of indirect jumps and exceptions. `jumps`: the
  /// blocks that end with an indirect jump. `labels`: the blocks to which such a jump may lead.
  LabelTracer(const Lifter& lifter, ProcedureId id, const std::vector<Blocks>& predecessors,
              const Blocks& jumps, const Blocks& labels, Effort& effort)
      : lifter_(lifter),
        id_(id),
        procedure_(lifter.program[id]),
        predecessors_(predecessors),
        jumps_(jumps),
        labels_(labels),
        effort_(effort) {}

  /// Whether the jump's register holds, on all paths, an address that was loaded whole, formed
  /// whole or passed in, never the result of arithmetic. Notes whether the address may be a call's
  /// result.
  bool jumps_to_stored_address(BlockId jump);
  bool from_call() const { return from_call_; }

  /// Whether the addresses of labels that the procedure forms are only passed on: in registers,
  /// through distinguishable places of the stack, to jumps and to calls.
  bool are_passed_on();

 private:
  /// A register's value before instruction `index` of the block.
  struct Place {
    BlockId block;
    uint32_t index;
    Register value;
    auto operator<=>(const Place&) const = default;
  };

  bool passes_on(const Place& wanted, std::vector<Place>& sources);
  bool find_stores(const Instruction& load, std::vector<Place>& sources);
  bool follow(const Place& from, std::vector<Place>& next);
  bool use(const Instruction& instruction, const Operands& operands, Register value, bool& defines,
           std::vector<Place>& next);
  bool find_loads(const Instruction& store, Register base, std::vector<Place>& next);
  bool is_frame_register(Register r);
  bool frame_is_known();
  bool is_label(const Instruction& instruction) const;
  bool is_own_label(const Instruction& instruction) const;

  const Lifter& lifter_;
  const ProcedureId id_;
  const Procedure& procedure_;
  const std::vector<Blocks>& predecessors_;
  const Blocks& jumps_;
  const Blocks& labels_;
  Effort& effort_;
  bool from_call_ = false;
  std::optional<std::vector<Register>> frame_registers_;
  std::optional<bool> frame_is_known_;
};

}  // namespace respike

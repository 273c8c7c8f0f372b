#pragma once
// Operations by number, for the proof of a hot procedure (hot_cold_proof.h). Private to this
// folder.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "optimizer/machine/machine.h"

namespace respike {

/// The two sides of the proof: the procedure as it was, and as it is.
enum Side : uint8_t { kBefore, kAfter };

/// Numbers operations: equal numbers do the same to whatever registers they name.
class Operations {
 public:
  Operations(const Machine& machine, ProcedureId id, std::span<const BlockId> copies)
      : machine_(machine), id_(id), copies_(copies) {}

  uint32_t number(Side side, const Procedure& procedure, const Instruction& i) {
    // Zero registers are no operands, so their fields determine the fields that are operands.
    Key key{i.opcode, i.predicate, machine_.rewrite->zero_fields(i), 0, {}};
    const ControlFlow flow = machine_.facts(i).flow;
    const bool direct = flow == ControlFlow::branch || flow == ControlFlow::call ||
                        flow == ControlFlow::conditional_branch;
    if (i.has_reference())
      std::get<4>(key) =
          target_of(side, procedure, procedure.references[static_cast<uint32_t>(i.immediate)]);
    else if (!direct)
      std::get<3>(key) = i.immediate;
    const auto next = static_cast<uint32_t>(numbers_.size());
    return kFirst + kWidest * numbers_.try_emplace(key, next).first->second;
  }

 private:
  using Key = std::tuple<uint16_t, uint8_t, uint8_t, int32_t, std::array<uint64_t, 4>>;
  static constexpr uint32_t kFirst = 16;   // smaller numbers are kinds of Computation
  static constexpr uint32_t kWidest = 16;  // results of one operation at most, each with a number

  std::array<uint64_t, 4> target_of(Side side, const Procedure& procedure,
                                    const Reference& reference) const {
    if (reference.kind == ReferenceKind::branch_hint) return {};
    CodeLocation to = reference.target;
    if (side == kAfter && to.procedure == id_ && to.block < copies_.size() &&
        depends_on_place(procedure, to))
      to.block = copies_[to.block];
    return {
        uint64_t{1} + static_cast<uint64_t>(reference.kind) * 8 + static_cast<uint64_t>(to.where),
        to.procedure, to.block, to.address};
  }

  /// Whether the target belongs to the copy in which the code runs: a return point or a landing
  /// pad. Calls and pointers lead only to hot code.
  static bool depends_on_place(const Procedure& procedure, const CodeLocation& to) {
    return to.where == CodeLocation::Where::return_point ||
           procedure.blocks[to.block].has(BasicBlock::kLandingPad);
  }

  const Machine& machine_;
  const ProcedureId id_;
  const std::span<const BlockId> copies_;
  std::map<Key, uint32_t> numbers_;
};

}  // namespace respike

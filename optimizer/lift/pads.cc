// From which address landing pads compute gp.
//
// A landing pad that loads gp expects its own address in the register of return addresses:
// unwinders leave there the address to which they jump. So control must reach the code between the
// pad and the load through the pad, and the pad by unwinding:
//
//            jsr   ra, (t12)        a call that throws; its return would lead to the no-op
//            unop                   padding
//     pad:   ldah  gp, 2(ra)        ra = pad
//            lda   gp, 19476(gp)
//
// Control that comes in any other way has another return address, and gp would be off by the
// distance of the two addresses, which every layout changes. Two such ways are known:
//
// - Compilers merge equal landing pads, including their loads of gp: all but one of the pads branch
//   to the load, and are wrong. What happens to exceptions that reach these pads depends on the
//   distance, so the procedure is opaque.
// - A call that throws seems to return to the pad after it. Compilers start a pad with the load
//   because unwinding is its only way in, and merge it only with other pads. So such a call does
//   not return, and only padding is between call and pad. A layout may put the padding and the pad
//   elsewhere, so branches are allowed among the no-ops, and several such calls may share the
//   no-ops. Where the pad follows the call at once, the return address is the pad's address on both
//   ways; there call and pad stay together (Connector::fall_through).
//
// So the ways into a pad are followed back over no-ops and branches: all must start after calls.
// The ways into a load are followed back in the same way: all must start at its pad, and none after
// a call. Code that nothing reaches counts like other code, no matter how the image was made.
//
// Not checked: whether the code in between changes the register, and the ways into loads that count
// from a call's return address. There the arithmetic is the evidence: such a load gives the same
// gp, see gp.cc.

#include <fmt/format.h>

#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

class PadChecker {
 public:
  PadChecker(const Lifter& lifter, ProcedureId id)
      : machine_(lifter.machine), id_(id), procedure_(lifter.program[id]) {}

  /// A landing pad with another way into its load of gp, or kNone.
  BlockId find_fault() {
    for (BlockId b = 0; b < procedure_.blocks.size(); ++b)
      for (const Instruction& i : procedure_.blocks[b].instructions)
        if (const BlockId pad = pad_of_load(i); pad != kNone) loads_.push_back({pad, b});
    if (loads_.empty()) return kNone;
    find_predecessors();
    owner_.assign(procedure_.blocks.size(), kNone);
    for (const Load& load : loads_)
      if (!reached_through_pad(load) || !reached_behind_calls(load.pad)) return load.pad;
    return kNone;
  }

 private:
  struct Load {
    BlockId pad, block;
  };
  struct Way {
    BlockId from;
    Edge::Kind kind;
  };

  /// The landing pad from whose address the instruction computes gp, or kNone.
  BlockId pad_of_load(const Instruction& i) const {
    if (!i.has_reference() || !machine_.fixups.is_upper_half(i)) return kNone;
    const Reference& reference = *reference_of(procedure_, i);
    const CodeLocation& to = reference.target;
    const bool pad = reference.kind == ReferenceKind::gp_load_high && to.procedure == id_ &&
                     to.where == CodeLocation::Where::block_start &&
                     procedure_.blocks[to.block].has(BasicBlock::kLandingPad);
    return pad ? to.block : kNone;
  }

  void find_predecessors() {
    const auto for_each_way = [&](auto f) {
      for (BlockId b = 0; b < procedure_.blocks.size(); ++b)
        for (const Edge& edge : procedure_.blocks[b].successors)
          if (edge.kind != Edge::Kind::landing_pad) f(edge.target, Way{b, edge.kind});
    };
    first_.assign(procedure_.blocks.size() + 1, 0);
    for_each_way([&](BlockId to, const Way&) { ++first_[to + 1]; });
    for (size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
    ways_.resize(first_.back());
    std::vector<uint32_t> next = first_;
    for_each_way([&](BlockId to, const Way& way) { ways_[next[to]++] = way; });
  }

  std::span<const Way> ways_into(BlockId block) const {
    return std::span(ways_).subspan(first_[block], first_[block + 1] - first_[block]);
  }

  bool entered_from_outside(BlockId block) const {
    const BasicBlock& b = procedure_.blocks[block];
    return block == 0 || b.has(BasicBlock::kEntry) || b.has(BasicBlock::kAddressTaken) ||
           b.has(BasicBlock::kLandingPad);
  }

  bool calls(BlockId block) const {
    return is_call(machine_.facts(procedure_.blocks[block].instructions.back()).flow);
  }

  /// Whether a block has only no-ops and branches.
  bool is_padding(BlockId block) const {
    for (const Instruction& i : procedure_.blocks[block].instructions)
      if (!i.is_pseudo() && !machine_.facts(i).nop &&
          (machine_.facts(i).flow != ControlFlow::branch || i.has_reference()))
        return false;
    return true;
  }

  /// Whether all ways into the load start at its pad.
  bool reached_through_pad(const Load& load) {
    std::vector<BlockId> due = {load.block};
    while (!due.empty()) {
      const BlockId block = due.back();
      due.pop_back();
      if (block == load.pad || owner_[block] == load.pad) continue;
      if (owner_[block] != kNone || entered_from_outside(block)) return false;
      owner_[block] = load.pad;
      for (const Way& way : ways_into(block)) {
        if (calls(way.from)) return false;
        due.push_back(way.from);
      }
    }
    return true;
  }

  /// Whether all ways into a landing pad start after calls that do not return.
  bool reached_behind_calls(BlockId pad) {
    if (owner_[pad] == pad) return true;
    if (owner_[pad] != kNone) return false;
    owner_[pad] = pad;
    std::vector<BlockId> due = {pad};
    while (!due.empty()) {
      const BlockId block = due.back();
      due.pop_back();
      for (const Way& way : ways_into(block)) {
        if (calls(way.from) && way.kind == Edge::Kind::fall_through) continue;
        if (!is_padding(way.from) || entered_from_outside(way.from)) return false;
        if (owner_[way.from] == pad) continue;
        if (owner_[way.from] != kNone) return false;
        owner_[way.from] = pad;
        due.push_back(way.from);
      }
    }
    return true;
  }

  const Machine& machine_;
  const ProcedureId id_;
  const Procedure& procedure_;
  std::vector<Load> loads_;
  std::vector<uint32_t> first_;  // by block: index of its first way in ways_; plus an end
  std::vector<Way> ways_;        // by target
  std::vector<BlockId> owner_;   // by block: the pad to which it belongs
};

}  // namespace

void check_landing_pads(Lifter& lifter) {
  for (ProcedureId id = 0; id < lifter.program.procedures.size(); ++id) {
    Procedure& procedure = lifter.program[id];
    if (procedure.call_sites.empty()) continue;
    const BlockId pad = PadChecker(lifter, id).find_fault();
    if (pad == kNone) continue;
    lifter.make_opaque(procedure,
                       fmt::format("it may compute gp from the address of another landing pad "
                                   "at {:#x}",
                                   lifter.program.address_of(procedure.blocks[pad])));
  }
}

}  // namespace respike

// Separates hot blocks from cold blocks.
//
// Control may leave the hot part at any edge, but enters it only at the procedure's entries. So
// every hot block to which cold code leads has a second copy in the cold part, its clone. Cold code
// does not change: registers and frame hold the same values there as in the original, so an address
// may lead there. Hot code may change, so only entries of the procedure may be reached from
// outside:
//
// - a block whose address is taken, unless it is an entry, cannot be hot;
// - an entry of a jump table leads to one place. A table that belongs to one jump may be changed to
//   lead to hot blocks if no cold code leads to that jump; otherwise the jump is cold. Jumps
//   through tables that several jumps use, and by labels, must be cold, and so must their targets;
// - code that computes gp from a return address must be in the same part as the call, and only the
//   path from the call may lead there, since the distance between the two differs from copy to
//   copy. The same holds for landing pads, which compute gp from their own address;
// - a block that is glued to a hot block is hot.
//
// Example: entry E branches to H or to C, both lead to R. C is cold. E, H and R are hot; C leads to
// R, so R has a clone: hot E -> H -> R; cold C -> R'; a stub on the edge E -> C.
//
// Landing pads. Calls of both parts may have a landing pad in either part; the call's table says
// where. A hot call may have a cold pad, and a clone of a call has the clone of a hot pad. But
// control also seems to fall into pads, after calls that throw (lift/pads.cc). A clone of a pad to
// which only such a fall-through leads would be in no table, so it would be no pad, and the source
// of its gp would be unknown. Such a pad is cold, with the padding before it and a call to which it
// is glued:
//
//     hot:    jsr ra, (t12)        throws; the table says: pad
//             br  padding          never taken
//     cold:   padding: unop
//             pad: ldah gp, 2(ra)
//
// Nothing may come between such a call, the padding and the pad, see pad_behind().

#include "optimizer/transform/hotcold/region.h"

#include <algorithm>
#include <functional>

#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

uint64_t entered(const Program& program, ProcedureId id, const CallGraph& calls) {
  uint64_t sum = 0;
  for (const BlockId entry : calls.entries_of(id)) sum += program[id].blocks[entry].count;
  return sum;
}

/// By block: whether the blocks `from` reach it along edges to blocks that `passes` accepts.
std::vector<bool> reached_from(const Procedure& procedure, std::vector<BlockId> from,
                               const std::function<bool(BlockId)>& passes) {
  std::vector<bool> seen(procedure.blocks.size());
  const auto visit = [&](BlockId block) {
    if (seen[block] || !passes(block)) return false;
    return static_cast<bool>(seen[block] = true);
  };
  std::erase_if(from, [&](BlockId block) { return !visit(block); });
  while (!from.empty()) {
    const BlockId block = from.back();
    from.pop_back();
    for (const Edge& edge : procedure.blocks[block].successors)
      if (visit(edge.target)) from.push_back(edge.target);
  }
  return seen;
}

/// Calls f(block, anchor) for each block with a reference to an anchor: the return point of a call
/// of the procedure, or the start of a landing pad, whose address is in the same register.
template <typename F>
void for_each_anchor(const Procedure& procedure, ProcedureId id, F f) {
  for (BlockId b = 0; b < procedure.blocks.size(); ++b)
    for (const Instruction& i : procedure.blocks[b].instructions) {
      const Reference* reference = reference_of(procedure, i);
      if (reference == nullptr) continue;
      const CodeLocation& to = reference->target;
      if (to.procedure != id) continue;
      if (to.where == CodeLocation::Where::return_point ||
          (to.where == CodeLocation::Where::block_start &&
           procedure.blocks[to.block].has(BasicBlock::kLandingPad)))
        f(b, to);
    }
}

/// Knows which blocks must be in one part because one of them computes gp from an address (the
/// anchor) that the other gives it.
class GpAnchors {
 public:
  GpAnchors(const Machine& machine, const Procedure& procedure, ProcedureId id)
      : machine_(machine), procedure_(procedure), sole_(procedure.blocks.size(), kNone) {
    find_sole_predecessors();
    for_each_anchor(procedure, id, [&](BlockId block, const CodeLocation& anchor) {
      anchors_.push_back({anchor.block, block, first_on_way(block, anchor)});
    });
  }

  /// Calls add(block) for blocks that have to be hot because their anchor is hot.
  template <typename F>
  void add_to_hot(const std::vector<bool>& hot, F add) const {
    for (const Anchor& anchor : anchors_)
      if (hot[anchor.block]) for_each_on_way(anchor, add);
  }

  /// Calls add(block) for anchors that cannot be hot because a block on the path to the load is
  /// not.
  template <typename F>
  void add_to_cold(const std::vector<bool>& wanted, F add) const {
    for (const Anchor& anchor : anchors_)
      for_each_on_way(anchor, [&](BlockId block) {
        if (!wanted[block]) add(anchor.block);
      });
  }

  /// Whether hot code computes gp at a place to which a path from elsewhere than the anchor leads.
  bool are_far(const std::vector<bool>& hot) const {
    return std::ranges::any_of(anchors_, [&](const Anchor& anchor) {
      return anchor.first == kNone && (hot[anchor.block] || hot[anchor.load]);
    });
  }

 private:
  struct Anchor {
    BlockId block, load;
    BlockId first;  // first block on the only path to the load; kNone: there are other paths
  };

  template <typename F>
  void for_each_on_way(const Anchor& anchor, F f) const {
    BlockId block = anchor.load;
    f(block);
    while (anchor.first != kNone && block != anchor.first) f(block = sole_[block]);
  }

  void find_sole_predecessors() {
    std::vector<uint32_t> ways(sole_.size());
    for (BlockId b = 0; b < sole_.size(); ++b)
      for (const Edge& edge : procedure_.blocks[b].successors)
        if (++ways[edge.target] == 1) sole_[edge.target] = b;
    for (BlockId b = 0; b < sole_.size(); ++b) {
      const BasicBlock& block = procedure_.blocks[b];
      if (b == 0 || ways[b] != 1 || block.has(BasicBlock::kEntry) ||
          block.has(BasicBlock::kAddressTaken) || block.has(BasicBlock::kLandingPad))
        sole_[b] = kNone;
    }
  }

  /// Anchor::first. Many calls may lead to a landing pad, but only one call to its return point.
  BlockId first_on_way(BlockId load, const CodeLocation& anchor) const {
    constexpr int kLongest = 64;  // blocks
    const bool pad = anchor.where == CodeLocation::Where::block_start;
    const Edge* behind = procedure_.blocks[anchor.block].edge(Edge::Kind::fall_through);
    if (!pad && (behind == nullptr || sole_[behind->target] != anchor.block)) return kNone;
    const BlockId first = pad ? anchor.block : behind->target;
    for (int steps = 0; load != first; load = sole_[load])
      if (steps++ == kLongest || sole_[load] == kNone || calls(sole_[load])) return kNone;
    return first;
  }

  bool calls(BlockId block) const {
    return is_call(machine_.facts(procedure_.blocks[block].instructions.back()).flow);
  }

  const Machine& machine_;
  const Procedure& procedure_;
  std::vector<BlockId> sole_;  // per block: its only predecessor, or kNone
  std::vector<Anchor> anchors_;
};

/// Per block: whether it jumps through tables that belong only to its jump.
std::vector<bool> jump_by_own_tables(const Procedure& procedure) {
  std::vector<bool> own(procedure.blocks.size());
  for (const JumpTable& table : procedure.jump_tables)
    if (table.jump != kNone) own[table.jump] = true;
  return own;
}

/// Makes blocks hot that must be in the same part as hot blocks.
void close(const Procedure& procedure, const GpAnchors& anchors, std::vector<bool>& hot) {
  for (bool changed = true; changed;) {
    changed = false;
    const auto add = [&](BlockId block) {
      changed |= !hot[block];
      hot[block] = true;
    };
    for (BlockId b = 0; b < procedure.blocks.size(); ++b)
      if (hot[b] && procedure.blocks[b].has(BasicBlock::kGluedToNext))
        add(procedure.blocks[b].edge(Edge::Kind::fall_through)->target);
    anchors.add_to_hot(hot, add);
  }
}

/// Makes blocks cold that must be in the same part as cold blocks.
void close_cold(const Procedure& procedure, const GpAnchors& anchors, std::vector<bool>& wanted) {
  for (bool changed = true; changed;) {
    changed = false;
    const auto add = [&](BlockId block) {
      changed |= wanted[block];
      wanted[block] = false;
    };
    for (BlockId b = 0; b < procedure.blocks.size(); ++b)
      if (procedure.blocks[b].has(BasicBlock::kGluedToNext) &&
          !wanted[procedure.blocks[b].edge(Edge::Kind::fall_through)->target])
        add(b);
    anchors.add_to_cold(wanted, add);
  }
}

/// Computes how often clones will run: flow that leaves the hot part, or enters cold code from
/// elsewhere, spreads over clones along the edges, in a few rounds.
void find_cold_runs(const Procedure& procedure, Region& region) {
  constexpr int kRounds = 8;
  region.cold_runs.assign(procedure.blocks.size(), 0);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<uint64_t> in(procedure.blocks.size());
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      const BasicBlock& block = procedure.blocks[b];
      for (const Edge& edge : block.successors)
        in[edge.target] +=
            region.is_hot[b] ? share_of(edge.count, region.cold_runs[b], block.count) : edge.count;
    }
    for (const BlockId b : region.hot)
      if (region.is_cloned[b]) region.cold_runs[b] = std::min(in[b], procedure.blocks[b].count);
  }
}

/// Finds the hot blocks among the wanted blocks, and the hot blocks to which cold code leads. False
/// if nothing is cold.
bool divide(const Program& program, ProcedureId id, const CallGraph& calls,
            const AddressTaken& taken, const std::vector<bool>& wanted, Region& region) {
  const Procedure& procedure = program[id];
  const auto entries = calls.entries_of(id);
  region.is_hot = reached_from(procedure, {entries.begin(), entries.end()},
                               [&](BlockId b) { return wanted[b]; });
  std::vector<BlockId> cold;  // where cold code begins
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    if (region.is_hot[b]) {
      for (const Edge& edge : procedure.blocks[b].successors)
        if (!region.is_hot[edge.target]) cold.push_back(edge.target);
    } else if (std::binary_search(entries.begin(), entries.end(), b) || taken.contains(id, b) ||
               procedure.blocks[b].has(BasicBlock::kLandingPad)) {
      cold.push_back(b);
    }
  }
  region.is_cloned = reached_from(procedure, cold, [](BlockId) { return true; });
  for (BlockId b = 0; b < procedure.blocks.size(); ++b)
    if (!region.is_hot[b]) region.is_cloned[b] = false;
  return !cold.empty();
}

/// Unwants jumps through tables to which cold code leads, since a table leads to one part. Returns
/// whether there were any.
bool cool_cloned_jumps(const Procedure& procedure, const Region& region,
                       std::vector<bool>& wanted) {
  bool changed = false;
  for (const JumpTable& table : procedure.jump_tables) {
    if (table.jump == kNone || !region.is_cloned[table.jump]) continue;
    wanted[table.jump] = false;
    changed = true;
  }
  return changed;
}

/// Unwants landing pads that have a clone and into which control falls, and the padding before
/// them. Returns whether there were any.
bool cool_cloned_pads(const Program& program, const Region& region, std::vector<bool>& wanted) {
  const Procedure& procedure = program[region.procedure];
  bool changed = false;
  for (const BasicBlock& block : procedure.blocks)
    for (const Edge& edge : block.successors)
      if (edge.kind != Edge::Kind::landing_pad && region.is_cloned[edge.target] &&
          procedure.blocks[edge.target].has(BasicBlock::kLandingPad)) {
        wanted[edge.target] = false;
        changed = true;
      }
  for (BlockId b = 0; b < procedure.blocks.size() && changed; ++b)
    if (wanted[b]) {
      const BlockId pad = pad_behind(*program.machine, procedure, b);
      if (pad != kNone && !wanted[pad]) wanted[b] = false;
    }
  return changed;
}

/// Why the region is not possible, as a clause; empty if it is possible.
std::string obstacle(const Program& program, const Region& region, const CallGraph& calls,
                     const AddressTaken& taken, const GpAnchors& anchors) {
  const Procedure& procedure = program[region.procedure];
  const auto entries = calls.entries_of(region.procedure);
  for (const BlockId b : region.hot) {
    if (!std::binary_search(entries.begin(), entries.end(), b) &&
        taken.contains(region.procedure, b))
      return "the address of a hot block is taken";
    if (program.machine->is_signal_return(procedure.blocks[b].instructions.span()))
      return "it is known by its bytes";
  }
  std::string found;
  const std::vector<bool> own_tables = jump_by_own_tables(procedure);
  for (BlockId b = 0; b < procedure.blocks.size(); ++b)
    for (const Edge& edge : procedure.blocks[b].successors) {
      if (edge.kind == Edge::Kind::indirect && !own_tables[b] &&
          (region.is_hot[b] || region.is_hot[edge.target]))
        return "hot code uses a jump table that others may use";
      if (!region.is_hot[b] && region.is_cloned[edge.target] &&
          procedure.blocks[b].has(BasicBlock::kGluedToNext))
        return "a sequence that is not to be touched begins in the cold part";
    }
  if (anchors.are_far(region.is_hot))
    found = "gp is computed far from the place that it depends on";
  for (const auto& [from, to] : program.falls_into)
    if (from == region.procedure || to == region.procedure)
      found = "control runs into it or out of it";
  return found;
}

}  // namespace

uint64_t share_of(uint64_t count, uint64_t part, uint64_t whole) {
  if (whole == 0) return 0;
  return std::min(count, static_cast<uint64_t>(static_cast<long double>(count) * part / whole));
}

AddressTaken::AddressTaken(const Program& program) {
  const auto add = [&](const CodeLocation& location) {
    if (location.procedure != kNone) places_.emplace_back(location.procedure, location.block);
  };
  std::vector<bool> owned(program.code_pointers.size()), shared(program.code_pointers.size());
  for (const Procedure& procedure : program.procedures)
    for (const JumpTable& table : procedure.jump_tables) {
      const auto [first, last] = entries_of(program, table);
      for (size_t i = first; i < last; ++i) (table.jump != kNone ? owned : shared)[i] = true;
    }
  for (size_t i = 0; i < program.code_pointers.size(); ++i)
    if (!owned[i] || shared[i]) add(program.code_pointers[i].target);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    for (const Reference& reference : program[id].references) {
      const ReferenceKind kind = reference.kind;
      const bool own_anchor =
          reference.target.procedure == id &&
          (kind == ReferenceKind::gp_load_high || kind == ReferenceKind::gp_load_low);
      if (kind != ReferenceKind::branch && kind != ReferenceKind::branch_hint && !own_anchor)
        add(reference.target);
    }
  std::sort(places_.begin(), places_.end());
}

bool AddressTaken::contains(ProcedureId procedure, BlockId block) const {
  return std::binary_search(places_.begin(), places_.end(), std::pair(procedure, block));
}

BlockId pad_behind(const Machine& machine, const Procedure& procedure, BlockId block) {
  constexpr int kLongest = 64;  // blocks of padding
  for (int steps = 0; steps < kLongest; ++steps) {
    const BasicBlock& b = procedure.blocks[block];
    if (b.has(BasicBlock::kLandingPad)) return block;
    const bool padding = std::ranges::all_of(b.instructions, [&](const Instruction& i) {
      return i.is_pseudo() || machine.facts(i).nop ||
             (machine.facts(i).flow == ControlFlow::branch && !i.has_reference());
    });
    if (!padding || b.successors.size() != 1) return kNone;
    block = b.successors.front().target;
  }
  return kNone;
}

std::vector<bool> frequent_blocks(const Program& program, ProcedureId id, const CallGraph& calls,
                                  double share) {
  const double least = std::max(1.0, share * static_cast<double>(entered(program, id, calls)));
  std::vector<bool> frequent;
  for (const BasicBlock& block : program[id].blocks)
    frequent.push_back(static_cast<double>(block.count) >= least);
  return frequent;
}

std::variant<Region, NoRegion> find_region(const Program& program, ProcedureId id,
                                           const CallGraph& calls, const AddressTaken& taken,
                                           std::vector<bool> wanted) {
  constexpr size_t kLongest = 30'000;  // instructions; the optimizations are quadratic
  const Procedure& procedure = program[id];
  size_t length = 0;
  for (const BasicBlock& block : procedure.blocks) length += block.instructions.size();
  if (length > kLongest) return NoRegion{true, "it is too long"};
  Region region;
  region.procedure = id;
  // Entries are hot in any case: calls lead to them, and a rarely used entry costs nothing.
  std::vector<BlockId> entries(calls.entries_of(id).begin(), calls.entries_of(id).end());
  for (const BlockId entry : entries) wanted[entry] = true;
  const GpAnchors anchors(*program.machine, procedure, id);
  close(procedure, anchors, wanted);
  if (!divide(program, id, calls, taken, wanted, region))
    return NoRegion{false, "all of it is hot"};
  for (;;) {
    const bool jumps = cool_cloned_jumps(procedure, region, wanted);
    if (!jumps && !cool_cloned_pads(program, region, wanted)) break;
    close_cold(procedure, anchors, wanted);
    if (std::ranges::any_of(entries, [&](BlockId entry) { return !wanted[entry]; }))
      return NoRegion{
          true, jumps ? "hot and cold code share a jump table" : "control runs into a landing pad"};
    divide(program, id, calls, taken, wanted, region);
  }
  for (BlockId b = 0; b < procedure.blocks.size(); ++b)
    if (region.is_hot[b]) region.hot.push_back(b);
  if (std::string reason = obstacle(program, region, calls, taken, anchors); !reason.empty())
    return NoRegion{true, std::move(reason)};
  find_cold_runs(procedure, region);
  return region;
}

}  // namespace respike

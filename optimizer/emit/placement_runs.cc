// Placement: which blocks are packed together, and how large that makes them.
//
// Problem: where a group of the grid holds several instructions, a block that starts a group of its
// own leaves slots empty in the one before. Idea: only a block that something leads to needs an
// address of its own; one that control enters from the block before it alone, such as what follows
// a conditional branch, goes on in the same group. Blocks that are packed together are a run.
//
// Packing must not create dependences that the machine forbids within an instruction group. The
// input had the stops that its own order needs, so blocks are joined only where the input had them
// in this order, or where the second one depends on nothing. Unwind tables describe whole groups of
// one owner: blocks with other handlers or exception tables start a group.
//
// Runs have at most 16 blocks, so that finding one block's part of its run is cheap.

#include <algorithm>

#include "optimizer/emit/placement.h"

namespace respike {

void Placement::append_code(ProcedureId procedure, BlockId id,
                            std::vector<Instruction>& code) const {
  const size_t start = code.size();
  const auto list = program_[procedure].blocks[id].instructions.span();
  code.insert(code.end(), list.begin(), list.end());
  code.erase(std::remove_if(code.begin() + static_cast<ptrdiff_t>(start), code.end(),
                            [](const Instruction& i) { return i.is_pseudo(); }),
             code.end());
  const BlockEnd how = end(procedure, id);
  if (how == BlockEnd::branch_dropped) {
    code.pop_back();
    if (code.size() > start && target_.is_prefix(code.back())) code.pop_back();
  }
  if (how == BlockEnd::branch_appended) code.push_back(target_.branch());
  if (how == BlockEnd::padded) code.push_back(target_.stop());
}

void Placement::arrange_run(ProcedureId procedure, BlockId first, BlockRun& run) const {
  run.code.clear();
  run.blocks.clear();
  for (BlockId id = first; id != kNone; id = next_[first_[procedure] + id]) {
    run.blocks.emplace_back(id, run.code.size());
    append_code(procedure, id, run.code);
  }
  run.places.resize(run.code.size());
  run.size = target_.arrange(run.code, run.places.data());
}

void Placement::arrange(ProcedureId procedure, BlockId id, BlockRun& run) const {
  const uint32_t index = first_[procedure] + id;
  arrange_run(procedure, run_[index], run);
  if (run.blocks.size() == 1) return;
  size_t begin = 0, end = run.code.size();
  for (const auto& [block, first] : run.blocks) {
    if (block == id) begin = first;
    if (block == next_[index]) end = first;
  }
  const uint32_t base = begin == 0                  ? 0
                        : begin < run.places.size() ? run.places[begin]
                                                    : static_cast<uint32_t>(run.size);
  run.code.assign(run.code.begin() + static_cast<ptrdiff_t>(begin),
                  run.code.begin() + static_cast<ptrdiff_t>(end));
  run.places.assign(run.places.begin() + static_cast<ptrdiff_t>(begin),
                    run.places.begin() + static_cast<ptrdiff_t>(end));
  for (uint32_t& place : run.places) place -= base;
  run.size = sizes_[index];
  run.blocks.assign({{id, 0}});
}

/// A block that is only entered from the one before need not start a group, where a group holds
/// several instructions.
void Placement::find_joinable() {
  joinable_.assign(run_.size(), false);
  if (target_.grid().slots == 1) return;
  std::vector<uint32_t> entries;  // of the blocks of a procedure
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
    const Procedure& procedure = program_[id];
    entries.assign(procedure.blocks.size(), 0);
    for (const BasicBlock& block : procedure.blocks)
      for (const Edge& edge : block.successors)
        entries[edge.target] += edge.kind == Edge::Kind::fall_through ? 1 : 2;
    for (const Reference& reference : procedure.references)
      if (reference.target.procedure == id) entries[reference.target.block] += 2;
    for (const uint32_t symbol : procedure.symbols)
      if (const auto named = block_at(program_, program_.image->symbols[symbol].value))
        if (named->procedure == id) entries[named->block] += 2;
    constexpr unsigned kNamed =
        BasicBlock::kAddressTaken | BasicBlock::kLandingPad | BasicBlock::kEntry;
    for (BlockId block = 1; block < entries.size(); ++block)
      joinable_[first_[id] + block] =
          entries[block] == 1 && (procedure.blocks[block].flags & kNamed) == 0;
  }
}

/// Between the two there is no stop but those that the input has: it must have had them in this
/// order, or the second one must depend on nothing.
bool Placement::may_join(const Procedure& procedure, BlockId id, BlockId next, BlockEnd end) const {
  const BasicBlock& block = procedure.blocks[id];
  const BasicBlock& follower = procedure.blocks[next];
  const Edge* fall = block.edge(Edge::Kind::fall_through);
  if (end != BlockEnd::kept || fall == nullptr || fall->target != next ||
      is_call(target_.control_flow(block.instructions.back())))
    return false;
  // Unwind tables describe whole groups, which have one CIE and one LSDA.
  uint32_t state = block.cfi_state;
  for (const Instruction& instruction : block.instructions)
    if (instruction.is_pseudo()) state = static_cast<uint32_t>(instruction.immediate);
  const auto cie_of = [&](uint32_t s) {
    return s < program_.unwind.states.size() ? program_.unwind.states[s].cie : kNone;
  };
  const auto lsda_of = [&](const BasicBlock& b) {
    return b.call_site == kNone ? kNone : procedure.call_sites[b.call_site].lsda;
  };
  if (cie_of(state) != cie_of(follower.cfi_state) || lsda_of(block) != lsda_of(follower))
    return false;
  const Instruction& first = follower.instructions.front();
  const bool independent = follower.instructions.size() == 1 && !first.is_pseudo() &&
                           target_.control_flow(first) == ControlFlow::branch;
  return independent ||
         (block.origin != kNone && follower.origin == block.origin + block.origin_size);
}

bool Placement::continues(ProcedureId id, BlockId block_id, BlockId next) const {
  const BasicBlock& block = program_[id].blocks[block_id];
  const BasicBlock& follower = program_[id].blocks[next];
  const Edge* fall = block.edge(Edge::Kind::fall_through);
  return end(id, block_id) == BlockEnd::kept && fall != nullptr && fall->target == next &&
         block.origin != kNone && follower.origin == block.origin + block.origin_size;
}

/// Finds the runs of a layout whose ends are chosen, and with them the sizes.
void Placement::join_blocks(const Layout& layout) {
  constexpr size_t kLongest = 16;  // blocks of a run
  BlockRun run;
  for (const Layout::Fragment& fragment : layout.fragments) {
    const Procedure& procedure = program_[fragment.procedure];
    const uint32_t first = first_[fragment.procedure];
    size_t length = 0;
    for (size_t i = 0; i < fragment.blocks.size(); ++i) {
      const BlockId id = fragment.blocks[i];
      next_[first + id] = kNone;
      const bool joins =
          i != 0 && length < kLongest && joinable_[first + id] &&
          may_join(procedure, fragment.blocks[i - 1], id, ends_[first + fragment.blocks[i - 1]]);
      length = joins ? length + 1 : 1;
      run_[first + id] = joins ? run_[first + fragment.blocks[i - 1]] : id;
      if (joins) next_[first + fragment.blocks[i - 1]] = id;
    }
    for (const BlockId head : fragment.blocks) {
      if (run_[first + head] != head) continue;
      const BlockEnd how = ends_[first + head];
      if (next_[first + head] == kNone && (how == BlockEnd::kept || how == BlockEnd::inverted)) {
        const auto code = procedure.blocks[head].instructions.span();
        sizes_[first + head] = static_cast<uint32_t>(target_.size(code));
        continue;
      }
      arrange_run(fragment.procedure, head, run);
      for (size_t i = 0; i < run.blocks.size(); ++i) {
        const auto start = [&](size_t block) {
          if (block == 0) return 0u;  // its first instruction may stand in a later slot
          const size_t index = block < run.blocks.size() ? run.blocks[block].second : SIZE_MAX;
          return index < run.places.size() ? run.places[index] : static_cast<uint32_t>(run.size);
        };
        sizes_[first + run.blocks[i].first] = start(i + 1) - start(i);
      }
    }
  }
}

}  // namespace respike

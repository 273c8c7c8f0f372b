// Orders without a profile.
//
// Random layouts move everything that can be moved, so anything that the rewriter forgets to adjust
// breaks under some seed. The generator and the shuffle are Respike's own, so a seed means the same
// layout on every machine.
//
// Example: blocks 0, 1, 2 of f and 0, 1 of g may become g1, f2, f0, g0, f1; blocks that are glued
// stay together.

#include "optimizer/layout/orders.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/base/random.h"
#include "optimizer/layout/glued_runs.h"

namespace respike {
namespace {

constexpr uint32_t kProcedureAlignment = 16;
constexpr uint64_t kWindow = uint64_t{5} << 19;  // 2.5 MB of text that random layouts mix

/// Fragments in random order within windows of the text, and the windows in random order: mixing
/// all of a very large text would make nearly every branch a far one.
class Windows {
 public:
  explicit Windows(uint64_t seed) : random_(seed), windows_(1) {}
  SplitMix64& random() { return random_; }

  void add(ProcedureId procedure, uint64_t size, std::vector<std::vector<BlockId>> fragments) {
    for (auto& blocks : fragments)
      windows_.back().push_back({.procedure = procedure, .blocks = std::move(blocks)});
    size_ += size;
    if (size_ < kWindow) return;
    windows_.emplace_back();
    size_ = 0;
  }

  Layout layout() && {
    random_.shuffle(windows_.begin(), windows_.end());
    Layout layout;
    for (auto& window : windows_) {
      random_.shuffle(window.begin(), window.end());
      std::move(window.begin(), window.end(), std::back_inserter(layout.fragments));
    }
    return layout;
  }

 private:
  SplitMix64 random_;
  std::vector<std::vector<Layout::Fragment>> windows_;
  uint64_t size_ = 0;
};

void append(std::vector<BlockId>& blocks, const std::vector<BlockId>& run) {
  blocks.insert(blocks.end(), run.begin(), run.end());
}

/// The block that is glued to a block, or kNone.
BlockId glued_to(const Procedure& procedure, BlockId block) {
  if (!procedure.blocks[block].has(BasicBlock::kGluedToNext)) return kNone;
  for (const Edge& edge : procedure.blocks[block].successors)
    if (edge.kind == Edge::Kind::fall_through) return edge.target;
  return kNone;
}

}  // namespace

std::vector<BlockId> blocks_of(const Procedure& procedure, const CodeRange& range) {
  std::vector<BlockId> blocks;
  for (BlockId id = range.first_block; id < range.end_block; ++id) {
    blocks.push_back(id);
    for (const Edge& edge : procedure.blocks[id].successors)
      if (edge.kind == Edge::Kind::fall_through && procedure.blocks[edge.target].origin == kNone)
        blocks.push_back(edge.target);
  }
  return blocks;
}

Layout original_layout(const Program& program) {
  Layout layout;
  // One fragment per range of the input, in address order, so that split procedures stay split.
  // A run that is glued to the end of a range moves there from its own range.
  std::set<std::pair<ProcedureId, BlockId>> moved;
  const auto glued_behind = [](const Procedure& procedure, std::span<const BlockId> blocks) {
    std::vector<BlockId> glued;
    if (!blocks.empty())
      for (BlockId next = glued_to(procedure, blocks.back()); next != kNone;
           next = glued_to(procedure, next))
        glued.push_back(next);
    return glued;
  };
  for (const CodeRange& range : program.ranges)
    for (const BlockId block :
         glued_behind(program[range.procedure], blocks_of(program[range.procedure], range)))
      moved.emplace(range.procedure, block);
  for (const CodeRange& range : program.ranges) {
    const Procedure& procedure = program[range.procedure];
    if (!procedure.movable()) continue;
    auto blocks = blocks_of(procedure, range);
    if (!moved.empty())
      std::erase_if(blocks, [&](BlockId b) { return moved.contains({range.procedure, b}); });
    append(blocks, glued_behind(procedure, blocks));
    if (!blocks.empty())
      layout.fragments.push_back(
          {.procedure = range.procedure,
           .blocks = std::move(blocks),
           .start = {.alignment =
                         range.start % kProcedureAlignment == 0 ? kProcedureAlignment : 4}});
  }
  return layout;
}

Layout random_layout(const Program& program, uint64_t seed) {
  Windows windows(seed);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    if (!program[id].movable()) continue;
    auto runs = glued_runs(program[id]);
    windows.random().shuffle(runs.begin(), runs.end());
    const size_t pieces = std::min<size_t>(runs.size(), 1 + windows.random().below(3));
    std::vector<std::vector<BlockId>> fragments(pieces);
    for (size_t i = 0; i < runs.size(); ++i) append(fragments[i * pieces / runs.size()], runs[i]);
    windows.add(id, program[id].size, std::move(fragments));
  }
  return std::move(windows).layout();
}

Layout scattered_layout(const Program& program, uint64_t seed) {
  Windows windows(seed);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    if (program[id].movable()) windows.add(id, program[id].size, glued_runs(program[id]));
  return std::move(windows).layout();
}

}  // namespace respike

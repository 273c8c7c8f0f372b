// Orders without a profile.
//
// Random layouts move everything that can be moved: whatever the rewriter forgets to adjust breaks
// under some seed. The generator and the shuffle are our own, so that a seed means the same layout
// on every machine.

#include "optimizer/layout/orders.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace respike {
namespace {

constexpr uint32_t kProcedureAlignment = 16;
constexpr uint64_t kWindow = uint64_t{2} << 20;  // bytes of text that scattered_layout() mixes

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 .. limit - 1. The bias of the remainder is below limit / 2^64.
  size_t below(size_t limit) { return static_cast<size_t>(next() % limit); }

  template <typename Iterator>
  void shuffle(Iterator first, Iterator last) {
    for (auto left = last - first; left > 1; --left)
      std::swap(first[left - 1], first[below(static_cast<size_t>(left))]);
  }

 private:
  uint64_t state_;
};

/// The blocks of a procedure as runs that must stay together, in input order.
std::vector<std::vector<BlockId>> glued_runs(const Procedure& procedure) {
  std::vector<bool> follows(procedure.blocks.size());
  std::vector<BlockId> next(procedure.blocks.size(), kNone);
  for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
    const BasicBlock& block = procedure.blocks[id];
    if (!block.has(BasicBlock::kGluedToNext)) continue;
    for (const Edge& edge : block.successors)
      if (edge.kind == Edge::Kind::fall_through) {
        next[id] = edge.target;
        follows[edge.target] = true;
      }
  }
  std::vector<std::vector<BlockId>> runs;
  for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
    if (follows[id]) continue;
    auto& run = runs.emplace_back();
    for (BlockId at = id; at != kNone; at = next[at]) run.push_back(at);
  }
  return runs;
}

void append(std::vector<BlockId>& blocks, const std::vector<BlockId>& run) {
  blocks.insert(blocks.end(), run.begin(), run.end());
}

/// Blocks by their place in the input; those that the lifter added follow the block they continue.
std::vector<BlockId> input_order(const Procedure& procedure) {
  std::vector<BlockId> order;
  std::vector<BlockId> continued_by(procedure.blocks.size(), kNone);
  for (const BasicBlock& block : procedure.blocks)
    for (const Edge& edge : block.successors)
      if (edge.kind == Edge::Kind::fall_through &&
          procedure.blocks[edge.target].origin == kNone)
        continued_by[static_cast<BlockId>(&block - procedure.blocks.data())] = edge.target;
  for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
    if (procedure.blocks[id].origin == kNone) continue;
    order.push_back(id);
    if (continued_by[id] != kNone) order.push_back(continued_by[id]);
  }
  return order;
}

}  // namespace

Layout original_layout(const Program& program) {
  Layout layout;
  // One fragment per range of the input, in address order, so that split procedures stay split.
  std::vector<std::pair<uint64_t, Layout::Fragment>> fragments;
  std::vector<std::vector<const CodeRange*>> ranges(program.procedures.size());
  for (const CodeRange& range : program.ranges) ranges[range.procedure].push_back(&range);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const Procedure& procedure = program[id];
    if (!procedure.movable()) continue;
    const auto order = input_order(procedure);
    for (const CodeRange* range : ranges[id]) {
      Layout::Fragment fragment{.procedure = id, .blocks = {}, .alignment = kProcedureAlignment};
      bool inside = false;
      for (BlockId block : order) {
        if (procedure.blocks[block].origin != kNone)
          inside = block >= range->first_block && block < range->end_block;
        if (inside) fragment.blocks.push_back(block);
      }
      if (!fragment.blocks.empty()) fragments.emplace_back(range->start, std::move(fragment));
    }
  }
  std::sort(fragments.begin(), fragments.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [start, fragment] : fragments) layout.fragments.push_back(std::move(fragment));
  return layout;
}

Layout random_layout(const Program& program, uint64_t seed) {
  Random random(seed);
  Layout layout;
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    if (!program[id].movable()) continue;
    auto runs = glued_runs(program[id]);
    random.shuffle(runs.begin(), runs.end());
    const size_t pieces = std::min<size_t>(runs.size(), 1 + random.below(3));
    const size_t first = layout.fragments.size();
    for (size_t i = 0; i < pieces; ++i)
      layout.fragments.push_back({.procedure = id, .blocks = {}, .alignment = 4});
    for (size_t i = 0; i < runs.size(); ++i)
      append(layout.fragments[first + i * pieces / runs.size()].blocks, runs[i]);
  }
  random.shuffle(layout.fragments.begin(), layout.fragments.end());
  return layout;
}

Layout scattered_layout(const Program& program, uint64_t seed) {
  Random random(seed);
  Layout layout;
  size_t window_start = 0;
  uint64_t window_size = 0;
  const auto close_window = [&] {
    random.shuffle(layout.fragments.begin() + static_cast<ptrdiff_t>(window_start),
                   layout.fragments.end());
    window_start = layout.fragments.size();
    window_size = 0;
  };
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    if (!program[id].movable()) continue;
    for (auto& run : glued_runs(program[id]))
      layout.fragments.push_back({.procedure = id, .blocks = std::move(run), .alignment = 4});
    window_size += program[id].size;
    if (window_size >= kWindow) close_window();
  }
  close_window();
  return layout;
}

}  // namespace respike

// Finds natural loops by back edges.
//
// Headers are taken from the bottom of the dominator tree up, so inner loops come first. A walk
// backwards from the latches finds the blocks of a loop. If the walk meets a known loop, it skips
// to the outermost loop around that loop, and goes on before the header of the outermost loop.
//
// Other repetition is found by leaving out back edges: the remaining cycles have no header that
// dominates them. Example: an entry that branches to 1 and to 2, with edges 1 -> 2 and 2 -> 1.
//
// Source: Aho, Sethi, Ullman: Compilers, section 10.4; the skipping is from LLVM's LoopInfo.

#include "optimizer/analysis/loops.h"

#include <algorithm>
#include <utility>

namespace respike {
namespace {

class LoopFinder {
 public:
  LoopFinder(const BlockGraph& graph, const Dominators& dominators)
      : graph_(graph), dominators_(dominators) {
    result_.innermost.assign(graph.successors.size(), kNoLoop);
    result_.irreducible.assign(graph.successors.size(), false);
  }

  Loops run() {
    const auto& order = dominators_.top_down();
    for (auto header = order.rbegin(); header != order.rend(); ++header) add_loop(*header);
    auto& loops = result_.loops;
    for (size_t i = loops.size(); i-- > 0;)
      if (loops[i].parent != kNoLoop) loops[i].depth = loops[loops[i].parent].depth + 1;
    find_irreducible();
    return std::move(result_);
  }

 private:
  void add_loop(BlockId header) {
    Loop loop{.header = header, .parent = kNoLoop, .depth = 1, .latches = {}};
    for (const BlockId before : graph_.predecessors[header])
      if (dominators_.dominates(header, before)) loop.latches.push_back(before);
    if (loop.latches.empty()) return;
    std::sort(loop.latches.begin(), loop.latches.end());
    loop.latches.erase(std::unique(loop.latches.begin(), loop.latches.end()), loop.latches.end());
    const auto index = static_cast<uint32_t>(result_.loops.size());
    outermost_.push_back(index);
    std::vector<BlockId> work = loop.latches;
    result_.loops.push_back(std::move(loop));
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      BlockId top = block;
      uint32_t& innermost = result_.innermost[block];
      if (innermost == kNoLoop) {
        innermost = index;
      } else {
        const uint32_t known = outermost(innermost);
        if (known == index) continue;
        result_.loops[known].parent = index;
        outermost_[known] = index;
        top = result_.loops[known].header;
      }
      if (top == header) continue;
      for (const BlockId before : graph_.predecessors[top])
        if (dominators_.reachable(before)) work.push_back(before);
    }
    if (result_.innermost[header] == kNoLoop) result_.innermost[header] = index;
  }

  /// The outermost loop known so far around a loop.
  uint32_t outermost(uint32_t loop) {
    while (outermost_[loop] != loop) loop = outermost_[loop] = outermost_[outermost_[loop]];
    return loop;
  }

  /// Strongly connected components (Tarjan) of the reachable graph without back edges.
  void find_irreducible() {
    const size_t count = graph_.successors.size();
    std::vector<uint32_t> number(count, 0), low(count, 0);
    std::vector<bool> open(count);
    std::vector<BlockId> stack;
    std::vector<std::pair<BlockId, uint32_t>> path;
    uint32_t numbers = 0;
    const auto start = [&](BlockId block) {
      number[block] = low[block] = ++numbers;
      open[block] = true;
      stack.push_back(block);
      path.emplace_back(block, graph_.successors.first[block]);
    };
    for (const BlockId root : dominators_.top_down()) {
      if (number[root] != 0) continue;
      start(root);
      while (!path.empty()) {
        const BlockId block = path.back().first;
        if (path.back().second < graph_.successors.first[block + 1]) {
          const BlockId target = graph_.successors.targets[path.back().second++];
          if (dominators_.dominates(target, block)) continue;
          if (number[target] == 0)
            start(target);
          else if (open[target])
            low[block] = std::min(low[block], number[target]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[block]);
        if (low[block] != number[block]) continue;
        const bool cycle = stack.back() != block;
        BlockId member;
        do {
          member = stack.back();
          stack.pop_back();
          open[member] = false;
          result_.irreducible[member] = cycle;
        } while (member != block);
      }
    }
  }

  const BlockGraph& graph_;
  const Dominators& dominators_;
  Loops result_;
  std::vector<uint32_t> outermost_;  // per loop: a loop around it, or itself
};

}  // namespace

Loops find_loops(const BlockGraph& graph, const Dominators& dominators) {
  return LoopFinder(graph, dominators).run();
}

uint64_t loop_entries(const Procedure& procedure, const Loop& loop) {
  uint64_t repeats = 0;
  for (const BlockId latch : loop.latches)
    for (const Edge& edge : procedure.blocks[latch].successors)
      if (edge.target == loop.header) repeats += edge.count;
  const uint64_t runs = procedure.blocks[loop.header].count;
  return runs > repeats ? runs - repeats : 1;
}

}  // namespace respike

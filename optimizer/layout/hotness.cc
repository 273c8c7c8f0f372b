#include "optimizer/layout/hotness.h"

#include <algorithm>
#include <utility>

#include "optimizer/ir/target.h"

namespace respike {

uint64_t code_size(const Target& target, const BasicBlock& block) {
  uint64_t size = 0;
  for (const Instruction& instruction : block.instructions) size += target.size(instruction);
  return size;
}

uint64_t placed_size(const Target& target, const BasicBlock& block, BlockId next) {
  const uint64_t size = code_size(target, block);
  const Edge* fall = block.edge(Edge::Kind::fall_through);
  const Edge* taken = block.edge(Edge::Kind::taken);
  const uint64_t branch = target.size(target.branch());
  if (fall == nullptr) return taken != nullptr && taken->target == next ? size - branch : size;
  const bool goes_on = fall->target == next || (taken != nullptr && taken->target == next);
  return goes_on ? size : size + branch;
}

uint64_t hot_threshold(const Program& program, double share) {
  std::vector<std::pair<uint64_t, double>> blocks;  // count, bytes executed
  double all = 0;
  for (const Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    for (const BasicBlock& block : procedure.blocks) {
      if (block.count == 0) continue;
      blocks.emplace_back(block.count, static_cast<double>(block.count) *
                                           static_cast<double>(code_size(*program.target, block)));
      all += blocks.back().second;
    }
  }
  std::sort(blocks.begin(), blocks.end());
  double cold = 0;
  for (size_t i = 0; i < blocks.size();) {
    size_t next = i;
    double level = 0;
    for (; next < blocks.size() && blocks[next].first == blocks[i].first; ++next)
      level += blocks[next].second;
    if (cold + level > share * all) return blocks[i].first;
    cold += level;
    i = next;
  }
  return 1;
}

}  // namespace respike

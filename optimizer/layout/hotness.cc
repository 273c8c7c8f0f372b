// The hot threshold, from counts and sizes of blocks.
//
// All blocks of movable procedures that ran are sorted by count; blocks of equal count form a
// level. Levels become cold in ascending order, as long as the cold blocks together execute no more
// than the allowed share of all bytes, and further while the hot blocks are larger than the limit.
// The threshold is the count of the first level that stays hot. O(blocks log blocks).
//
// Example: blocks of 4 bytes run 1, 10 and 989 times, and the share is 0.02. The first two execute
// 44 of 4,000 bytes, 0.011 of all, so they are cold and the threshold is 989.

#include "optimizer/layout/hotness.h"

#include <algorithm>
#include <vector>

#include "optimizer/machine/machine.h"

namespace respike {

uint64_t code_size(const Machine& machine, const BasicBlock& block) {
  return machine.codec.size(block.instructions.span());
}

uint64_t hot_threshold(const Program& program, double share, uint64_t most) {
  struct Level {
    uint64_t count = 0;
    uint64_t bytes = 0;  // of the blocks with that count
    double executed() const { return static_cast<double>(count) * static_cast<double>(bytes); }
  };
  std::vector<Level> blocks, levels;
  for (const Procedure& procedure : program.procedures)
    if (procedure.movable())
      for (const BasicBlock& block : procedure.blocks)
        if (block.count != 0) blocks.push_back({block.count, code_size(*program.machine, block)});
  std::sort(blocks.begin(), blocks.end(),
            [](const Level& a, const Level& b) { return a.count < b.count; });
  double all = 0;
  uint64_t hot = 0;  // bytes
  for (const Level& block : blocks) {
    if (levels.empty() || levels.back().count != block.count) levels.push_back({block.count, 0});
    levels.back().bytes += block.bytes;
    all += block.executed();
    hot += block.bytes;
  }
  if (levels.empty()) return 1;
  double cold = 0;
  for (const Level& level : levels) {
    cold += level.executed();
    if ((cold > share * all || level.count == levels.back().count) && hot <= most)
      return level.count;
    hot -= level.bytes;
  }
  return levels.back().count + (levels.back().count != UINT64_MAX);
}

}  // namespace respike

// The counts say how often each block and edge runs, so what an order executes is a sum over
// blocks. Blocks have the sizes with which they are written, without dropped branches, with
// appended branches only on their side. In the input, blocks have the instructions that they had
// there, including no-ops.
//
// Example: a block of 5 instructions that runs 100 times ends in a conditional branch, 90 times to
// A and 10 times to B. If A follows, it executes 500 instructions and 10 taken branches; if neither
// follows, 510 instructions (a branch is appended for B) and 100 taken branches.
//
// Misses do not add up like that: a trace runs through a cache (cache_order.cc).
//
// Where a group holds several instructions, no-ops only fill it, and their number follows from the
// packing. They do not count there, and an added branch counts although it often replaces a no-op.
//
// Limits. Code that does not move, and code of other images, has no place in the cache.

#include "optimizer/layout/layout_cost.h"

#include <algorithm>
#include <limits>

#include "optimizer/ir/lookup.h"

namespace respike {
namespace {

constexpr uint64_t kMostLines = 4'000'000;  // of the trace; enough for the cost

double as_weight(const Edge* edge) {
  return edge == nullptr ? 0 : static_cast<double>(edge->count);
}

/// `in_input`: without branches that the lifter added where control falls into another procedure.
double count_instructions(const Machine& machine, const BasicBlock& block, bool in_input) {
  const bool counts_nops = machine.codec.groups.slots == 1;
  size_t number = 0;
  for (const Instruction& instruction : block.instructions)
    number += !instruction.is_pseudo() && (counts_nops || !machine.facts(instruction).nop) &&
              (!in_input || instruction.origin != kNone);
  return static_cast<double>(number);
}

std::pair<uint32_t, uint32_t> lines_of(uint64_t start, uint64_t size, uint32_t line) {
  if (size == 0) return {0, 0};
  return {static_cast<uint32_t>(start / line),
          static_cast<uint32_t>((start + size - 1) / line + 1)};
}

}  // namespace

std::vector<ExecutedCode> executed_in_input(const Program& program) {
  std::vector<ExecutedCode> result(program.procedures.size());
  for (ProcedureId id = 0; id < result.size(); ++id)
    for (const BasicBlock& block : program[id].blocks) {
      if (block.count == 0) continue;
      result[id].instructions +=
          static_cast<double>(block.count) * count_instructions(*program.machine, block, true);
      result[id].taken += as_weight(block.edge(Edge::Kind::taken));
    }
  return result;
}

ExecutedCode executed_in(const Program& program, ProcedureId id, const Packing& packing) {
  ExecutedCode result;
  for (BlockId b = 0; b < program[id].blocks.size(); ++b) {
    const BasicBlock& block = program[id].blocks[b];
    if (block.count == 0) continue;
    const BlockEnd end = packing.end(id, b);
    const bool dropped = end == BlockEnd::branch_dropped;
    result.instructions += static_cast<double>(block.count) *
                           (count_instructions(*program.machine, block, false) - (dropped ? 1 : 0));
    if (!dropped) result.taken += as_weight(block.edge(side_of_own_branch(end)));
    if (!appends_branch(end)) continue;
    const double appended = as_weight(block.edge(side_of_appended_branch(end)));
    result.instructions += appended;
    result.taken += appended;
  }
  return result;
}

LinesOfBlocks lines_in_input(const Program& program, uint32_t line) {
  LinesOfBlocks lines;
  for (const Procedure& procedure : program.procedures)
    for (const BasicBlock& block : procedure.blocks) {
      uint32_t origin = block.origin;
      uint64_t size = block.origin_size;
      if (origin == kNone) {
        for (const Instruction& instruction : block.instructions)
          origin = std::min(origin, instruction.origin);
        size = program.machine->codec.size(block.instructions.span());
      }
      lines.push_back(origin == kNone ? std::pair{0u, 0u} : lines_of(origin, size, line));
    }
  return lines;
}

LinesOfBlocks lines_in_layout(const Program& program, const Layout& layout, const Packing& packing,
                              uint32_t line) {
  const BlockNumbers numbers(program);
  LinesOfBlocks lines(numbers.count());
  uint64_t at = 0;
  for (const Layout::Fragment& fragment : layout.fragments) {
    at = fragment.start.from(at);
    for (const BlockId block : fragment.blocks) {
      const uint64_t size = packing.size(fragment.procedure, block);
      lines[numbers(fragment.procedure, block)] = lines_of(at, size, line);
      at += size;
    }
  }
  return lines;
}

double fetch_cost(const Trace& trace, const LinesOfBlocks& places, const CacheShape& cache) {
  // By set: the lines in it, the latest first.
  std::vector<uint32_t> held(size_t{cache.sets} * cache.ways, std::numeric_limits<uint32_t>::max());
  uint32_t from = 0, ahead = 0;  // half-open: the lines that the last miss prefetched
  double cycles = 0, blocks = 0;
  uint64_t lines = 0;
  for (const uint32_t block : trace) {
    if (block == kNone) continue;
    if (lines > kMostLines) break;
    lines += places[block].second - places[block].first;
    ++blocks;
    for (uint32_t line = places[block].first; line < places[block].second; ++line) {
      const auto set = held.begin() + ptrdiff_t{line % cache.sets} * cache.ways;
      if (*set == line) continue;
      const auto last = set + cache.ways - 1, found = std::find(set, last, line);
      const bool held_already = *found == line;
      std::rotate(set, found, found + 1);
      *set = line;
      if (held_already) continue;
      const bool prefetched = from <= line && line < ahead;
      cycles += prefetched ? cache.prefetched_miss : cache.miss;
      from = line + 1;
      ahead = from + cache.prefetched;
    }
  }
  return blocks == 0 ? 0 : cycles / blocks;
}

}  // namespace respike

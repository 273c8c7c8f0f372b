#pragma once
// Helpers for the tests of optimizer/analysis: random flow graphs, and programs from text.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/analysis/block_graph.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/machine/machines.h"

namespace respike {

using Random = std::mt19937_64;

/// A program with one procedure whose blocks have no instructions, for analyses of flow graphs.
struct GraphProgram {
  Program program;

  GraphProgram(size_t blocks, const std::vector<std::pair<BlockId, BlockId>>& edges,
               const std::vector<BlockId>& entries = {}) {
    Procedure& procedure = program.procedures.emplace_back();
    procedure.blocks.resize(blocks);
    for (const BlockId entry : entries) procedure.blocks[entry].flags |= BasicBlock::kEntry;
    for (const auto& [from, to] : edges)
      procedure.blocks[from].successors.push_back(*program.arena,
                                                  Edge{.target = to, .kind = Edge::Kind::taken});
  }
  const Procedure& procedure() const { return program.procedures.front(); }
  BlockGraph graph() const { return make_block_graph(procedure()); }
};

inline std::vector<std::pair<BlockId, BlockId>> random_edges(Random& random, size_t blocks,
                                                             size_t edges) {
  std::vector<std::pair<BlockId, BlockId>> result;
  for (size_t i = 0; i < edges; ++i) result.emplace_back(random() % blocks, random() % blocks);
  return result;
}

/// The blocks that paths from the entries reach without passing through `removed`.
inline std::vector<bool> reachable(const BlockGraph& graph, BlockId removed = kNone) {
  std::vector<bool> seen(graph.successors.size());
  std::vector<BlockId> work;
  const auto visit = [&](BlockId block) {
    if (block == removed || seen[block]) return;
    seen[block] = true;
    work.push_back(block);
  };
  for (const BlockId entry : graph.entries) visit(entry);
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId next : graph.successors[block]) visit(next);
  }
  return seen;
}

inline Program parse_alpha(const std::string& text) {
  return parse_program("program alpha\n" + text, alpha_machine());
}

/// Names, separated by blanks, in the order of numbers.
inline std::string names(const RegisterSet& set) {
  std::string result;
  set.for_each([&](Register r) {
    if (!result.empty()) result += ' ';
    result += alpha_machine().text.register_name(r);
  });
  return result;
}

/// The register of a name.
inline Register reg(std::string_view name) {
  for (Register r = 0; r < alpha_machine().register_count; ++r)
    if (alpha_machine().text.register_name(r) == name) return r;
  throw std::out_of_range(std::string(name));
}

}  // namespace respike

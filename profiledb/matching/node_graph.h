#pragma once
// A procedure of a profile as the graph of its nodes: what its signature hashes, with counts.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// Blocks that do nothing but go on are left out, as in the signature (docs/profiles.md). Nodes are
/// numbered as there: depth-first from the entry.
struct NodeGraph {
  struct Arc {
    uint32_t from = kNone, to = kNone;  // nodes
    BlockId block = kNone;              // that it leaves
    uint32_t edge = kNone;              // of the profile, that it leaves by
    uint64_t count = 0;
  };
  struct Node {
    BlockId first = kNone;  // of its blocks, in the order of execution
    BlockId last = kNone;
    uint32_t away = kNone;     // an edge of the profile that leads to no node: out of the procedure
    uint64_t in = 0, out = 0;  // counts of its arcs, summed
    uint32_t instructions = 0;  // of all its blocks
    uint64_t count = 0;
    bool calls = false;   // or leaves for another procedure
    uint64_t callee = 0;  // address; 0: not known, or no call
    NodeHash hash;
  };

  explicit NodeGraph(const ProcedureProfile& procedure);

  std::span<const Arc> successors(uint32_t node) const {
    return {arcs.data() + first_arc[node], arcs.data() + first_arc[node + 1]};
  }
  /// Indices of `arcs`.
  std::span<const uint32_t> predecessors(uint32_t node) const {
    return {into.data() + first_into[node], into.data() + first_into[node + 1]};
  }

  std::vector<Node> nodes;
  std::vector<Arc> arcs;  // by from
  std::vector<uint32_t> first_arc, into, first_into;
};

}  // namespace respike

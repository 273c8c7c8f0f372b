#pragma once
// A procedure of a profile as the graph of its nodes, which its signature hashes, with counts.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// Blocks that only jump to the next block have no node, as in the signature (docs/profiles.md).
/// Nodes are numbered depth-first from the entry, also as in the signature.
struct NodeGraph {
  struct Arc {
    uint32_t from = kNone, to = kNone;  // nodes
    BlockId block = kNone;              // the block that the arc leaves
    uint32_t edge = kNone;              // the edge of the profile by which the arc leaves it
    uint64_t count = 0;
  };
  struct Node {
    BlockId first = kNone;  // first block of the node, in the order of execution
    BlockId last = kNone;
    uint32_t away = kNone;     // an edge of the profile that leads to no node: out of the procedure
    uint64_t in = 0, out = 0;  // summed counts of the arcs to and from the node
    uint32_t instructions = 0;  // of all blocks of the node
    uint64_t count = 0;
    bool calls = false;   // the node ends with a call or a jump to another procedure
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
  std::vector<std::vector<uint32_t>> switches;  // by jump table: the nodes to which its words lead
};

}  // namespace respike

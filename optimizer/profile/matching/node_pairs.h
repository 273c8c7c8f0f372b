#pragma once
// Pairs the nodes of a procedure with those of the same procedure in an older build.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/profile/matching/node_graph.h"

namespace respike {

/// What the two nodes of a pair have in common.
enum class Likeness : uint8_t {
  none,
  placed,  // only the place in the graph
  kind,    // the same kind of code: the loose hash
  same,    // the same code: both hashes
};
double confidence_of(Likeness likeness);

struct NodePair {
  uint32_t before = kNone;  // node of the older build
  Likeness likeness = Likeness::none;
};

/// The pairs, indexed by node of `now`. `calls_*` give the callee by node, as a number that means
/// the same procedure in both builds; 0: unknown or no call.
std::vector<NodePair> pair_nodes(const NodeGraph& before, std::span<const uint32_t> calls_before,
                                 const NodeGraph& now, std::span<const uint32_t> calls_now);

/// The node pairs of procedures with the same signature, whose graphs are equal.
std::vector<NodePair> pair_same_nodes(const NodeGraph& before, const NodeGraph& now);

/// The share of nodes that two procedures have in common, by loose hashes and in any order: 0 to 1.
double likeness_of(const ProcedureProfile& before, const ProcedureProfile& now);

}  // namespace respike

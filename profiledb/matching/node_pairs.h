#pragma once
// Which nodes of a procedure are those of an older build of it.

#include <cstdint>
#include <span>
#include <vector>

#include "profiledb/matching/node_graph.h"

namespace respike {

/// How sure it is that a node is the same.
enum class Likeness : uint8_t {
  none,
  placed,  // it only stands where the other one stood
  kind,    // it does the same kind of things
  same,    // its code is the same
};
double confidence_of(Likeness likeness);

struct NodePair {
  uint32_t before = kNone;  // node of the older build
  Likeness likeness = Likeness::none;
};

/// By node of `now`. `calls` say by node what is called, in numbers that mean the same procedure
/// for both; 0 where that is not known.
std::vector<NodePair> pair_nodes(const NodeGraph& before, std::span<const uint32_t> calls_before,
                                 const NodeGraph& now, std::span<const uint32_t> calls_now);

/// Of procedures with the same signature: their graphs are the same.
std::vector<NodePair> pair_same_nodes(const NodeGraph& before, const NodeGraph& now);

/// The share of the code that procedures have in common by loose hashes of nodes, 0 to 1, whatever
/// its order.
double likeness_of(const ProcedureProfile& before, const ProcedureProfile& now);

}  // namespace respike

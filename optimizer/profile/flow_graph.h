#pragma once
// The flow of control of a procedure as a graph whose flow is conserved. Counters are placed on its
// edges, and its equations give all counts from the counters.
//
// Every block b is itself an edge, from node in(b) to node out(b), so counting a block and counting
// an edge are the same thing. Flow that enters or leaves the procedure comes from or goes to the
// node outside(). Indirect jumps that share targets go through a hub, a separate node.
//
// Calls. The flow of a block with a call continues at the return point (a "through" call), since
// most calls return exactly once. Where that is not certain the call is cut: the call is an edge to
// outside(), its return an edge from outside().
//
// A part is a set of nodes that edges without counters connect. Every part that does not hold
// outside() has one counter more than its counts need: the flow into the part, less the flow out of
// it, is the flow that its through calls did not return. When the difference is 0, as it nearly
// always is, each call returned once and all counts are exact. So the part of outside() must have
// no through call.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

struct FlowEdge {
  enum class Kind : uint8_t {
    block,         // edge b of the graph is block b
    fall_through,  // the return of a call included, unless the call is cut
    taken,
    indirect,     // to or from a hub, or a jump to its only target
    entry,        // from outside: a call, a landing pad, a jump from elsewhere
    exit,         // to outside: a return, a jump out, a call that does not return, a stop
    call,         // to outside: a cut call
    call_return,  // from outside: the return of a cut call, always right after its call
    leak,         // from outside into the end of a block with a system call: a signed number, the
                  // processes and threads that started there, less those that ended there
  };
  uint32_t from = 0;  // nodes
  uint32_t to = 0;
  Kind kind = Kind::block;
  uint32_t counter = kNone;  // index of a counter; kNone: solved from the others
  bool operator==(const FlowEdge&) const = default;
};

struct FlowGraph {
  uint32_t blocks = 0;
  uint32_t hubs = 0;
  std::vector<FlowEdge> edges;  // the first `blocks` are the blocks

  uint32_t in(BlockId block) const { return 2 * block; }
  uint32_t out(BlockId block) const { return 2 * block + 1; }
  uint32_t outside() const { return 2 * blocks; }
  uint32_t hub(uint32_t index) const { return 2 * blocks + 1 + index; }
  uint32_t nodes() const { return 2 * blocks + 1 + hubs; }
  bool is_hub(uint32_t node) const { return node > outside(); }
  BlockId block_of(uint32_t node) const { return node / 2; }  // not for outside() and hubs
  bool operator==(const FlowGraph&) const = default;
};

/// How to treat calls and the entry of a procedure.
struct FlowGraphOptions {
  bool cut_all_calls = false;
  std::vector<bool> cut_calls;      // by block: whether its call is cut; empty: none
  bool first_block_entered = true;  // false: nothing calls the procedure at its first block
};

/// The graph of a procedure, without counters. After the edges that are blocks come those of hubs,
/// then those of each block in order: its successors, exit, entry, leak. The return of a cut call
/// comes directly after the call.
FlowGraph build_flow_graph(const Program& program, ProcedureId procedure,
                           const FlowGraphOptions& options);

/// Whether a block ends in a call that may return.
bool is_returning_call(const Program& program, const BasicBlock& block);

}  // namespace respike

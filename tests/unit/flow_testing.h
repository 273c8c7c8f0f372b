#pragma once
// Toy programs for tests of counting: random procedures that call each other, a machine that runs
// the procedures and counts every edge, and counters on random spanning trees. The collector must
// compute from the counters what the machine counted.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instrument/counter_map.h"

namespace respike {

using Random = std::mt19937_64;

inline uint32_t below(Random& random, uint32_t limit) {
  return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random);
}
inline bool one_in(Random& random, uint32_t n) {
  return below(random, n) == 0;
}

struct ToyBlock {
  enum class End : uint8_t {
    go_on,     // to next
    branch,    // to next or to target
    dispatch,  // to one of targets, through hub 0
    call,      // callee, or unknown code; returns to next
    fatal,     // a call of unknown code that never returns: the program ends or throws
    jump,      // to another procedure, which returns to the caller
    ret,
  } end = End::ret;
  BlockId next = kNone, target = kNone;
  std::vector<BlockId> targets = {};
  uint32_t callee = kNone;  // index; kNone: unknown code
  BlockId pad = kNone;      // landing pad of a call
};

struct ToyProcedure {
  std::vector<ToyBlock> blocks;
  bool cut = false;  // the procedure's calls are cut
};

struct ToyOptions {
  uint32_t procedures = 6, blocks = 8;
  uint32_t unknown_exits = 0;   // one call of unknown code in this many ends the program; 0: none
  uint32_t unknown_throws = 0;  // one in this many throws
  uint32_t pads = 0;            // one call in this many has a landing pad; 0: none
  uint32_t fatals = 0;          // one block in this many is fatal
  uint32_t jumps = 0;           // one block in so many is a jump
  uint32_t unknown_calls = 3;   // one call in so many is of unknown code
  uint32_t kill_after = 0;      // steps; 0: never
  uint32_t steps = 2000;        // after these the program hurries to its end
};

/// Procedures call only later procedures and themselves, so most runs terminate.
inline std::vector<ToyProcedure> random_toy(Random& random, const ToyOptions& options) {
  std::vector<ToyProcedure> program(options.procedures);
  const auto is = [&](uint32_t n) { return n != 0 && one_in(random, n); };
  for (uint32_t p = 0; p < program.size(); ++p) {
    const uint32_t size = 2 + below(random, options.blocks);
    program[p].cut = one_in(random, 3);
    auto& blocks = program[p].blocks;
    blocks.resize(size);
    const auto any = [&] { return below(random, size); };
    std::vector<BlockId> pads;
    for (BlockId b = 1; b + 1 < size; ++b)
      if (is(options.pads)) pads.push_back(b);
    const auto any_callee = [&] { return p + below(random, options.procedures - p); };
    for (BlockId b = 0; b < size; ++b) {
      ToyBlock& block = blocks[b];
      using End = ToyBlock::End;
      if (b + 1 == size) {
        block.end = End::ret;
        continue;
      }
      block.next = b + 1;
      if (is(options.fatals)) {
        block.end = End::fatal;
      } else if (is(options.jumps) && p + 1 < options.procedures) {
        block.end = End::jump;
        block.callee = p + 1 + below(random, options.procedures - p - 1);
      } else {
        switch (below(random, 8)) {
          case 0:
            block.end = End::go_on;
            block.next = any();
            break;
          case 1:
            block.end = End::dispatch;
            for (uint32_t i = 0; i < 3; ++i) block.targets.push_back(any());
            std::sort(block.targets.begin(), block.targets.end());
            block.targets.erase(std::unique(block.targets.begin(), block.targets.end()),
                                block.targets.end());
            break;
          case 2:
          case 3:
          case 4:
            block.end = End::call;
            block.callee = is(options.unknown_calls) ? kNone : any_callee();
            break;
          default:
            block.end = End::branch;
            block.target = any();
        }
      }
      if ((block.end == End::call || block.end == End::fatal) && !pads.empty())
        block.pad = pads[below(random, static_cast<uint32_t>(pads.size()))];
    }
  }
  return program;
}

/// The procedure's graph as flow_graph.h describes it, and the map around the graph; without
/// counters.
inline CounterMap::ProcedureMap map_of(const ToyProcedure& procedure, uint32_t number) {
  using End = ToyBlock::End;
  using Kind = FlowEdge::Kind;
  CounterMap::ProcedureMap map;
  map.name = "p" + std::to_string(number);
  map.address = 0x10000 * (number + 1);
  map.signature = 77 * number;
  FlowGraph& graph = map.graph;
  graph.blocks = static_cast<uint32_t>(procedure.blocks.size());
  map.blocks.resize(graph.blocks);
  for (BlockId b = 0; b < graph.blocks; ++b) {
    graph.edges.push_back({graph.in(b), graph.out(b), Kind::block});
    map.blocks[b].address = map.address + 12 * b;
    map.blocks[b].size = 12;
    map.blocks[b].instructions = 3;
    map.blocks[b].node = b;
    map.nodes.push_back({static_cast<uint16_t>(7 * b), static_cast<uint16_t>(b)});
    map.blocks[b].landing_pad = procedure.blocks[b].pad;
  }
  std::vector<BlockId> hub_targets;
  std::vector<bool> entered(graph.blocks);
  entered[0] = true;
  for (const ToyBlock& block : procedure.blocks) {
    hub_targets.insert(hub_targets.end(), block.targets.begin(), block.targets.end());
    if (block.pad != kNone) entered[block.pad] = true;
  }
  std::sort(hub_targets.begin(), hub_targets.end());
  hub_targets.erase(std::unique(hub_targets.begin(), hub_targets.end()), hub_targets.end());
  graph.hubs = hub_targets.empty() ? 0 : 1;
  for (const BlockId target : hub_targets)
    graph.edges.push_back({graph.hub(0), graph.in(target), Kind::indirect});
  for (BlockId b = 0; b < graph.blocks; ++b) {
    const ToyBlock& block = procedure.blocks[b];
    const auto add = [&](uint32_t from, uint32_t to, Kind kind) {
      graph.edges.push_back({from, to, kind});
    };
    const uint32_t out = graph.out(b), outside = graph.outside();
    switch (block.end) {
      case End::go_on:
        add(out, graph.in(block.next), Kind::fall_through);
        break;
      case End::branch:
        add(out, graph.in(block.next), Kind::fall_through);
        add(out, graph.in(block.target), Kind::taken);
        break;
      case End::dispatch:
        add(out, graph.hub(0), Kind::indirect);
        break;
      case End::call:
        if (procedure.cut) {
          add(out, outside, Kind::call);
          add(outside, graph.in(block.next), Kind::call_return);
        } else {
          add(out, graph.in(block.next), Kind::fall_through);
        }
        break;
      case End::fatal:
      case End::jump:
      case End::ret:
        add(out, outside, Kind::exit);
        break;
    }
    if (entered[b]) add(outside, graph.in(b), Kind::entry);
    if (block.end == End::call || block.end == End::fatal || block.end == End::jump)
      map.calls.push_back(
          {.block = b, .callee = block.callee, .address = 0, .jump = block.end == End::jump});
  }
  return map;
}

/// Puts counters on the edges outside of a random spanning forest; no through call is in the part
/// of outside().
inline void place_randomly(CounterMap::ProcedureMap& procedure, uint32_t& counters,
                           Random& random) {
  FlowGraph& graph = procedure.graph;
  std::vector<uint32_t> order(graph.edges.size()), parent(graph.nodes());
  std::iota(order.begin(), order.end(), 0);
  std::iota(parent.begin(), parent.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const auto find = [&](uint32_t x) {
    while (parent[x] != x) x = parent[x];
    return x;
  };
  std::vector<bool> calls(graph.nodes());  // by part
  for (const FlowEdge& edge : graph.edges)
    if (edge.kind == FlowEdge::Kind::fall_through)
      for (const CounterMap::Call& call : procedure.calls)
        if (edge.from == graph.out(call.block)) calls[edge.from] = true;
  std::vector<bool> counted(graph.edges.size());
  for (const uint32_t e : order) {
    const uint32_t a = find(graph.edges[e].from), b = find(graph.edges[e].to);
    const uint32_t outside = find(graph.outside());
    counted[e] = a == b || (a == outside && calls[b]) || (b == outside && calls[a]);
    if (counted[e]) continue;
    parent[a] = b;
    calls[b] = calls[a] || calls[b];
  }
  for (uint32_t e = 0; e < graph.edges.size(); ++e)
    if (counted[e]) graph.edges[e].counter = counters++;
}

inline CounterMap counter_map_of(const std::vector<ToyProcedure>& program, Random& random) {
  CounterMap map;
  map.original_path = "/toy/program";
  map.original_hash = 42;
  map.counters_address = 0x120000000;
  for (uint32_t p = 0; p < program.size(); ++p) {
    map.procedures.push_back(map_of(program[p], p));
    place_randomly(map.procedures[p], map.counters, random);
  }
  return map;
}

/// Runs a program and counts all edges.
class ToyMachine {
 public:
  ToyMachine(const std::vector<ToyProcedure>& program, const CounterMap& map,
             const ToyOptions& options, Random& random)
      : program_(program), map_(map), options_(options), random_(random) {
    for (const auto& procedure : map.procedures) counts.emplace_back(procedure.graph.edges.size());
  }

  /// One run from procedure 0.
  void run() {
    steps_ = 0;
    stack_.clear();
    enter(0, 0);
    while (!stack_.empty() && step()) {
    }
  }

  /// The values of the counters after all runs.
  std::vector<uint64_t> counters() const {
    std::vector<uint64_t> words(map_.counters);
    for (uint32_t p = 0; p < counts.size(); ++p)
      for (uint32_t e = 0; e < counts[p].size(); ++e)
        if (const uint32_t c = map_.procedures[p].graph.edges[e].counter; c != kNone)
          words[c] = counts[p][e];
    return words;
  }

  std::vector<std::vector<uint64_t>> counts;  // by procedure, edge
  bool killed = false;                        // in the middle of a block

 private:
  struct Frame {
    uint32_t procedure;
    BlockId block;
  };
  using End = ToyBlock::End;
  using Kind = FlowEdge::Kind;

  const FlowGraph& graph(uint32_t p) const { return map_.procedures[p].graph; }

  void count(uint32_t p, Kind kind, uint32_t from, uint32_t to) {
    const auto& edges = graph(p).edges;
    for (uint32_t e = 0; e < edges.size(); ++e)
      if (edges[e].kind == kind && edges[e].from == from && edges[e].to == to) {
        ++counts[p][e];
        return;
      }
  }
  /// A call's return has the same ends as the return of another call before the same block.
  void count_return(uint32_t p, BlockId block) {
    const auto& edges = graph(p).edges;
    for (uint32_t e = 0; e < edges.size(); ++e)
      if (edges[e].kind == Kind::call && edges[e].from == graph(p).out(block)) ++counts[p][e + 1];
  }

  void enter(uint32_t p, BlockId block) {
    count(p, Kind::entry, graph(p).outside(), graph(p).in(block));
    stack_.push_back({p, block});
  }
  void go(Kind kind, BlockId to) {
    Frame& top = stack_.back();
    const FlowGraph& g = graph(top.procedure);
    if (kind == Kind::indirect) {
      count(top.procedure, kind, g.out(top.block), g.hub(0));
      count(top.procedure, kind, g.hub(0), g.in(to));
    } else {
      count(top.procedure, kind, g.out(top.block), g.in(to));
    }
    top.block = to;
  }
  void leave() {
    const Frame& top = stack_.back();
    const FlowGraph& g = graph(top.procedure);
    count(top.procedure, Kind::exit, g.out(top.block), g.outside());
  }
  /// Returns from the call that ends the block of the frame on top.
  void come_back() {
    Frame& top = stack_.back();
    const BlockId next = program_[top.procedure].blocks[top.block].next;
    if (program_[top.procedure].cut) {
      count_return(top.procedure, top.block);
      top.block = next;
    } else {
      go(Kind::fall_through, next);
    }
  }
  /// Throws an exception; false if no frame catches it.
  bool unwind() {
    for (; !stack_.empty(); stack_.pop_back()) {
      Frame& top = stack_.back();
      const ToyBlock& block = program_[top.procedure].blocks[top.block];
      if (block.pad == kNone) continue;
      const FlowGraph& g = graph(top.procedure);
      count(top.procedure, Kind::entry, g.outside(), g.in(block.pad));
      top.block = block.pad;
      return true;
    }
    return false;
  }

  /// Runs unknown code; false if it does not come back.
  bool unknown() {
    ended_ = false;
    if (options_.unknown_exits != 0 && one_in(random_, options_.unknown_exits)) {
      ended_ = true;
      return false;
    }
    if (options_.unknown_throws != 0 && one_in(random_, options_.unknown_throws)) {
      ended_ = !unwind();
      return false;
    }
    return true;
  }

  /// Executes a block; false if the program ended.
  bool step() {
    Frame& top = stack_.back();
    const uint32_t p = top.procedure;
    const ToyBlock& block = program_[p].blocks[top.block];
    const bool hurry = ++steps_ > options_.steps;
    ++counts[p][top.block];
    if ((options_.kill_after != 0 && steps_ == options_.kill_after) ||
        steps_ > 20 * options_.steps) {  // it would run for ever
      killed = true;
      return false;
    }
    switch (block.end) {
      case End::go_on:
        go(Kind::fall_through, block.next);
        return true;
      case End::branch: {
        const bool forward = hurry ? !one_in(random_, 8) : one_in(random_, 2);
        if (forward)
          go(Kind::fall_through, block.next);
        else
          go(Kind::taken, block.target);
        return true;
      }
      case End::dispatch:
        go(Kind::indirect, block.targets[below(random_, block.targets.size())]);
        return true;
      case End::call: {
        const FlowGraph& g = graph(p);
        if (program_[p].cut) count(p, Kind::call, g.out(top.block), g.outside());
        if (block.callee != kNone && stack_.size() < 30 && !(hurry && block.callee == p)) {
          enter(block.callee, 0);
          return true;
        }
        if (block.callee != kNone) {  // too deep: killed in the first block of the callee
          enter(block.callee, 0);
          ++counts[block.callee][0];
          killed = true;
          return false;
        }
        if (unknown())
          come_back();
        else
          return !ended_;
        return true;
      }
      case End::fatal:
        leave();
        if (options_.unknown_throws != 0 && one_in(random_, 2)) return unwind();
        return false;
      case End::jump:
        leave();
        stack_.pop_back();
        enter(block.callee, 0);
        return true;
      case End::ret:
        leave();
        stack_.pop_back();
        if (!stack_.empty()) come_back();
        return true;
    }
    return false;
  }

  const std::vector<ToyProcedure>& program_;
  const CounterMap& map_;
  ToyOptions options_;
  Random& random_;
  std::vector<Frame> stack_;
  uint32_t steps_ = 0;
  bool ended_ = false;
};

}  // namespace respike

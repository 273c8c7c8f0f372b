// The calls of a program with counts.
//
// The call graph gives direct calls their callees. The count of a call is the count of its block; a
// jump out of the procedure runs as often as no edge of its block is taken. For an indirect call
// the profile may know one callee. The entries of a procedure that direct calls and jumps do not
// explain are divided among the indirect calls with this callee, in proportion to the calls'
// counts; the rest of such a call stays unknown.
//
// Example: f has 80 entries, 50 of them from direct calls. Two indirect calls of f run 40 and 20
// times, so f gets 20 and 10 of these calls.

#include "optimizer/layout/calls.h"

#include <algorithm>
#include <tuple>

#include "optimizer/analysis/call_graph.h"

namespace respike {
namespace {

/// A conditional branch out of the procedure leaves it as often as the block runs without taking an
/// edge.
uint64_t count_of_jumps_out(const BasicBlock& block) {
  uint64_t left = block.count;
  for (const Edge& edge : block.successors) left -= std::min(left, edge.count);
  return left;
}

/// The callee that a profile saw, by index of `calls`; kNone: not an indirect call, or no callee
/// was seen.
std::vector<ProcedureId> observed_callees(const Program& program, std::span<const CodeCall> calls) {
  std::vector<ProcedureId> callees(calls.size(), kNone);
  auto observed = program.observed_calls.begin();
  for (size_t c = 0; c < calls.size(); ++c) {
    const auto place = std::tie(calls[c].caller, calls[c].block);
    while (observed != program.observed_calls.end() &&
           std::tie(observed->procedure, observed->block) < place)
      ++observed;
    if (observed != program.observed_calls.end() && !calls[c].known() &&
        std::tie(observed->procedure, observed->block) == place)
      callees[c] = observed->callee;
  }
  return callees;
}

}  // namespace

std::vector<CodeCall> find_calls(const Program& program) {
  std::vector<CodeCall> calls;
  const CallGraph graph(program);
  for (const Call& call : graph.calls()) {
    const BasicBlock& block = program[call.caller].blocks[call.block];
    const bool is_call = call.kind == Call::Kind::call;
    calls.push_back({.caller = call.caller,
                     .block = call.block,
                     .callee = call.callee,
                     .entry = call.entry,
                     .returns = is_call && block.edge(Edge::Kind::fall_through) != nullptr,
                     .count = is_call ? block.count : count_of_jumps_out(block)});
  }
  const std::vector<ProcedureId> callees = observed_callees(program, calls);
  const std::vector<double> entries = unexplained_entries(program, calls);
  std::vector<double> wanted(program.procedures.size());  // by callee: its indirect calls
  for (size_t c = 0; c < calls.size(); ++c)
    if (callees[c] != kNone) wanted[callees[c]] += static_cast<double>(calls[c].count);
  std::vector<CodeCall> result;
  for (size_t c = 0; c < calls.size(); ++c) {
    CodeCall& call = calls[c];
    if (const ProcedureId callee = callees[c]; callee != kNone) {
      CodeCall seen = call;
      seen.callee = callee;
      seen.entry = 0;
      if (entries[callee] < wanted[callee])
        seen.count = static_cast<uint64_t>(static_cast<double>(call.count) *
                                           (entries[callee] / wanted[callee]));
      call.count -= std::min(call.count, seen.count);
      result.push_back(seen);
      if (call.count == 0) continue;
    }
    result.push_back(call);
  }
  return result;
}

std::vector<double> unexplained_entries(const Program& program, std::span<const CodeCall> calls) {
  std::vector<double> left(program.procedures.size());
  for (ProcedureId id = 0; id < left.size(); ++id) {
    const Procedure& procedure = program[id];
    if (procedure.blocks.empty()) continue;
    left[id] = static_cast<double>(procedure.blocks[0].count);
    for (const BasicBlock& block : procedure.blocks)
      for (const Edge& edge : block.successors)
        if (edge.target == 0) left[id] -= static_cast<double>(edge.count);
  }
  for (const CodeCall& call : calls)
    if (call.known() && call.entry == 0) left[call.callee] -= static_cast<double>(call.count);
  for (double& each : left) each = std::max(each, 0.0);
  return left;
}

}  // namespace respike

#include "optimizer/layout/calls.h"

#include <tuple>

#include "optimizer/analysis/call_graph.h"

namespace respike {

std::vector<CodeCall> find_calls(const Program& program) {
  std::vector<CodeCall> result;
  auto observed = program.observed_calls.begin();
  const CallGraph graph(program);
  for (const Call& call : graph.calls()) {
    while (observed != program.observed_calls.end() &&
           std::tie(observed->procedure, observed->block) < std::tie(call.caller, call.block))
      ++observed;
    CodeCall found{
        .caller = call.caller,
        .block = call.block,
        .callee = call.callee,
        .entry = call.entry,
        .returns = call.kind == Call::Kind::call && program[call.caller].blocks[call.block].edge(
                                                        Edge::Kind::fall_through) != nullptr};
    if (!call.known()) {
      if (observed == program.observed_calls.end() || observed->procedure != call.caller ||
          observed->block != call.block)
        continue;
      found.callee = observed->callee;
      found.entry = 0;
    }
    result.push_back(found);
  }
  return result;
}

}  // namespace respike

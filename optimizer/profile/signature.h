#pragma once
// What a procedure looks like apart from where its blocks are: its normalised flow graph.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

struct ProcedureSignature {
  uint64_t value = 0;           // of the normalised flow graph, docs/profiles.md
  std::vector<uint32_t> node;   // by block: its node there; kNone for blocks that do nothing but go
                                // on, and for those that nothing leads to
  std::vector<NodeHash> nodes;  // what each node holds
};

/// The signatures of all procedures. They depend neither on the layout of blocks nor on registers,
/// constants and straight-line code. Close to linear time.
std::vector<ProcedureSignature> sign(const Program& program);
/// ProcedureSignature::value of all procedures alone.
std::vector<uint64_t> sign_graphs(const Program& program);

}  // namespace respike

#pragma once
// Signatures: hashes of procedures' normalised flow graphs, which no layout changes.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

struct ProcedureSignature {
  uint64_t value = 0;           // of the normalised flow graph, docs/profiles.md
  std::vector<uint32_t> node;   // by block: its node of that graph; kNone for blocks that only go
                                // on, and for blocks that nothing leads to
  std::vector<NodeHash> nodes;  // by node
};

/// The signatures of all procedures. They depend on neither the layout of blocks nor registers,
/// constants and straight-line code. Close to linear time.
std::vector<ProcedureSignature> sign(const Program& program);
/// ProcedureSignature::value of all procedures, without the rest.
std::vector<uint64_t> sign_graphs(const Program& program);

}  // namespace respike

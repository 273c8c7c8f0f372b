#pragma once
// From a list of instructions with stops to bundles.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike::ia64 {

struct Bundled {
  std::vector<Instruction> slots;  // three a bundle, ready for encode_bundle()
  std::vector<uint32_t> places;    // by instruction: distance of its bundle in bytes, plus its slot
};

/// Packs instructions that run one after the other, in their order, into the fewest bundles. No-ops
/// are left out; a stop after a no-op is kept, except before the first other instruction; a no-op
/// has the place of the next instruction. `stop_at_end`: a stop ends the last bundle in any case.
/// The L and the X half of a long instruction are adjacent. Unused slots get no-ops.
///
/// Pseudo-instructions and Op::invalid are not allowed. Code of only no-ops gives no bundle.
Bundled bundle(std::span<const Instruction> code, bool stop_at_end = true);

/// How many bundles bundle() packs the code into.
size_t bundle_count(std::span<const Instruction> code);

}  // namespace respike::ia64

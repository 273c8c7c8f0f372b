#pragma once
// From a list of instructions with stops to bundles.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike::ia64 {

struct Bundled {
  std::vector<Instruction> slots;  // three a bundle, ready for encode_bundle()
  std::vector<uint32_t> places;  // by instruction: bytes to its bundle, plus the number of its slot
};

/// Packs instructions that run one after the other, in their order, into the fewest bundles. They
/// start in slot 0 of the first bundle. No-ops are left out, the stop behind one is kept, and its
/// place is that of what follows. stop_at_end: a stop ends the last bundle in any case. The L and
/// the X half of a long instruction stand side by side. Slots without use get no-ops.
///
/// Pseudo-instructions and Op::invalid are not allowed. Without any instruction but no-ops there is
/// no bundle.
Bundled bundle(std::span<const Instruction> code, bool stop_at_end = true);

/// The same without the slots: how many bundles it takes.
size_t bundle_count(std::span<const Instruction> code);

}  // namespace respike::ia64

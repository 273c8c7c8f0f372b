#pragma once
// Packing instructions into bundles.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike::ia64 {

/// Instructions in bundles.
struct Bundled {
  std::vector<Instruction> slots;  // three for each bundle, no-ops filled in; ready to be encoded
  std::vector<uint32_t> place;     // of each input instruction: offset of its bundle plus the slot
};

/// Packs a run of instructions in their order, with a stop behind the last one. No-ops are left
/// out: their place is that of the next instruction that is kept.
Bundled bundle(std::span<const Instruction> code);

}  // namespace respike::ia64

#pragma once
// The facet for calls of other images: stubs that jump through a pointer, which the dynamic linker
// fills in (the procedure linkage table).

#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/ir/program.h"

namespace respike {

struct Imports {
  /// The address of the pointer through which `code`, which is at `address`, jumps, if the code
  /// does nothing else; nullopt for other code.
  std::optional<uint64_t> (*pointer_of)(std::span<const uint8_t> code, uint64_t address);
  /// Turns a direct call into a call through the pointer at `pointer`, minus Program::origin_base;
  /// false for calls that must stay as they are.
  bool (*call_through)(Instruction& call, int32_t pointer);
  /// The pointer, minus Program::origin_base, through which an instruction calls; nullopt for
  /// instructions that do not call through a pointer at a fixed place.
  std::optional<int64_t> (*pointer_of_call)(const Instruction& call);
};

}  // namespace respike

#pragma once
// Numbers of registers.

#include <cstdint>

namespace respike {

/// A register in the machine's flat numbering, 0 .. Machine::register_count - 1. Registers that
/// always read as the same value are neither used nor defined; Alpha's have no number.
using Register = uint16_t;

/// Registers [first, end).
struct RegisterRange {
  Register first = 0, end = 0;

  constexpr bool contains(Register r) const { return r >= first && r < end; }
  bool operator==(const RegisterRange&) const = default;
};

}  // namespace respike

#pragma once
// The expanded instruction tables: forms, and for each opcode of each map its possible forms.

#include <array>
#include <cstdint>
#include <vector>

#include "optimizer/machine/x86_64/encoding.h"

namespace respike::x86_64 {

/// The key that selects a form of an opcode, as sets of one element each: mandatory prefix (np 66
/// f3 f2), W, vector length, ModRM as memory or register, ModRM.reg, ModRM.rm (for opcodes without
/// ModRM: REX.B). A candidate has the sets of allowed values.
namespace select {
inline constexpr unsigned kPrefix = 0, kW = 4, kLength = 6, kMemory = 10, kRegister = 11, kReg = 12,
                          kRm = 20, kEnd = 28;
}

struct Candidate {
  uint32_t allowed = (1u << select::kEnd) - 1;
  uint16_t form = 0;

  bool matches(uint32_t key) const { return (key & ~allowed) == 0; }
};

/// An opcode: its candidates are [first, end).
struct Cell {
  uint16_t first = 0, end = 0;
  bool modrm = false;
};

struct Forms {
  std::vector<Form> forms;  // forms[0] stands for code that does not decode
  std::vector<Candidate> candidates;
  std::array<std::array<Cell, 256>, 3 * kMaps> cells;  // kMaps * space + map

  const Cell& cell(Space space, unsigned map, uint8_t opcode) const {
    return cells[kMaps * static_cast<unsigned>(space) + map][opcode];
  }
};

/// Expanded once, at the first call. Throws Error when a row is not in the language of encoding.h.
const Forms& forms();

}  // namespace respike::x86_64

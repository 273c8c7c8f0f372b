#pragma once
// The field st_other of a symbol: its visibility, and on some machines a second entry.
//
// The field marks a procedure on Alpha that starts with the two standard instructions that compute
// gp (STO_ALPHA_STD_GPLOAD). A caller with the same gp may enter the procedure after these two.

#include <cstdint>

#include "optimizer/image/image.h"

namespace respike::elf {

inline constexpr uint8_t kVisibilityBits = 0x03;
inline constexpr uint8_t kAlphaStandardGpLoad = 0x88;
inline constexpr uint8_t kAlphaGpLoadSize = 8;  // bytes

/// Splits `other` into Symbol::visibility, which also takes bits without a meaning here, and
/// Symbol::local_entry.
inline void read_symbol_other(MachineId machine, uint8_t other, Symbol& symbol) {
  symbol.visibility = other;
  if (machine != MachineId::alpha || (other & ~kVisibilityBits) != kAlphaStandardGpLoad) return;
  symbol.visibility = other & kVisibilityBits;
  symbol.local_entry = kAlphaGpLoadSize;
}

inline uint8_t symbol_other(MachineId machine, const Symbol& symbol) {
  const bool announces = machine == MachineId::alpha && symbol.local_entry != 0;
  return symbol.visibility | (announces ? kAlphaStandardGpLoad : 0);
}

}  // namespace respike::elf

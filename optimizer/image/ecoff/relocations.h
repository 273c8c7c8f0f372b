#pragma once
// The meaning of ECOFF's relocation numbers.

#include <cstdint>
#include <string_view>

#include "optimizer/image/relocation_role.h"

namespace respike::ecoff {

enum : uint8_t { kIgnore = 0, kLiteralUse = 5, kGpDisplacement = 6, kComputedStore = 13 };

/// Relocation::raw has a type and, from bit 8 on, the field `size` of the record.
inline constexpr unsigned kSizeShift = 8;

RelocationRole role_of(uint8_t type);
/// The first type with that role; 0: no type has it.
uint8_t type_of(RelocationRole role);

/// How many bytes a relocation of the role covers.
unsigned width_of(RelocationRole role);

/// A relocation may name a section instead of a symbol, by a number of its kind.
constexpr uint32_t kNoSection = 0, kTextSection = 1, kNumbers = 14;
/// The name of the section with a number; empty: no section has that number.
std::string_view section_of_number(uint32_t number);
/// 0: the section has no number.
uint32_t number_of_section(std::string_view name);

}  // namespace respike::ecoff

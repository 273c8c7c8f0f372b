#pragma once
// How users name a procedure: NAME, or NAME@ADDRESS where several share the name.

#include <cstdint>
#include <optional>
#include <string_view>

namespace respike {

/// Both parts of NAME@ADDRESS; `name` lies in the text.
struct AddressedName {
  std::string_view name;
  uint64_t address;
};

/// Splits at the last @; the address is hexadecimal, with or without 0x. nullopt when the text is
/// not of this form. A name may have an @ of its own, so whole names are to be looked up first.
std::optional<AddressedName> split_addressed_name(std::string_view text);

}  // namespace respike

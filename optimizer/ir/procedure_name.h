#pragma once
// Names of procedures: how users name one (NAME, or NAME@ADDRESS where several share the name), and
// the name that a procedure without a symbol has.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// Both parts of NAME@ADDRESS; `name` is a part of the text.
struct AddressedName {
  std::string_view name;
  uint64_t address;
};

/// Splits at the last @; the address is hexadecimal, with or without 0x. nullopt when the text does
/// not have this form. A name may contain an @, so look up whole names first.
std::optional<AddressedName> split_addressed_name(std::string_view text);

/// Which procedures the list names (by ProcedureId): each entry is a name, which several procedures
/// may share, or NAME@ADDRESS with the address of one of them in hexadecimal. Throws Error for an
/// entry that names none.
std::vector<bool> procedures_named(const Program& program, const std::vector<std::string>& list);

/// The name that a procedure without a symbol gets, from its address: code_120000460.
std::string made_up_name(uint64_t address);
/// Whether the procedure at `address` has a name of its own. code_size or code_face in a source is
/// such a name.
bool has_own_name(std::string_view name, uint64_t address);

}  // namespace respike

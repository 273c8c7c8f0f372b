// The tables of relocations: types and their roles, numbers and their sections.
//
// Up to type 18 the types are those of ELF for Alpha, which adopted them. Example: type 6 (GPDISP)
// marks the first of two instructions that compute gp; its field for a symbol holds the distance to
// the second.
//
// Types that compute on a stack (OP_PUSH to OP_PRSHIFT), switch to another gp (GPVALUE) or serve
// large displacements (IMMED) are not understood.

#include "optimizer/image/ecoff/relocations.h"

#include <array>
#include <iterator>

namespace respike::ecoff {
namespace {

using Role = RelocationRole;

constexpr Role kRoles[] = {
    Role::ignored,        // IGNORE: old linkers put it after GPDISP
    Role::address32,      // REFLONG
    Role::address64,      // REFQUAD
    Role::gp_relative32,  // GPREL32
    Role::got_load,       // LITERAL
    Role::ignored,        // LITUSE
    Role::gp_load,        // GPDISP
    Role::branch,         // BRADDR
    Role::hint,           // HINT
    Role::unsupported,    // SREL16
    Role::pc_relative32,  // SREL32
    Role::pc_relative64,  // SREL64
    Role::unsupported,    // OP_PUSH
    Role::unsupported,    // OP_STORE
    Role::unsupported,    // OP_PSUB
    Role::unsupported,    // OP_PRSHIFT
    Role::unsupported,    // GPVALUE
    Role::gp_high,        // GPRELHIGH
    Role::gp_low,         // GPRELLOW
};

constexpr std::array<std::string_view, 16> kSections = {
    "",      ".text", ".rdata", ".data",  ".sdata", ".sbss", ".bss", ".init",
    ".lit8", ".lit4", ".xdata", ".pdata", ".fini",  ".lita", "",     ".rconst"};

}  // namespace

RelocationRole role_of(uint8_t type) {
  return type < std::size(kRoles) ? kRoles[type] : Role::unsupported;
}

uint8_t type_of(RelocationRole role) {
  for (uint8_t type = 1; type < std::size(kRoles); ++type)
    if (kRoles[type] == role) return type;
  return 0;
}

unsigned width_of(RelocationRole role) {
  return role == Role::address64 || role == Role::pc_relative64 ? 8 : 4;
}

std::string_view section_of_number(uint32_t number) {
  return number < kSections.size() ? kSections[number] : std::string_view();
}

uint32_t number_of_section(std::string_view name) {
  for (uint32_t i = 1; i < kSections.size(); ++i)
    if (kSections[i] == name && !name.empty()) return i;
  return 0;
}

}  // namespace respike::ecoff

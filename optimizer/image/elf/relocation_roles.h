#pragma once
// The meaning of ELF's relocation numbers on each machine.

#include <cstdint>
#include <span>

#include "optimizer/base/machine_id.h"
#include "optimizer/image/relocation_role.h"

namespace respike::elf {

/// The roles of a machine's relocations, by number.
struct RelocationRoles {
  std::span<const RelocationRole> roles;  // up to the largest number that has a role

  constexpr RelocationRole operator[](uint32_t number) const {
    return number < roles.size() ? roles[number] : RelocationRole::unsupported;
  }
};

/// On a machine without a table every number is unsupported.
RelocationRoles relocation_roles(MachineId machine);

/// The number of a new relocation with this role: the first of the machine's table; 0, which is not
/// a relocation, when the table has no such number.
uint16_t relocation_number(MachineId machine, RelocationRole role);

}  // namespace respike::elf

// Tests the meaning of ELF's numbers on each machine: relocations, and second entries of
// procedures.

#include <gtest/gtest.h>

#include "optimizer/image/elf/relocation_roles.h"
#include "optimizer/image/elf/symbol_other.h"

namespace respike::elf {
namespace {

TEST(RelocationRoles, OfAlpha) {
  const RelocationRoles roles = relocation_roles(MachineId::alpha);
  EXPECT_EQ(roles[4], RelocationRole::got_load);
  EXPECT_EQ(roles[9], RelocationRole::unsupported);
  EXPECT_EQ(roles[28], RelocationRole::branch);
  for (uint32_t number = 29; number <= 41; ++number)
    EXPECT_EQ(roles[number], RelocationRole::ignored) << number;
  for (const uint32_t number : {12u, 16u, 20u, 42u, 1000u})
    EXPECT_EQ(roles[number], RelocationRole::unsupported) << number;
}

TEST(RelocationRoles, OfIa64) {
  const RelocationRoles roles = relocation_roles(MachineId::ia64);
  EXPECT_EQ(roles[0x49], RelocationRole::branch);
  EXPECT_EQ(roles[0x81], RelocationRole::address64);
  for (const uint32_t number : {0x00u, 0x3au, 0x52u, 0x57u, 0x5cu, 0x67u, 0x91u, 0xbau})
    EXPECT_EQ(roles[number], RelocationRole::ignored) << number;
  for (const uint32_t number : {0x01u, 0x24u, 0x58u, 0x68u, 0xbbu, 1000u})
    EXPECT_EQ(roles[number], RelocationRole::unsupported) << number;
}

TEST(RelocationRoles, GiveNewRelocationsTheirNumber) {
  EXPECT_EQ(relocation_number(MachineId::alpha, RelocationRole::pc_relative32), 10);
  EXPECT_EQ(relocation_number(MachineId::ia64, RelocationRole::pc_relative32), 0x4d);
  EXPECT_EQ(relocation_number(MachineId::ia64, RelocationRole::unwind_gp_relative64), 0x2f);
  EXPECT_EQ(relocation_number(MachineId::ia64, RelocationRole::unwind_segment_relative64), 0x5f);
  EXPECT_EQ(relocation_number(MachineId::alpha, RelocationRole::unwind_gp_relative64), 0);
}

TEST(SymbolOther, AnnouncesLocalEntriesOnAlpha) {
  const auto read = [](MachineId machine, uint8_t other) {
    Symbol symbol;
    read_symbol_other(machine, other, symbol);
    EXPECT_EQ(symbol_other(machine, symbol), other);
    return symbol;
  };
  EXPECT_EQ(read(MachineId::alpha, 0x88).local_entry, 8);
  EXPECT_EQ(read(MachineId::alpha, 0x80).local_entry, 0);
  EXPECT_EQ(read(MachineId::alpha, 0).local_entry, 0);
  EXPECT_EQ(read(MachineId::ia64, 0x88).local_entry, 0);
  Symbol hidden = read(MachineId::alpha, 0x8a);
  EXPECT_EQ(hidden.local_entry, 8);
  hidden.local_entry = 0;
  EXPECT_EQ(symbol_other(MachineId::alpha, hidden), 0x02);
}

}  // namespace
}  // namespace respike::elf

// The tables of relocation roles.
//
// A row gives a range of numbers one role. Example: on Alpha, number 7 (R_ALPHA_BRADDR) is the
// displacement of a branch, so its role is `branch`. The rows become an array by number when this
// file is compiled, since an image has millions of relocations. A number that no row names is
// unsupported: an image that has it in code cannot be rewritten.
//
// Sources: the ELF processor supplement for Alpha as in glibc's elf.h; Intel Itanium
// Processor-specific ABI (245370), chapter 4. Numbers that do not occur in linked images are not
// listed, for example types for big-endian data.

#include "optimizer/image/elf/relocation_roles.h"

#include <algorithm>
#include <array>
#include <span>

namespace respike::elf {
namespace {

using Role = RelocationRole;

struct Row {
  uint16_t first = 0;
  uint16_t last = 0;
  Role role = Role::unsupported;
};

constexpr Row one(uint16_t number, Role role) {
  return {number, number, role};
}

constexpr Row kAlpha[] = {
    one(0, Role::ignored),         // NONE
    one(1, Role::address32),       // REFLONG
    one(2, Role::address64),       // REFQUAD
    one(3, Role::gp_relative32),   // GPREL32
    one(4, Role::got_load),        // LITERAL
    one(5, Role::ignored),         // LITUSE
    one(6, Role::gp_load),         // GPDISP: covers both halves of a gp load, is at the upper
    one(7, Role::branch),          // BRADDR
    one(8, Role::hint),            // HINT
    one(10, Role::pc_relative32),  // SREL32
    one(11, Role::pc_relative64),  // SREL64
    one(17, Role::gp_high),        // GPRELHIGH
    one(18, Role::gp_low),         // GPRELLOW
    one(19, Role::gp_relative16),  // GPREL16
    {24, 26, Role::ignored},       // COPY, GLOB_DAT, JMP_SLOT
    one(27, Role::address64),      // RELATIVE
    one(28, Role::branch),         // BRSGP
    {29, 41, Role::ignored},       // TLSGD to TPREL16: thread-local offsets
};

constexpr Row kIa64[] = {
    one(0x00, Role::ignored),        // NONE
    {0x21, 0x23, Role::absolute},    // IMM14, IMM22, IMM64
    one(0x25, Role::address32),      // DIR32LSB
    one(0x27, Role::address64),      // DIR64LSB
    {0x2a, 0x2b, Role::gp_offset},   // GPREL22, GPREL64I
    one(0x2d, Role::gp_relative32),  // GPREL32LSB
    one(0x2f,
        Role::unwind_gp_relative64),  // GPREL64LSB: in exception tables, refers to types (data)
    {0x32, 0x33, Role::got_load},     // LTOFF22, LTOFF64I
    // Addresses of descriptors, which are data.
    {0x3a, 0x3b, Role::ignored},                 // PLTOFF22, PLTOFF64I
    one(0x3f, Role::ignored),                    // PLTOFF64LSB
    one(0x43, Role::ignored),                    // FPTR64I
    one(0x45, Role::ignored),                    // FPTR32LSB
    one(0x47, Role::ignored),                    // FPTR64LSB
    one(0x49, Role::branch),                     // PCREL21B: first row: the number of new branches
    one(0x48, Role::branch),                     // PCREL60B
    {0x4a, 0x4b, Role::branch},                  // PCREL21M, PCREL21F
    one(0x4d, Role::pc_relative32),              // PCREL32LSB
    one(0x4f, Role::pc_relative64),              // PCREL64LSB
    {0x52, 0x57, Role::ignored},                 // LTOFF_FPTR22 to LTOFF_FPTR64LSB
    {0x5c, 0x5e, Role::ignored},                 // SEGREL32MSB to SEGREL64MSB
    one(0x5f, Role::unwind_segment_relative64),  // SEGREL64LSB
    {0x60, 0x67, Role::ignored},                 // to SECREL64LSB: debugging
    one(0x6d, Role::address32),                  // REL32LSB
    one(0x6f, Role::address64),                  // REL64LSB
    one(0x77, Role::address64),                  // LTV64LSB
    one(0x79, Role::branch),                     // PCREL21BI
    one(0x81, Role::address64),                  // IPLTLSB: a descriptor in place
    one(0x84, Role::ignored),                    // COPY
    one(0x86, Role::got_load),                   // LTOFF22X
    one(0x87, Role::ignored),                    // LDXMOV
    {0x91, 0xba, Role::ignored},                 // TPREL14 to LTOFF_DTPREL22: thread-local offsets
};

// Numbers that only the large code model uses are left out.
constexpr Row kX86_64[] = {
    one(0, Role::ignored),         // NONE
    one(1, Role::address64),       // 64
    one(2, Role::pc_relative32),   // PC32: in code: of a branch or an operand
    one(4, Role::branch),          // PLT32
    {5, 7, Role::ignored},         // COPY, GLOB_DAT, JUMP_SLOT
    one(8, Role::address64),       // RELATIVE
    one(9, Role::got_load),        // GOTPCREL
    {10, 11, Role::address32},     // 32, 32S
    {16, 23, Role::ignored},       // DTPMOD64 to TPOFF32: thread-local offsets
    one(24, Role::pc_relative64),  // PC64
    one(26, Role::ignored),        // GOTPC32: the distance of the table, which is data
    {32, 33, Role::ignored},       // SIZE32, SIZE64
    {34, 36, Role::ignored},       // GOTPC32_TLSDESC, TLSDESC_CALL, TLSDESC
    {37, 38, Role::address64},     // IRELATIVE, RELATIVE64
    {41, 42, Role::got_load},      // GOTPCRELX, REX_GOTPCRELX
};

template <const auto& rows>
constexpr auto by_number() {
  std::array<Role, std::ranges::max(rows, {}, &Row::last).last + size_t{1}> roles{};
  for (const Row& row : rows)
    for (unsigned number = row.first; number <= row.last; ++number) roles[number] = row.role;
  return roles;
}

constexpr auto kAlphaRoles = by_number<kAlpha>();
constexpr auto kIa64Roles = by_number<kIa64>();
constexpr auto kX86_64Roles = by_number<kX86_64>();

std::span<const Row> rows_of(MachineId machine) {
  switch (machine) {
    case MachineId::alpha:
      return kAlpha;
    case MachineId::ia64:
      return kIa64;
    case MachineId::x86_64:
      return kX86_64;
  }
  return {};
}

}  // namespace

RelocationRoles relocation_roles(MachineId machine) {
  switch (machine) {
    case MachineId::alpha:
      return {kAlphaRoles};
    case MachineId::ia64:
      return {kIa64Roles};
    case MachineId::x86_64:
      return {kX86_64Roles};
  }
  return {};
}

uint16_t relocation_number(MachineId machine, RelocationRole role) {
  const auto rows = rows_of(machine);
  const auto row = std::ranges::find(rows, role, &Row::role);
  return row == rows.end() ? 0 : row->first;
}

}  // namespace respike::elf

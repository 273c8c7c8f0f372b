#pragma once
// The start of an ELF file and its program headers, in neutral words. A loader of programs needs no
// more, and does not read a whole Image.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/base/machine_id.h"
#include "optimizer/image/image.h"

namespace respike::elf {

inline constexpr size_t kFileStartSize = 64;      // bytes
inline constexpr size_t kProgramHeaderSize = 56;  // bytes
/// The offset of four bytes of flags, which mean nothing on some machines.
inline constexpr size_t kFlagsOffset = 48;

/// The contents of the first kFileStartSize bytes. Where a field rules out later fields, these are
/// false or 0.
struct FileStart {
  bool is_elf = false;
  bool is_64_bit_little_endian = false;
  bool is_linked = false;     // a program or a shared library
  bool can_be_moved = false;  // a shared library or a position-independent program
  uint16_t machine_number = 0;
  uint64_t entry = 0;
  uint64_t headers_offset = 0;  // of the program headers, in the file
  uint16_t header_size = 0;
  uint16_t header_count = 0;

  std::optional<MachineId> machine() const;
  bool is_usable() const { return is_elf && is_64_bit_little_endian && is_linked; }
};

/// `file` may be shorter than a header; then it is not an ELF file.
FileStart read_file_start(std::span<const uint8_t> file);

/// The segments of a table of program headers, unchecked.
std::vector<Segment> read_segments(std::span<const uint8_t> table);

/// nullopt for a machine that Respike does not know.
std::optional<MachineId> machine_of_number(uint16_t number);
uint16_t number_of_machine(MachineId machine);

/// The first bytes of a machine's programs and libraries: some systems select an interpreter by
/// these bytes (binfmt_misc). Bits that count are set in `mask`.
struct ProgramMagic {
  std::array<uint8_t, 20> bytes{};
  std::array<uint8_t, 20> mask{};
};
ProgramMagic program_magic(MachineId machine);

}  // namespace respike::elf

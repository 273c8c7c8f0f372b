#pragma once
// What the ELF reader and writer share: LLVM's record types and a reader for notes.

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFTypes.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "optimizer/image/image.h"

namespace respike::elf {

// Records as they lie in a file: little-endian, readable at any alignment.
using Types = llvm::object::ELF64LE;
using FileHeader = Types::Ehdr;
using SectionHeader = Types::Shdr;
using ProgramHeader = Types::Phdr;
using SymbolRecord = Types::Sym;
using RelaRecord = Types::Rela;
using DynamicRecord = Types::Dyn;

inline constexpr uint16_t kMachineAlpha = 0x9026;  // what Linux uses; the registered 41 never was
inline constexpr uint64_t kFirstReservedSection = llvm::ELF::SHN_LORESERVE;

/// The descriptor of the first note of `type` by `owner` in a note section with `alignment`;
/// nullopt when there is none or the notes are damaged before it.
std::optional<std::span<const uint8_t>> find_note(std::span<const uint8_t> notes,
                                                  uint64_t alignment, std::string_view owner,
                                                  uint32_t type);

}  // namespace respike::elf

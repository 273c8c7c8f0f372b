#pragma once
// Shared by the files of this folder: LLVM's record types, and the functions of the container.

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFTypes.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optimizer/image/container.h"
#include "optimizer/image/debug_file.h"
#include "optimizer/image/image.h"

namespace respike::elf {

// Records as stored in a file: little-endian, readable at any alignment.
using Types = llvm::object::ELF64LE;
using FileHeader = Types::Ehdr;
using SectionHeader = Types::Shdr;
using ProgramHeader = Types::Phdr;
using SymbolRecord = Types::Sym;
using RelaRecord = Types::Rela;
using DynamicRecord = Types::Dyn;

inline constexpr uint64_t kFirstReservedSection = llvm::ELF::SHN_LORESERVE;

Segment segment_of(const ProgramHeader& header);  // program_headers.cc

Image read(std::span<const uint8_t> bytes, const std::string& name);
std::vector<uint8_t> write(const Image& input, const NewImage& output);
std::span<const uint8_t> unpack(const Section& section, std::vector<uint8_t>& storage);
std::vector<NewImage::MovedSection> grow_dynamic_tables(const Image& image,
                                                        std::vector<Symbol>& symbols,
                                                        uint64_t address);
std::vector<uint8_t> write_debug_file(const Image& debug, const NewDebugFile& changes,
                                      const Image& output);
std::vector<uint8_t> pack(const Section& section, std::vector<uint8_t> contents);

}  // namespace respike::elf

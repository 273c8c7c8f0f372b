#pragma once
// The records of an ECOFF file for Alpha, and the numbers in them.
//
// Source: include/coff/{alpha,ecoff,sym,symconst}.h of binutils 2.40.

#include <cstdint>

#include <llvm/Support/Endian.h>

namespace respike::ecoff {

using llvm::support::ulittle16_t;
using llvm::support::ulittle32_t;
using llvm::support::ulittle64_t;

inline constexpr uint16_t kAlpha = 0x183;
inline constexpr uint16_t kDemandLoaded = 0413;  // kind of the optional header: "ZMAGIC"
inline constexpr uint64_t kPage = 0x2000;        // of the format: offsets agree with addresses

// Flags of files.
inline constexpr uint16_t kLinked = 2, kSharing = 0x3000, kNotShared = 0x1000;

struct FileHeader {
  ulittle16_t magic;
  ulittle16_t sections;
  ulittle32_t time;
  ulittle64_t symbolic_header;  // offset; 0: none
  ulittle32_t symbolic_header_size;
  ulittle16_t optional_header_size;
  ulittle16_t flags;
};
static_assert(sizeof(FileHeader) == 24);

struct OptionalHeader {
  ulittle16_t kind;
  ulittle16_t version, revision, padding;
  ulittle64_t text_size, data_size, zero_size;
  ulittle64_t entry;
  ulittle64_t text_start, data_start, zero_start;
  ulittle32_t registers, floating_registers;
  ulittle64_t gp;
};
static_assert(sizeof(OptionalHeader) == 80);

struct SectionRecord {
  char name[8];
  ulittle64_t physical_address;
  ulittle64_t address;
  ulittle64_t size;
  ulittle64_t offset;
  ulittle64_t relocations;  // offset
  ulittle64_t line_numbers;
  ulittle16_t relocation_count;
  ulittle16_t line_number_count;
  ulittle32_t flags;
};
static_assert(sizeof(SectionRecord) == 64);

// Flags of sections. Those with kExtended are numbers, which stand alone.
inline constexpr uint32_t kText = 0x20, kZero = 0x80, kSmallZero = 0x400, kFini = 0x1000000,
                          kInit = 0x80000000, kExtended = 0x2000000, kExtendedMask = 0x2fff000,
                          kComment = 0x2100000, kUnwindData = 0x2400000,
                          kProcedureTable = 0x2800000;

struct RelocationRecord {
  ulittle64_t address;
  ulittle32_t symbol;  // a number of an external symbol or of a kind of section
  uint8_t type;
  uint8_t external_and_offset;  // bit 0: `symbol` is a symbol; bits 1 to 6: a bit's number
  uint8_t reserved;
  uint8_t size;  // bits 2 to 7
};
static_assert(sizeof(RelocationRecord) == 16);

struct SymbolicHeader {
  ulittle16_t magic, version;
  ulittle32_t line_count, dense_count, procedure_count, local_count, optimization_count,
      auxiliary_count, local_names_size, external_names_size, file_count, relative_file_count,
      external_count;
  ulittle64_t lines_size, lines, dense, procedures, locals, optimizations, auxiliaries, local_names,
      external_names, files, relative_files, externals;  // offsets in the file
};
static_assert(sizeof(SymbolicHeader) == 144);
inline constexpr uint16_t kSymbolicMagic = 0x1992;

struct ExternalSymbol {
  ulittle64_t value;
  ulittle32_t name;  // offset in the external names
  ulittle32_t bits;  // 6 bits of the type, 5 of the class, 1 unused, 20 of an index
  ulittle32_t flags;
  ulittle32_t file;
};
static_assert(sizeof(ExternalSymbol) == 24);

// Types of symbols, and storage classes.
enum : unsigned { kGlobal = 1, kProcedure = 6, kStaticProcedure = 14 };
enum : unsigned { kClassText = 1, kClassAbsolute = 5, kClassUndefined = 6, kClassSmallUndefined = 21 };
inline constexpr unsigned kClassShift = 6, kTypeMask = 0x3f, kClassMask = 0x1f;
inline constexpr uint32_t kNoIndex = 0xfffff, kIndexShift = 12, kNoFile = 0xffffffff;

}  // namespace respike::ecoff

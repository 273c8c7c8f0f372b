#pragma once
// The records of an ECOFF file for Alpha, and the numbers in them. The file is little-endian, as
// hosts are (see bytes.h), and aligns nothing.
//
// Source: include/coff/{alpha,ecoff,sym,symconst}.h of binutils 2.40.

#include <cstdint>

namespace respike::ecoff {

inline constexpr uint16_t kAlpha = 0x183;
inline constexpr uint16_t kDemandLoaded = 0413;  // kind of the optional header: "ZMAGIC"
inline constexpr uint64_t kPage = 0x2000;        // of the format: offsets match addresses modulo
                                                 // this

// Flags of files.
inline constexpr uint16_t kLinked = 2, kSharing = 0x3000, kNotShared = 0x1000;

struct [[gnu::packed]] FileHeader {
  uint16_t magic;
  uint16_t sections;
  uint32_t time;
  uint64_t symbolic_header;  // offset; 0: none
  uint32_t symbolic_header_size;
  uint16_t optional_header_size;
  uint16_t flags;
};
static_assert(sizeof(FileHeader) == 24);

struct [[gnu::packed]] OptionalHeader {
  uint16_t kind;
  uint16_t version, revision, padding;
  uint64_t text_size, data_size, zero_size;
  uint64_t entry;
  uint64_t text_start, data_start, zero_start;
  uint32_t registers, floating_registers;
  uint64_t gp;
};
static_assert(sizeof(OptionalHeader) == 80);

struct [[gnu::packed]] SectionRecord {
  char name[8];
  uint64_t physical_address;
  uint64_t address;
  uint64_t size;
  uint64_t offset;
  uint64_t relocations;  // offset
  uint64_t line_numbers;
  uint16_t relocation_count;
  uint16_t line_number_count;
  uint32_t flags;
};
static_assert(sizeof(SectionRecord) == 64);

// Flags of sections. Flags with kExtended are numbers, each used alone.
inline constexpr uint32_t kText = 0x20, kZero = 0x80, kSmallZero = 0x400, kFini = 0x1000000,
                          kInit = 0x80000000, kExtended = 0x2000000, kExtendedMask = 0x2fff000,
                          kComment = 0x2100000, kUnwindData = 0x2400000,
                          kProcedureTable = 0x2800000;

struct [[gnu::packed]] RelocationRecord {
  uint64_t address;
  uint32_t symbol;  // a number of an external symbol or of a kind of section
  uint8_t type;
  uint8_t external_and_offset;  // bit 0: `symbol` is a symbol; bits 1 to 6: a bit's number
  uint8_t reserved;
  uint8_t size;  // bits 2 to 7
};
static_assert(sizeof(RelocationRecord) == 16);

struct [[gnu::packed]] SymbolicHeader {
  uint16_t magic, version;
  uint32_t line_count, dense_count, procedure_count, local_count, optimization_count,
      auxiliary_count, local_names_size, external_names_size, file_count, relative_file_count,
      external_count;
  uint64_t lines_size, lines, dense, procedures, locals, optimizations, auxiliaries, local_names,
      external_names, files, relative_files, externals;  // offsets in the file
};
static_assert(sizeof(SymbolicHeader) == 144);
inline constexpr uint16_t kSymbolicMagic = 0x1992;
/// Record sizes of the tables that are not read, in bytes; an optimization symbol counts in bytes.
inline constexpr uint64_t kLineNumberSize = 8, kDenseNumberSize = 8, kProcedureSize = 64,
                          kLocalSymbolSize = 16, kAuxiliarySize = 4, kFileSize = 96,
                          kRelativeFileSize = 4;

struct [[gnu::packed]] ExternalSymbol {
  uint64_t value;
  uint32_t name;  // offset in the external names
  uint32_t bits;  // 6 bits of the type, 5 of the class, 1 unused, 20 of an index
  uint32_t flags;
  uint32_t file;
};
static_assert(sizeof(ExternalSymbol) == 24);

// Types of symbols, and storage classes.
enum : unsigned { kGlobal = 1, kProcedure = 6, kStaticProcedure = 14 };
enum : unsigned {
  kClassText = 1,
  kClassAbsolute = 5,
  kClassUndefined = 6,
  kClassSmallUndefined = 21
};
inline constexpr unsigned kClassShift = 6, kTypeMask = 0x3f, kClassMask = 0x1f;
inline constexpr uint32_t kNoIndex = 0xfffff, kIndexShift = 12, kNoFile = 0xffffffff;

}  // namespace respike::ecoff

#pragma once
// The headers of a PE file, after all checks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optimizer/base/machine_id.h"

namespace respike::pe {

/// Numbers of data directories.
enum : size_t {
  kExports = 0,
  kImports = 1,
  kExceptions = 3,
  kCertificates = 4,  // its place is an offset in the file
  kBaseRelocations = 5,
  kDebug = 6,
  kArchitecture = 7,
  kThreadData = 9,
  kBoundImports = 11,
  kDelayedImports = 13,
  kManagedCode = 14,
  kDirectoryCount = 16,
};

/// Flags of files and of sections.
inline constexpr uint16_t kRelocationsStripped = 1, kLibrary = 0x2000;
inline constexpr uint32_t kCode = 0x20, kInitializedData = 0x40, kDiscardable = 0x02000000,
                          kExecute = 0x20000000, kRead = 0x40000000, kWrite = 0x80000000;

inline constexpr uint32_t kMostSections = 96;  // the most that Windows NT loads

struct DataDirectory {
  uint32_t place = 0;  // relative to the base
  uint32_t size = 0;

  bool present() const { return place != 0 && size != 0; }
};

struct SectionHeader {
  std::string name;
  uint32_t place = 0;         // relative to the base
  uint32_t size = 0;          // in memory
  uint32_t offset = 0;        // in the file
  uint32_t size_in_file = 0;  // padded; may be more than `size`
  uint32_t characteristics = 0;

  /// Bytes of the file that are in memory.
  uint32_t loaded_size() const { return size < size_in_file ? size : size_in_file; }
  uint64_t end() const { return uint64_t{place} + size; }
};

struct Headers {
  MachineId machine{};
  bool wide = false;  // PE32+: 64-bit addresses
  uint16_t characteristics = 0;
  uint16_t subsystem = 0;
  uint64_t base = 0;
  uint32_t entry = 0;  // relative to the base; 0: none
  uint32_t section_alignment = 0;
  uint32_t file_alignment = 0;
  uint32_t memory_size = 0;
  uint32_t headers_size = 0;
  uint32_t checksum = 0;
  uint32_t symbols_offset = 0;  // COFF symbols; 0: none
  uint32_t symbol_count = 0;
  std::array<DataDirectory, kDirectoryCount> directories;
  std::vector<SectionHeader> sections;  // by place

  // Offsets in the file.
  uint64_t coff_offset = 0;      // of the COFF header, after the signature
  uint64_t optional_offset = 0;  // of the optional header
  uint64_t directories_offset = 0;
  uint64_t directory_count = 0;  // how many the header has
  uint64_t sections_offset = 0;

  /// The index of the section that starts where the directory does; nullptr: none.
  const SectionHeader* section_of(size_t directory) const;
};

/// Throws Error when the file is not for a machine that Respike knows, or is damaged.
Headers read_headers(std::span<const uint8_t> file, const std::string& name);

}  // namespace respike::pe

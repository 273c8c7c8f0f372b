#pragma once
// The headers of an ECOFF file, after all checks.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optimizer/image/ecoff/records.h"

namespace respike::ecoff {

struct SectionHeader {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;    // in memory
  uint64_t offset = 0;  // of the contents in the file; 0: no contents
  uint64_t relocations = 0;
  uint16_t relocation_count = 0;
  uint32_t flags = 0;

  bool is(uint32_t extended) const { return (flags & kExtendedMask) == extended; }
  bool loaded() const { return !is(kComment) && size != 0; }
  bool has_contents() const { return offset != 0 && size != 0; }
  bool code() const { return (flags & kExtended) == 0 && (flags & (kText | kInit | kFini)) != 0; }
  uint64_t end() const { return address + size; }
};

struct Headers {
  uint16_t flags = 0;
  uint64_t entry = 0;
  uint64_t text_start = 0;
  uint64_t data_start = 0;
  uint64_t symbolic_header = 0;  // offset; 0: none
  std::vector<SectionHeader> sections;
};

/// Throws Error when the file is damaged, or is not a program that Respike reads.
Headers read_headers(std::span<const uint8_t> file, const std::string& name);

}  // namespace respike::ecoff

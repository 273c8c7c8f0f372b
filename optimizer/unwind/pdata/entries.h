#pragma once
// Entries of a function table as stored in an image; private to this folder.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/image/image.h"

namespace respike::pdata {

inline constexpr std::string_view kSection = ".pdata";
/// Instructions have 4 bytes: the lowest bits of addresses are flags.
inline constexpr uint64_t kInstruction = 4;

struct Entry {
  uint64_t begin = 0;  // addresses, half-open
  uint64_t end = 0;
  uint64_t handler = 0;
  uint64_t handler_data = 0;
  uint64_t prolog_end = 0;  // after the last instruction of the prolog

  /// The code of the entry, without flags.
  uint64_t first() const { return begin & ~(kInstruction - 1); }
  uint64_t last() const { return end & ~(kInstruction - 1); }  // after the last instruction
  /// Whether the entry has no flags, and its prolog is in the procedure.
  bool has_plain_frame() const {
    return (begin | end | prolog_end | handler | handler_data) % kInstruction == 0 &&
           begin <= prolog_end && prolog_end <= end && begin < end;
  }
  bool operator==(const Entry&) const = default;
};

/// Bytes of a field; an entry has 5 fields.
uint64_t field_size(const Image& image);

/// The table of an image, by address; empty when the image has no table.
std::vector<Entry> read_entries(const Image& image);

/// Whether the entry's handler has a scope table whose records are all in the procedure.
bool has_scope_table(const Image& image, const Entry& entry);

/// Encodes entries as bytes.
std::vector<uint8_t> write_entries(std::span<const Entry> entries, uint64_t field);

}  // namespace respike::pdata

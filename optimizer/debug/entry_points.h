#pragma once
// Entry points of procedures in pieces, to which calls refer; private to this folder.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/unit.h"
#include "optimizer/image/image.h"

namespace respike::debug {

class EntryPoints {
 public:
  /// A unit with the entry points comes after .debug_info, which is `size` bytes long and has the
  /// units `units`. The image must live as long as this object.
  EntryPoints(const Image& image, std::span<const Unit> units, uint64_t size);

  /// A procedure is in several pieces: `procedure` is the offset of its entry in .debug_info. Its
  /// code began at `old_start` in the input, and begins with `ranges.front()` in the output.
  void add(uint64_t procedure, uint64_t old_start, std::span<const AddressMap::Range> ranges);
  /// Whether no procedure is in pieces.
  bool empty() const { return procedures_.empty(); }
  /// How many pieces a procedure has; 1 if it was not added.
  size_t pieces(uint64_t procedure) const;
  /// Whether debuggers find a unit after the units of the input.
  bool may_be_added() const { return may_be_added_; }
  /// The offset in .debug_info of the entry that stands for a procedure's beginning: the
  /// procedure's entry point if the procedure is in pieces, else the procedure's own entry.
  uint64_t refer(uint64_t procedure);
  /// Appends the unit and its abbreviations, if a call refers to an entry point.
  void append(std::vector<uint8_t>& info, ByteWriter& abbreviations) const;

 private:
  struct Procedure {
    uint64_t old_start = 0;
    AddressMap::Range first;  // piece
    size_t pieces = 0;
    uint64_t entry_point = 0;  // offset in .debug_info; 0: no call refers to the procedure so far
  };
  std::string_view name_of(uint64_t address);
  void write_header(uint64_t abbreviations, ByteWriter& out) const;

  const Image& image_;
  uint64_t start_;  // of the unit, in .debug_info
  Unit unit_;       // its form
  bool may_be_added_;
  ByteWriter entries_;                                    // of the unit
  std::map<uint64_t, Procedure> procedures_;              // by the offsets of their entries
  std::unordered_map<uint64_t, std::string_view> names_;  // of the input's procedures, by address
};

}  // namespace respike::debug

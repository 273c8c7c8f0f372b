#pragma once
// Line tables (DWARF 5, section 6.2): read, moved, written; private to this folder.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/budget.h"

namespace respike::debug {

class LineTables {
 public:
  /// Rewrites all tables of the section. Throws Error when a table is damaged or has several
  /// operations in an instruction.
  LineTables(std::span<const uint8_t> section, const AddressMap& map, Budget& budget);

  std::vector<uint8_t> take_contents() { return std::move(contents_); }
  /// The new place of the table at an offset of the input. Throws Error when no table starts there.
  uint64_t offset(uint64_t old_offset) const;

 private:
  std::vector<uint8_t> contents_;
  std::vector<std::pair<uint64_t, uint64_t>> offsets_;  // old and new, sorted
};

}  // namespace respike::debug

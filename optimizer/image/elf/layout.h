#pragma once
// The added segment of an output file, and the room for its program header.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/image/elf/elf.h"

namespace respike::elf {

/// The contents directly after the program headers. They move to the start of the added segment, or
/// of its part for tables. The name of the interpreter moves to the end, see layout.cc.
struct MovedBlock {
  uint64_t start = 0;  // addresses in the input; empty when nothing moves
  uint64_t end = 0;
  uint64_t first = 0;              // the contents that come first in the new place
  uint64_t name = 0;               // of the interpreter: its start and size
  uint64_t name_size = 0;          // 0: the block holds no such name
  uint64_t gap = 0;                // least number of bytes before these contents
  uint64_t alignment = 1;          // of its new place
  uint64_t distance = 0;           // new address - old address, except for the name
  std::vector<uint32_t> sections;  // in address order

  bool empty() const { return start == end; }
  /// The new address of something in the block, or of its end.
  uint64_t moved(uint64_t address) const {
    const bool in_name = address >= name && address < name + name_size;
    return address + distance + (in_name ? end - name : 0);
  }
  uint64_t moved_end() const { return end + distance + name_size; }
  bool contains(uint64_t address) const { return address >= start && address < end; }
  bool contains(const Segment& segment) const {
    return segment.memory_size != 0 && contains(segment.address) &&
           segment.memory_size <= end - segment.address;
  }
  bool has_section(uint32_t section) const {
    return std::find(sections.begin(), sections.end(), section) != sections.end();
  }
};

struct SegmentPlan {
  AddedSegment where;
  uint64_t alignment = 1;             // of the added segment
  bool separate = false;              // tables get a read-only segment after the code's
  uint64_t tables = 0;                // least address of the block and the tables
  std::optional<size_t> extended;     // this segment grows; there is no added segment
  std::optional<size_t> with_memory;  // this segment grows in memory up to `memory_end`
  bool memory_segment = false;        // added memory has a segment of its own, the last one
  uint64_t memory_end = 0;            // address
  std::optional<size_t> replaced;     // this PT_NOTE is given up for the new program header
  MovedBlock block;

  /// Places the block once the end of the added code is known.
  void place_tables(uint64_t code_end);
};

/// The tag of the dynamic entry that alone gives the address of a section of `type`.
std::optional<int64_t> dynamic_tag(uint32_t type);

/// The plan that plan_added_segment returns a part of, and that write() makes again.
SegmentPlan plan_segment(const Image& image, const AddedMemory& memory);

/// Whether the dynamic section has a spare entry; linkers leave some.
bool has_spare_dynamic_entry(const Image& image);

// Of the container (../container.h).
void require_rewritable(const Image& image);
void require_room_for_initializer(const Image& image);

}  // namespace respike::elf

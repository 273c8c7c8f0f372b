// What libgcc's unwinders assume of an image (GCC 12).
//
// Unwinders look for the description of a return address by binary search, or walk a list up to its
// end; neither checks what it finds. Example: a table that is not sorted hides half of its entries,
// and an exception that passes through them ends the program.
//
// What tables say about each place is compared with the input elsewhere (check/same_program.cc),
// and so is the rule of unwinders that look up return addresses as they are, which needs to know
// calls (Comparison::return_region).

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/base/dwarf_encoding.h"
#include "optimizer/image/image_rules.h"
#include "optimizer/image/unwind_table.h"

namespace respike {
namespace {

using Violation = std::optional<std::string>;

constexpr const char* kFrames = ".eh_frame";
constexpr const char* kFrameHeader = ".eh_frame_hdr";

/// libgcc unwind-dw2-fde.c (linear_search_fdes, init_object): a list of frames that start-up code
/// registers (crtstuff.c, frame_dummy, in static images) ends with a zero word.
Violation frames_are_terminated(const Image& image) {
  const Section* frames = image.section_named(kFrames);
  if (frames == nullptr || frames->contents.empty()) return std::nullopt;
  const auto bytes = frames->contents;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const uint64_t length = load<uint32_t>(&bytes[at]);
    if (length == 0) return std::nullopt;
    at += 4 + length;
  }
  return "the list of frames in .eh_frame does not end with a zero word";
}

/// libgcc unwind-dw2-fde-dip.c, _Unwind_IteratePhdrCallback: a table of pairs of 32 bits, relative
/// to the header and aligned, is searched by bisection.
Violation frame_table_is_sorted(const Image& image) {
  const Section* header = image.section_named(kFrameHeader);
  if (header == nullptr) return std::nullopt;
  const auto bytes = header->contents;
  constexpr uint8_t kSigned32 = eh_pe::kSdata4, kTable = eh_pe::kDataRelative | eh_pe::kSdata4;
  if (bytes.size() < 12 || bytes[0] != 1 || bytes[1] != (eh_pe::kPcRelative | kSigned32) ||
      bytes[2] != eh_pe::kUdata4 || bytes[3] != kTable)
    return "the header of .eh_frame has no table that unwinders can search";
  if (header->address % 4 != 0) return "the header of .eh_frame is not aligned";
  const uint64_t count = load<uint32_t>(&bytes[8]);
  if (count > (bytes.size() - 12) / 8) return "the table of .eh_frame_hdr is too short";
  for (uint64_t i = 1; i < count; ++i)
    if (load<int32_t>(&bytes[12 + 8 * i]) <= load<int32_t>(&bytes[4 + 8 * i]))
      return fmt::format("entry {} of the table in .eh_frame_hdr is out of order", i);
  return std::nullopt;
}

/// libgcc config/ia64/fde-glibc.c, _Unwind_FindTableEntry: regions are searched by bisection; their
/// starts, ends and blocks count from the lowest loaded segment.
Violation regions_are_sorted(const Image& image) {
  if (!has_unwind_regions(image)) return std::nullopt;
  try {
    uint64_t end = 0;
    for (const RegionEntry& entry : read_region_entries(image)) {
      if (entry.start < end)
        return fmt::format("the unwind region of {:#x} is out of order or overlaps the one before",
                           entry.start);
      if (image.section_at(entry.start) == nullptr ||
          image.section_at(entry.information) == nullptr)
        return fmt::format("the unwind region of {:#x} lies outside of the image", entry.start);
      end = entry.end;
    }
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

constexpr ImageRule kRules[] = {
    {"frames_are_terminated", frames_are_terminated},
    {"frame_table_is_sorted", frame_table_is_sorted},
    {"regions_are_sorted", regions_are_sorted},
};

}  // namespace

std::span<const ImageRule> unwinder_rules() {
  return kRules;
}

}  // namespace respike

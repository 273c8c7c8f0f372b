// What libgcc's unwinder assumes of the table of unwind regions (GCC 12).
//
// The unwinder looks for the region of a return address by bisection and does not check the result.
// Example: a table that is not sorted hides half of its entries, and an exception that passes
// through these regions ends the program.
//
// Whether a call returns into its own region requires knowledge of calls; check/same_program.cc
// checks it.

#include <fmt/format.h>

#include "optimizer/unwind/ia64/region_table.h"
#include "optimizer/unwind/ia64/regions.h"

namespace respike {
namespace {

/// libgcc config/ia64/fde-glibc.c, _Unwind_FindTableEntry: regions are searched by bisection; their
/// starts, ends and blocks count from the lowest loaded segment.
std::optional<std::string> regions_are_sorted(const Image& image) {
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
    {"regions_are_sorted", regions_are_sorted},
};

}  // namespace

std::span<const ImageRule> region_rules() {
  return kRules;
}

}  // namespace respike

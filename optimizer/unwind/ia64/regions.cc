// The sections of an image that hold its unwind regions, and the places of their new contents.
//
// The information blocks go to the address that the writer is given. The table stays near its old
// place if it fits there: unwinders count the addresses in the table from the lowest loaded
// segment, readelf from the segment that holds the table, and where the table stays in the lowest
// segment, both are right. Example: a table of 100 entries, starting at 0x4a0, is followed by its
// blocks. When the blocks move, the table also has their room. Where a block is not understood, the
// section that holds the block stays as it is, and new blocks get a section of their own.
//
// Unwinders look up return addresses as they are (libgcc config/ia64/unwind-ia64.c,
// uw_frame_state_for), so the code after a call has to be in the call's region.

#include "optimizer/unwind/ia64/regions.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/ia64/region_table.h"
#include "optimizer/unwind/ia64/regions_reader.h"
#include "optimizer/unwind/ia64/regions_writer.h"

namespace respike {
namespace {

/// The endings of the names of the table and of its information blocks.
constexpr std::string_view kTableName = ".unwind";
constexpr std::string_view kInformationName = ".unwind_info";
constexpr std::string_view kAddedInformation = ".respike.unwind_info";

bool owns_section(std::string_view name) {
  return name.ends_with(kTableName) || name.ends_with(kInformationName);
}

const Section* table_of(const Image& image) {
  const auto found = std::ranges::find_if(image.sections, [](const Section& section) {
    return section.allocated() && section.name.ends_with(kTableName);
  });
  return found == image.sections.end() ? nullptr : &*found;
}

/// The section whose contents the new information blocks replace, or nullptr: if no block is new,
/// all sections stay.
const Section* replaced_information(const UnwindRequest& request) {
  std::vector<uint64_t> kept;
  for (const UnwindRange& range : request.ranges)
    if (range.kept_lsda != 0) kept.push_back(range.kept_lsda);
  if (kept.size() == request.ranges.size()) return nullptr;
  std::ranges::sort(kept);
  const auto found = std::ranges::find_if(request.image.sections, [&](const Section& section) {
    if (!section.allocated() || !section.name.ends_with(kInformationName)) return false;
    const auto first = std::ranges::lower_bound(kept, section.address);
    return first == kept.end() || !section.contains(*first);
  });
  return found == request.image.sections.end() ? nullptr : &*found;
}

/// The room around the old table. It includes the room of its information blocks when they move
/// (`information`, or nullptr).
TableRoom room_around(const Image& image, const Section& table, const Section* information) {
  const Segment* lowest = nullptr;
  for (const Segment& segment : image.segments)
    if (segment.loaded() && (lowest == nullptr || segment.address < lowest->address))
      lowest = &segment;
  if (table.address < lowest->address || table.address >= lowest->address + lowest->file_size)
    return {};
  uint64_t start = 0, end = lowest->address + lowest->file_size;
  for (const Section& section : image.sections) {
    if (!section.allocated() || section.size == 0 || &section == &table || &section == information)
      continue;
    if (section.address > table.address)
      end = std::min(end, section.address);
    else
      start = std::max(start, section.address + section.size);
  }
  start = align_up(std::max(start, lowest->address), 8);
  if (start >= end) return {};
  const auto bytes = *image.bytes_at(start, end - start);
  for (uint64_t at = start; at < end; ++at)  // unclaimed bytes are free only if they are zero
    if (bytes[at - start] != 0 && !table.contains(at) &&
        (information == nullptr || !information->contains(at)))
      return {};
  return {start, end - start};
}

std::vector<NewUnwindTable> write(const UnwindRequest& request) {
  const Image& image = request.image;
  const Section* table = table_of(image);
  const Section* information = replaced_information(request);
  const TableRoom room = table != nullptr ? room_around(image, *table, information) : TableRoom{};
  RegionSections written =
      write_regions(request.tables, request.ranges, region_bases(image), request.address, room);
  std::vector<NewUnwindTable> tables;
  if (!written.information.empty())
    tables.push_back({information, request.address, std::move(written.information),
                      std::move(written.information_fixups), std::string(kAddedInformation)});
  if (table != nullptr)
    tables.push_back(
        {table, written.table_address, std::move(written.table), std::move(written.table_fixups)});
  return tables;
}

AddressRanges return_regions(const Image& image) {
  AddressRanges regions;
  for (const RegionEntry& entry : read_region_entries(image))
    regions.emplace_back(entry.start, entry.end);
  return regions;
}

}  // namespace

constinit const UnwindFormat kRegionsFormat = {
    .is_used_by = has_unwind_regions,
    .owns_section = owns_section,
    .read = read_regions,
    .write = write,
    .return_regions = return_regions,
    .contradiction = nullptr,
    .rules = region_rules,
};

}  // namespace respike

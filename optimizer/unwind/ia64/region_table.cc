// Unwinders find the table by a program header. They take gp, the base of the pointers in
// information blocks, from the dynamic section. In images without a dynamic section, where gp is
// the same for the whole program, they take it from the register, so here any procedure descriptor
// will do.

#include "optimizer/unwind/ia64/region_table.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/ia64/region_encoding.h"

namespace respike {
namespace {

using namespace regions;

const Segment* table_segment(const Image& image) {
  for (const Segment& segment : image.segments)
    if (segment.unwind_table()) return &segment;
  return nullptr;
}

std::optional<uint64_t> find_gp(const Image& image) {
  constexpr size_t kDescriptorSize = 16;  // entry, gp
  for (const LoaderEntry& entry : image.loader_entries)
    if (entry.kind == LoaderEntry::Kind::global_pointer) return entry.value;
  const Section* descriptors = image.section_named(".opd");
  if (descriptors == nullptr) return std::nullopt;
  const auto bytes = descriptors->contents;
  for (size_t at = 0; at + kDescriptorSize <= bytes.size(); at += kDescriptorSize)
    if (const auto gp = load<uint64_t>(&bytes[at + 8]); gp != 0) return gp;
  return std::nullopt;
}

}  // namespace

bool has_unwind_regions(const Image& image) {
  return table_segment(image) != nullptr;
}

RegionBases region_bases(const Image& image) {
  RegionBases bases;
  bases.segment = UINT64_MAX;
  for (const Segment& segment : image.segments)
    if (segment.loaded()) bases.segment = std::min(bases.segment, segment.address);
  bases.data = find_gp(image);
  return bases;
}

std::vector<RegionEntry> read_region_entries(const Image& image) {
  const Segment* table = table_segment(image);
  if (table == nullptr) return {};
  const auto bytes = image.bytes_at(table->address, table->memory_size);
  if (!bytes) throw Error("the table of unwind regions lies outside of the image");
  const uint64_t base = region_bases(image).segment;
  std::vector<RegionEntry> entries;
  ByteReader reader(*bytes, "the table of unwind regions");
  while (reader.remaining() >= kEntrySize) {
    RegionEntry entry;
    entry.start = base + reader.read<uint64_t>();
    entry.end = base + reader.read<uint64_t>();
    entry.information = base + reader.read<uint64_t>();
    if (entry.start < entry.end) entries.push_back(entry);
  }
  return entries;
}

}  // namespace respike

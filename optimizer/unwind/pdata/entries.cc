#include "optimizer/unwind/pdata/entries.h"

#include <algorithm>

#include "optimizer/base/bytes.h"

namespace respike::pdata {

uint64_t field_size(const Image& image) {
  return image.format == "PE32+" ? 8 : 4;
}

std::vector<Entry> read_entries(const Image& image) {
  const Section* section = image.section_named(kSection);
  if (section == nullptr) return {};
  const uint64_t field = field_size(image), size = 5 * field;
  std::vector<Entry> entries;
  for (size_t at = 0; at + size <= section->contents.size(); at += size) {
    uint64_t fields[5];
    for (size_t i = 0; i < 5; ++i) {
      const uint8_t* bytes = &section->contents[at + i * field];
      fields[i] = field == 8 ? load<uint64_t>(bytes) : load<uint32_t>(bytes);
    }
    // Zeros pad the table.
    if (std::ranges::all_of(fields, [](uint64_t value) { return value == 0; })) continue;
    entries.push_back({fields[0], fields[1], fields[2], fields[3], fields[4]});
  }
  std::ranges::stable_sort(entries, {}, &Entry::begin);
  return entries;
}

std::vector<uint8_t> write_entries(std::span<const Entry> entries, uint64_t field) {
  ByteWriter out;
  for (const Entry& entry : entries)
    for (const uint64_t value :
         {entry.begin, entry.end, entry.handler, entry.handler_data, entry.prolog_end}) {
      if (field == 8)
        out.write(value);
      else
        out.write(static_cast<uint32_t>(value));
    }
  return std::move(out.bytes());
}

}  // namespace respike::pdata

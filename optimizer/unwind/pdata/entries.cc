// Reads and writes the entries of a function table (PE/COFF specification of 2000, section 6.5):
// five addresses each, of 4 bytes, or of 8 in PE32+. Zeros pad the table, and readers skip them.
//
// A scope table, the data of most exception handlers, is a count and records of four addresses: the
// begin and end of a __try, its handler or filter, and the target to continue at (0 for code that
// runs finally). It counts as understood only if all of its records are in the procedure and each
// handler is code, or the number 1, "every exception".
//
// Example: {0x401000, 0x401020, 1, 0x401040} catches every exception of 0x401000 to 0x401020 and
// continues at 0x401040.

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

bool has_scope_table(const Image& image, const Entry& entry) {
  constexpr uint64_t kMostRecords = 4096;
  constexpr uint64_t kEveryException = 1;  // instead of a filter
  const uint64_t field = field_size(image);
  const Section* section = image.section_at(entry.handler_data);
  if (entry.handler == 0 || section == nullptr || section->executable()) return false;
  const auto head = image.bytes_at(entry.handler_data, field);
  const auto number = [&](std::span<const uint8_t> bytes, size_t index) -> uint64_t {
    const uint8_t* at = &bytes[index * field];
    return field == 8 ? load<uint64_t>(at) : load<uint32_t>(at);
  };
  if (!head) return false;
  const uint64_t count = load<uint32_t>(head->data());
  if (count == 0 || count > kMostRecords) return false;
  const auto records = image.bytes_at(entry.handler_data + field, 4 * field * count);
  if (!records) return false;
  const auto lies_inside = [&](uint64_t address) {
    return address >= entry.begin && address < entry.end && address % kInstruction == 0;
  };
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = number(*records, 4 * i), end = number(*records, 4 * i + 1),
                   handler = number(*records, 4 * i + 2), target = number(*records, 4 * i + 3);
    const Section* code = image.section_at(handler);
    const bool runs =
        handler % kInstruction == 0 && code != nullptr && code->executable() && handler != 0;
    if (!lies_inside(begin) || !lies_inside(end - kInstruction) || begin >= end ||
        (target != 0 && !lies_inside(target)) ||
        !(runs || (handler == kEveryException && target != 0)))
      return false;
  }
  return true;
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

// Unwind regions of IA-64: whatever an information block says, if it can be read, it is written and
// read again with the same meaning.
//
// The image mutator tests tables with many entries. Here the table has one entry, and all bytes of
// the input belong to the entry's block: descriptors, personality routine and exception table.

#include "optimizer/unwind/ia64/region_encoding.h"
#include "optimizer/unwind/ia64/regions_reader.h"
#include "tests/fuzz/checks.h"
#include "tests/unit/unwind_regions_testing.h"

namespace respike {
namespace {

using namespace unwind_regions_testing;

constexpr uint64_t kBase = 0x4000000000000000, kText = kBase + 0x1000, kBlock = kBase + 0x1000000,
                   kTable = kBase + 0x2000000, kData = 0x6000000000000000,
                   kNewTables = kBase + 0x3000000;

void add_section(Image& image, const char* name, uint64_t address,
                 std::span<const uint8_t> contents) {
  Section section;
  section.name = name;
  section.properties = Section::kAllocated;
  section.address = address;
  section.size = contents.size();
  section.contents = contents;
  image.sections.push_back(section);
  image.segments.push_back({.kind = Segment::Kind::loaded,
                            .offset = static_cast<uint64_t>(contents.data() - image.file.data()),
                            .address = address,
                            .file_size = contents.size(),
                            .memory_size = contents.size()});
}

/// The parts of an image without a file format, one after the other in `bytes`.
struct OneEntry {
  OneEntry(uint64_t bundles, std::span<const uint8_t> block) {
    ByteWriter out;
    for (const uint64_t word : {kText, kText + bundles * regions::kBundleSize, kBlock})
      out.write<uint64_t>(word - kBase);
    out.write<uint64_t>(kText);  // a procedure descriptor
    out.write<uint64_t>(kData);
    out.append(block);
    bytes = std::move(out.bytes());
    image.machine = MachineId::ia64;
    image.file = bytes;
    image.segments.push_back({.kind = Segment::Kind::unwind_table,
                              .address = kTable,
                              .file_size = regions::kEntrySize,
                              .memory_size = regions::kEntrySize});
    image.segments.push_back({.kind = Segment::Kind::loaded, .address = kBase});
    image.sections.emplace_back();
    const auto all = std::span<const uint8_t>(bytes);
    add_section(image, ".IA_64.unwind", kTable, all.first(regions::kEntrySize));
    add_section(image, ".opd", kData, all.subspan(regions::kEntrySize, 16));
    add_section(image, ".IA_64.unwind_info", kBlock, all.subspan(regions::kEntrySize + 16));
    image.index_sections();
  }
  Bytes bytes;
  Image image;
};

/// The unwind states at addresses, the call sites, and the parts that do not depend on where the
/// code is.
std::string text_of(const UnwindInput& input) {
  std::string text;
  for (const Fde& fde : input.fdes) {
    text += fmt::format("{:x}-{:x}", fde.start, fde.end);
    for (const Fde::Row& row : fde.rows)
      text += fmt::format("\n{:x}: {}", row.address,
                          unwind_regions_testing::text_of(input.tables.states[row.state]));
    if (fde.lsda == kNone) continue;
    const Lsda& lsda = input.tables.lsdas[fde.lsda];
    const Cie& cie = input.tables.cies[input.tables.states[fde.rows.front().state].cie];
    text += fmt::format("\n{} {:x} {}", cie.augmentation, cie.personality, sites_text(fde));
    const bool acts = std::any_of(fde.call_sites.begin(), fde.call_sites.end(),
                                  [](const Fde::CallSite& site) { return site.action != 0; });
    if (acts)
      text += fmt::format("{} {} {} {}", lsda.type_encoding, fmt::join(lsda.actions, ","),
                          fmt::join(lsda.types, ","), fmt::join(lsda.specifications, ","));
  }
  return text;
}

}  // namespace

FuzzResult check_unwind(std::span<const uint8_t> bytes) {
  FuzzResult result;
  if (bytes.size() < 2) return result;
  const uint64_t bundles = 1 + load<uint16_t>(bytes.data()) % 0x1000;
  const OneEntry entry(bundles, bytes.subspan(2));
  Ranges unreadable;
  const UnwindInput input = read_regions(entry.image, &unreadable);
  if (!unreadable.empty() || input.fdes.empty() || input.fdes[0].kept_lsda != 0) return result;
  result.depth = FuzzDepth::read;
  try {
    const auto written =
        write_regions(input.tables, all_ranges(input), region_bases(entry.image), kNewTables);
    const Rewritten rewritten(entry.image, written, kNewTables);
    const UnwindInput again = read_regions(rewritten.image, &unreadable);
    result.depth = FuzzDepth::rewritten;
    const std::string before = text_of(input), after = text_of(again);
    if (!unreadable.empty())
      result.finding = "what was written cannot be read:\n" + before;
    else if (before != after)
      result.finding = "before:\n" + before + "\nafter:\n" + after;
  } catch (const Error& error) {
    // Landing pads and types may be far from the new tables.
    if (std::string_view(error.what()).find("out of reach") == std::string_view::npos)
      result.finding = std::string(error.what()) + ":\n" + text_of(input);
  }
  return result;
}

}  // namespace respike

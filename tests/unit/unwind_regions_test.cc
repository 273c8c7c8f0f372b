// Reader and writer of unwind regions, with real programs and tables made by hand.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "optimizer/emit/unwind_regions_writer.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/lift/unwind_descriptor_reader.h"
#include "optimizer/lift/unwind_regions_reader.h"
#include "tests/unit/unwind_regions_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;
using namespace unwind_regions_testing;
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

/// Real programs, which lie packed beside the checkout; none where they are missing.
std::vector<std::string> packed_programs() {
  const char* folder = getenv("RESPIKE_IA64");
  const fs::path programs =
      folder != nullptr ? fs::path(folder) / "programs"
                        : fs::path(RESPIKE_SOURCE_DIR).parent_path() / "shared/ia64/programs";
  std::vector<std::string> result;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(programs, missing))
    if (entry.path().extension() == ".zst") result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

/// A program in a file of its own, while the object lives.
struct Unpacked {
  explicit Unpacked(const std::string& packed)
      : path(fmt::format("{}/unwind_regions_{}", testing::TempDir(), getpid())) {
    output_of(fmt::format("zstd -qdf '{}' -o '{}'", packed, path));
    fs::permissions(path, fs::perms::owner_all);
  }
  ~Unpacked() { fs::remove(path); }
  std::string path;
};

// ---- From what was read to what is written, and back

/// The ranges of an FDE in its place; `owner` keeps entries apart.
void append_ranges(const Fde& fde, uint32_t owner, std::vector<UnwindRange>& ranges) {
  std::vector<uint64_t> cuts = {fde.start, fde.end};
  for (const Fde::Row& row : fde.rows) cuts.push_back(row.address);
  for (const Fde::CallSite& site : fde.call_sites) cuts.insert(cuts.end(), {site.start, site.end});
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  size_t row = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    UnwindRange range{.start = cuts[i], .end = cuts[i + 1], .owner = owner};
    while (row + 1 < fde.rows.size() && fde.rows[row + 1].address <= range.start) ++row;
    range.state = fde.rows[row].state;
    range.lsda = fde.lsda;
    if (fde.lsda != kNone) {
      const auto site = std::find_if(
          fde.call_sites.begin(), fde.call_sites.end(),
          [&](const auto& s) { return s.start <= range.start && range.start < s.end; });
      range.terminate = site == fde.call_sites.end();
      if (!range.terminate) {
        range.landing_pad = site->landing_pad;
        range.action = site->action;
      }
    }
    ranges.push_back(range);
  }
}

std::vector<UnwindRange> all_ranges(const UnwindInput& input) {
  std::vector<UnwindRange> ranges;
  for (uint32_t i = 0; i < input.fdes.size(); ++i) append_ranges(input.fdes[i], i, ranges);
  return ranges;
}

/// An image with other tables, which are behind its own memory.
struct Rewritten {
  Rewritten(const Image& original, const UnwindRegionSections& tables, uint64_t address)
      : bytes(original.file.begin(), original.file.end()) {
    bytes.resize(align_up(bytes.size(), 16));
    const uint64_t offset = bytes.size();
    bytes.insert(bytes.end(), tables.information.begin(), tables.information.end());
    bytes.resize(offset + (tables.table_address - address));
    bytes.insert(bytes.end(), tables.table.begin(), tables.table.end());
    image.machine = original.machine;
    image.file = bytes;
    image.sections = original.sections;
    image.segments = original.segments;
    image.dynamic_entries = original.dynamic_entries;
    const uint64_t size = bytes.size() - offset;
    for (Segment& segment : image.segments)
      if (segment.unwind_table()) {
        segment.address = tables.table_address;
        segment.memory_size = tables.table.size();
      }
    image.segments.push_back({.type = 1,
                              .flags = 4,
                              .offset = offset,
                              .address = address,
                              .file_size = size,
                              .memory_size = size});
    Section section;
    section.name = "new";
    section.type = 1;
    section.flags = 2;
    section.address = address;
    section.size = size;
    section.contents = std::span(bytes).subspan(offset);
    image.sections.push_back(section);
    image.index_sections();
  }
  std::vector<uint8_t> bytes;
  Image image;
};

uint64_t address_behind(const Image& image) {
  uint64_t end = 0;
  for (const Segment& segment : image.segments)
    if (segment.loaded()) end = std::max(end, segment.address + segment.memory_size);
  return align_up(end, 0x10000);
}

/// Records that say the same: neighbours with equal landing pads and actions are one.
std::string sites_text(const Fde& fde) {
  std::string text;
  for (size_t i = 0; i < fde.call_sites.size(); ++i) {
    const Fde::CallSite& site = fde.call_sites[i];
    uint64_t end = site.end;
    while (i + 1 < fde.call_sites.size() && fde.call_sites[i + 1].start == end &&
           fde.call_sites[i + 1].landing_pad == site.landing_pad &&
           fde.call_sites[i + 1].action == site.action)
      end = fde.call_sites[++i].end;
    text += fmt::format("[{:x},{:x})->{:x}/{} ", site.start, end, site.landing_pad, site.action);
  }
  return text;
}

void expect_equal(const UnwindInput& a, const UnwindInput& b) {
  ASSERT_EQ(a.fdes.size(), b.fdes.size());
  for (size_t i = 0; i < a.fdes.size(); ++i) {
    const Fde &x = a.fdes[i], &y = b.fdes[i];
    ASSERT_EQ(x.start, y.start);
    ASSERT_EQ(x.end, y.end);
    ASSERT_EQ(x.rows.size(), y.rows.size()) << fmt::format("{:x}", x.start);
    for (size_t row = 0; row < x.rows.size(); ++row) {
      const CfiState& s = a.tables.states[x.rows[row].state];
      const CfiState& t = b.tables.states[y.rows[row].state];
      ASSERT_EQ(x.rows[row].address, y.rows[row].address) << fmt::format("{:x}", x.start);
      ASSERT_EQ(text_of(s), text_of(t)) << fmt::format("{:x}", x.rows[row].address);
      const Cie &c = a.tables.cies[s.cie], &d = b.tables.cies[t.cie];
      if (x.lsda != kNone) {
        ASSERT_EQ(c.augmentation, d.augmentation);
        ASSERT_EQ(c.personality, d.personality);
      }
    }
    ASSERT_EQ(x.lsda == kNone, y.lsda == kNone);
    ASSERT_EQ(sites_text(x), sites_text(y));
    if (x.lsda == kNone) continue;
    const Lsda &l = a.tables.lsdas[x.lsda], &m = b.tables.lsdas[y.lsda];
    const bool has_actions =
        std::any_of(x.call_sites.begin(), x.call_sites.end(),
                    [](const Fde::CallSite& site) { return site.action != 0; });
    if (has_actions) {
      ASSERT_EQ(l, m);
    }
  }
}

/// Each slot of each entry is in the state that readelf's listing makes it.
size_t expect_listed(const std::string& path, const UnwindInput& input) {
  const auto entries = parse_listing(output_of("ia64-linux-gnu-readelf -u '" + path + "'"));
  EXPECT_EQ(entries.size(), input.fdes.size());
  if (entries.size() != input.fdes.size()) return 0;
  size_t slots = 0, different = 0;
  for (size_t i = 0; i < entries.size() && different < 10; ++i) {
    const Fde& fde = input.fdes[i];
    EXPECT_EQ(fde.start, entries[i].start);
    EXPECT_EQ(fde.end, entries[i].end);
    EXPECT_EQ(fde.lsda != kNone, entries[i].handlers);
    const int64_t count = static_cast<int64_t>((fde.end - fde.start) / 16 * 3);
    size_t row = 0;
    for (int64_t slot = 0; slot < count && different < 10; ++slot, ++slots) {
      const uint64_t address =
          regions::slot_address(regions::slot_number(fde.start) + static_cast<uint64_t>(slot));
      while (row + 1 < fde.rows.size() && fde.rows[row + 1].address <= address) ++row;
      const std::string ours = text_of(input.tables.states[fde.rows[row].state]);
      const std::string theirs = ListedState::at(entries[i], slot);
      EXPECT_EQ(ours, theirs) << fmt::format("{:x} slot {} of {:x}", address, slot, fde.start);
      different += ours != theirs;
    }
  }
  return slots;
}

class UnwindRegions : public testing::Test {
 protected:
  void SetUp() override {
    if (system("ia64-linux-gnu-readelf --version > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "no binutils for IA-64";
  }
};

TEST_F(UnwindRegions, ReadAsListed) {
  const auto programs = packed_programs();
  if (programs.empty()) GTEST_SKIP() << "no real programs";
  for (const std::string& packed : programs) {
    SCOPED_TRACE(packed);
    const Unpacked program(packed);
    const Image image = read_image(program.path);
    Ranges unreadable;
    const UnwindInput input = read_unwind(image, &unreadable);
    EXPECT_TRUE(unreadable.empty());
    EXPECT_GT(expect_listed(program.path, input), 10000u);
  }
}

TEST_F(UnwindRegions, SurviveWritingAndReading) {
  const auto programs = packed_programs();
  if (programs.empty()) GTEST_SKIP() << "no real programs";
  for (const std::string& packed : programs) {
    SCOPED_TRACE(packed);
    const Unpacked program(packed);
    const Image image = read_image(program.path);
    const UnwindInput input = read_unwind(image);
    const uint64_t address = address_behind(image);
    const auto ranges = all_ranges(input);
    const auto written =
        write_unwind_regions(input.tables, ranges, {}, region_bases(image), address);
    const Rewritten rewritten(image, written, address);
    Ranges unreadable;
    expect_equal(input, read_unwind(rewritten.image, &unreadable));
    EXPECT_TRUE(unreadable.empty());
    const Section* before = image.section_at(read_region_entries(image).front().information);
    EXPECT_LE(written.information.size(), before->size);
  }
}

// ---- Programs run with new tables

constexpr const char* kEmulator = RESPIKE_BINARY_DIR "/respike-ia64";

/// The bundles of an image's code, by address.
bool may_end_in_call(const Image& image, uint64_t bundle) {
  constexpr unsigned kFirstWithBranch = 0x10;  // templates
  const auto bytes = image.bytes_at(bundle, 16);
  return !bytes || ((*bytes)[0] & 0x1f) >= kFirstWithBranch;
}

/// Ranges of procedures cut into pieces, as if they were split, though they stay in place. A call
/// is in the same piece as the place it returns to, since there unwinders look it up.
std::vector<UnwindRange> cut(const Image& image, std::vector<UnwindRange> ranges,
                             std::mt19937& random) {
  std::vector<UnwindRange> result;
  uint32_t owner = 0, last_owner = kNone;
  for (UnwindRange range : ranges) {
    if (range.owner != last_owner) ++owner;
    last_owner = range.owner;
    const uint64_t end = range.end;
    for (uint64_t at = align_up(range.start, 16); at < end; at += 16) {
      if (random() % 8 != 0 || may_end_in_call(image, at - 16)) continue;
      range.end = at;
      range.owner = owner;
      if (range.start < range.end) result.push_back(range);
      range.start = at;
      ++owner;
    }
    range.end = end;
    range.owner = owner;
    result.push_back(range);
  }
  return result;
}

/// Where tables can be in a file: behind the code.
uint64_t address_behind_code(const Image& image) {
  uint64_t end = 0;
  for (const Segment& segment : image.segments)
    if (segment.loaded() && segment.executable()) end = segment.address + segment.memory_size;
  return align_up(end, 0x10000);
}

/// Writes the program with other tables, in a segment whose program header was that of a note.
void put_tables(const Image& image, const UnwindRegionSections& written, uint64_t address,
                const std::string& path) {
  constexpr uint32_t kLoad = 1, kNote = 4, kReadable = 4;
  constexpr size_t kOffset = 8, kAddress = 16, kPhysical = 24, kFileSize = 32, kMemorySize = 40;
  std::vector<uint8_t> file(image.file.begin(), image.file.end());
  file.resize(align_up(file.size(), 0x10000));
  const uint64_t offset = file.size();
  file.insert(file.end(), written.information.begin(), written.information.end());
  file.resize(offset + written.table_address - address);
  file.insert(file.end(), written.table.begin(), written.table.end());
  const auto place = [&](size_t header, uint64_t from, uint64_t size) {
    store(&file[header + kOffset], offset + (from - address));
    for (const size_t field : {kAddress, kPhysical}) store(&file[header + field], from);
    for (const size_t field : {kFileSize, kMemorySize}) store(&file[header + field], size);
  };
  for (size_t i = 0; i < image.segments.size(); ++i) {
    const size_t header = load<uint64_t>(&file[32]) + i * 56;
    if (image.segments[i].unwind_table())
      place(header, written.table_address, written.table.size());
    if (image.segments[i].type != kNote) continue;
    store(&file[header], kLoad);
    store(&file[header + 4], kReadable);
    place(header, address, file.size() - offset);
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  fs::permissions(path, fs::perms::owner_all);
}

TEST_F(UnwindRegions, ProgramsRunWithNewTables) {
  if (!fs::exists(kEmulator)) GTEST_SKIP() << "no emulator for IA-64";
  const auto programs = packed_programs();
  const auto packed = std::find_if(programs.begin(), programs.end(), [](const std::string& p) {
    return fs::path(p).filename().string().starts_with("cxx");
  });
  if (packed == programs.end()) GTEST_SKIP() << "no real programs";
  const Unpacked program(*packed);
  const Image image = read_image(program.path);
  const UnwindInput input = read_unwind(image);
  const uint64_t address = address_behind_code(image);
  const std::string command = std::string("timeout 100 ") + kEmulator + " ";
  const std::string expected = output_of(command + program.path);
  EXPECT_NE(expected, "");
  const std::string path = program.path + ".new";
  std::mt19937 random(1);
  for (const bool pieces : {false, true}) {
    auto ranges = all_ranges(input);
    if (pieces) ranges = cut(image, std::move(ranges), random);
    const auto written =
        write_unwind_regions(input.tables, ranges, {}, region_bases(image), address);
    put_tables(image, written, address, path);
    EXPECT_EQ(output_of(command + path), expected);
  }
  // The test can fail: without tables no exception is caught.
  const auto none = write_unwind_regions(input.tables, {}, {}, region_bases(image), address);
  put_tables(image, none, address, path);
  EXPECT_NE(output_of(command + path), expected);
  fs::remove(path);
}

}  // namespace
}  // namespace respike

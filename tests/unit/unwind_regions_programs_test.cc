// Unwind regions of real programs: read and compared with readelf's listing, written and read
// again, and used by the programs' own unwinder.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tests/unit/folders.h"
#include "tests/unit/unwind_regions_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;
using namespace unwind_regions_testing;

/// Real programs, which lie packed beside the checkout; none if they are missing.
std::vector<std::string> packed_programs() {
  const char* folder = getenv("RESPIKE_IA64");
  const fs::path programs = folder != nullptr
                                ? fs::path(folder) / "programs"
                                : source_folder().parent_path() / "shared/ia64/programs";
  std::vector<std::string> result;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(programs, missing))
    if (entry.path().extension() == ".zst") result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

/// Unpacks a program into a file, which is removed with the object.
struct Unpacked {
  explicit Unpacked(const std::string& packed)
      : path(fmt::format("{}/unwind_regions_{}", testing::TempDir(), getpid())) {
    output_of(fmt::format("zstd -qdf '{}' -o '{}'", packed, path));
    fs::permissions(path, fs::perms::owner_all);
  }
  ~Unpacked() { fs::remove(path); }
  std::string path;
};

class UnwindRegionsPrograms : public testing::Test {
 protected:
  void SetUp() override {
    if (system("ia64-linux-gnu-readelf --version > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "no binutils for IA-64";
  }
};

TEST_F(UnwindRegionsPrograms, ReadAsListed) {
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

TEST_F(UnwindRegionsPrograms, SurviveWritingAndReading) {
  const auto programs = packed_programs();
  if (programs.empty()) GTEST_SKIP() << "no real programs";
  for (const std::string& packed : programs) {
    SCOPED_TRACE(packed);
    const Unpacked program(packed);
    const Image image = read_image(program.path);
    const UnwindInput input = read_unwind(image);
    const uint64_t address = address_behind(image);
    const auto ranges = all_ranges(input);
    const auto written = write_regions(input.tables, ranges, region_bases(image), address);
    const Rewritten rewritten(image, written, address);
    Ranges unreadable;
    expect_equal(input, read_unwind(rewritten.image, &unreadable));
    EXPECT_TRUE(unreadable.empty());
    const Section* before = image.section_at(read_region_entries(image).front().information);
    EXPECT_LE(written.information.size(), before->size);
  }
}

// ---- Programs run with new tables

const std::string kEmulator = build_folder() / "respike-ia64";

/// Says whether the bundle at an address may end with a call.
bool may_end_in_call(const Image& image, uint64_t bundle) {
  constexpr unsigned kFirstWithBranch = 0x10;  // templates
  const auto bytes = image.bytes_at(bundle, 16);
  return !bytes || ((*bytes)[0] & 0x1f) >= kFirstWithBranch;
}

/// Ranges of procedures, cut into pieces as if the procedures were split, though all code stays in
/// place. A call and its return point are in the same piece, since unwinders look the call up at
/// the return point.
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

/// The ranges with other states in the later slots of many bundles, to which no call returns. No
/// order of blocks makes wilder sequences of states.
std::vector<UnwindRange> disturbed(const UnwindTables& tables,
                                   const std::vector<UnwindRange>& ranges, std::mt19937& random) {
  std::map<uint32_t, std::vector<uint32_t>> alike;  // states by their CIE
  for (uint32_t state = 0; state < tables.states.size(); ++state)
    alike[tables.states[state].cie].push_back(state);
  std::vector<UnwindRange> result;
  for (UnwindRange range : ranges) {
    const uint64_t end = range.end;
    const uint32_t state = range.state;
    const auto& others = alike[tables.states[state].cie];
    for (uint64_t bundle = align_up(range.start, 16); bundle + 16 <= end; bundle += 16) {
      if (random() % 3 != 0) continue;
      const uint32_t other = others[random() % others.size()];
      const uint64_t cuts[] = {range.start, bundle + 1, bundle + 1 + random() % 2, bundle + 16};
      for (size_t i = 0; i < 3; ++i) {
        range.start = cuts[i];
        range.end = cuts[i + 1];
        range.state = i == 2 ? other : state;
        if (range.start < range.end) result.push_back(range);
      }
      range.start = bundle + 16;
      range.state = state;
    }
    range.end = end;
    if (range.start < range.end) result.push_back(range);
  }
  return result;
}

/// An address where a file has room for tables: after the code.
uint64_t address_behind_code(const Image& image) {
  uint64_t end = 0;
  for (const Segment& segment : image.segments)
    if (segment.loaded() && segment.executable()) end = segment.address + segment.memory_size;
  return align_up(end, 0x10000);
}

/// Writes the program with other tables, in a segment that gets the program header of a note.
void put_tables(const Image& image, const RegionSections& written, uint64_t address,
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
    if (image.segments[i].raw.type != kNote) continue;
    store(&file[header], kLoad);
    store(&file[header + 4], kReadable);
    place(header, address, file.size() - offset);
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  fs::permissions(path, fs::perms::owner_all);
}

TEST_F(UnwindRegionsPrograms, ProgramsRunWithNewTables) {
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
  for (int variant = 0; variant < 4; ++variant) {
    SCOPED_TRACE(variant);
    auto ranges = all_ranges(input);
    if ((variant & 1) != 0) ranges = cut(image, std::move(ranges), random);
    if ((variant & 2) != 0) ranges = disturbed(input.tables, ranges, random);
    const auto written = write_regions(input.tables, ranges, region_bases(image), address);
    put_tables(image, written, address, path);
    EXPECT_EQ(output_of(command + path), expected);
  }
  // The test can fail: without tables no exception is caught.
  const auto none = write_regions(input.tables, {}, region_bases(image), address);
  put_tables(image, none, address, path);
  EXPECT_NE(output_of(command + path), expected);
  fs::remove(path);
}

}  // namespace
}  // namespace respike

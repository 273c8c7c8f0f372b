// Reader and writer of unwind regions, with real programs and tables made by hand.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

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

}  // namespace
}  // namespace respike

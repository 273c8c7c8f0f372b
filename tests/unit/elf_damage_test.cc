// Damaged files: truncation at every length and random changes. Reading a file, and writing it if
// it could be read, ends in a result or in an Error. Under RESPIKE_SANITIZE the test also finds
// wrong accesses.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "elf_test_files.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"

namespace respike {
namespace {

constexpr int kChanges = 20000;

/// Reads `bytes` and rewrites the image. Says whether the image was readable.
bool exercise(std::vector<uint8_t> bytes) {
  const size_t size = bytes.size();
  try {
    const Image image = read_image(std::move(bytes), "damaged");
    try {
      require_rewritable(image);
    } catch (const Error&) {
    }
    EXPECT_LT(write_image(image, unchanged(image)).size(), 4 * size + (1 << 20));
    NewImage output = unchanged(image);
    const uint64_t address = plan_added_segment(image).free_address;
    output.added.push_back({".text.hot", Section::Kind::contents,
                            Section::kAllocated | Section::kExecutable, address, 16,
                            std::vector<uint8_t>(64)});
    // Offsets may agree with addresses modulo 64 KB only.
    EXPECT_LT(write_image(image, output).size(), 4 * size + (3 << 20));
    return true;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    EXPECT_EQ(error.file(), "damaged") << error.what();
    return false;
  }
}

/// The places where the file describes itself: a change there has more effect than a change of
/// code.
std::vector<std::pair<uint64_t, uint64_t>> metadata(const Image& image) {
  const uint64_t headers = load<uint64_t>(image.file.data() + 40);
  std::vector<std::pair<uint64_t, uint64_t>> result = {{0, 64 + 56 * image.segments.size()},
                                                       {headers, image.sections.size() * 64}};
  for (const Section& section : image.sections)
    if (!section.contents.empty() && !section.executable() && section.name != ".rodata")
      result.push_back({section.offset, std::min<uint64_t>(section.size, 4096)});
  return result;
}

void change_at_random(const std::filesystem::path& path, unsigned seed) {
  const auto good = bytes_of(path);
  const auto places = metadata(read_image(std::vector<uint8_t>(good), "good"));
  std::mt19937 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  int readable = 0;
  for (int i = 0; i < kChanges; ++i) {
    auto bytes = good;
    for (uint64_t changes = 1 + below(3); changes != 0; --changes) {
      const auto [start, size] = places[below(places.size())];
      uint8_t& byte = bytes[below(4) != 0 ? start + below(size) : below(bytes.size())];
      const uint8_t values[] = {0,
                                1,
                                0x7f,
                                0xff,
                                static_cast<uint8_t>(byte ^ 1 << below(8)),
                                static_cast<uint8_t>(random())};
      byte = values[below(std::size(values))];
    }
    readable += exercise(std::move(bytes));
  }
  EXPECT_GT(readable, kChanges / 20);
  EXPECT_LT(readable, kChanges);
}

TEST(ElfDamage, TruncationAtEveryLength) {
  const auto good = bytes_of(tiny_program());
  ASSERT_TRUE(exercise(good));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(exercise({good.begin(), good.begin() + size})) << size;
}

TEST(ElfDamage, RandomChangesToATinyProgram) {
  change_at_random(tiny_program(), 1);
}
TEST(ElfDamage, RandomChangesToADynamicProgram) {
  change_at_random(dynamic_program(), 2);
}

TEST(ElfDamage, ManyRelocationSectionsOverTheSameBytes) {
  auto bytes = bytes_of(tiny_program());
  const Image image = read_image(std::vector<uint8_t>(bytes), "good");
  ASSERT_FALSE(image.relocations.empty());
  const uint64_t headers = load<uint64_t>(bytes.data() + 40);
  const std::vector<uint8_t> header(
      bytes.begin() + headers + 64 * image.relocations[0].section,
      bytes.begin() + headers + 64 * image.relocations[0].section + 64);
  bytes.resize(headers + 64 * image.sections.size());
  for (int i = 0; i < 60000; ++i) bytes.insert(bytes.end(), header.begin(), header.end());
  store<uint16_t>(bytes.data() + 60, static_cast<uint16_t>(image.sections.size() + 60000));
  exercise(std::move(bytes));
}

}  // namespace
}  // namespace respike

// The provenance note, which also says which fragments belong together.

#include "optimizer/image/provenance.h"

#include <gtest/gtest.h>

namespace respike {
namespace {

Image image_with(const std::vector<uint8_t>& note) {
  Image image;
  image.path = "test";
  image.sections.emplace_back();
  Section& section = image.sections.emplace_back();
  section.name = kNoteSection;
  section.contents = note;
  section.size = note.size();
  return image;
}

Provenance example() {
  Provenance provenance;
  provenance.input_build_id = "00ff";
  provenance.options = "--layout random --seed 3";
  provenance.fragments = {{0x120001000, 0x120001040, 0x120002000},
                          {0x120001040, 0x120001044, 0x120000800},
                          {0x140000000, 0x140000010, 0x120000000}};
  provenance.gp_values = {{0x120000800, 0x130000000}, {0x120002000, 0x110000000}};
  provenance.far_stubs = {{0x120003000, 0x120003100}};
  provenance.dead_ends = {0x120001040, 0x120001080};
  provenance.hot_parts = {{{0x120000800, {0, 3}}, {0x120002000, {2}}}, {{0x120000800, {3}}}};
  provenance.left_out = {0x120000000};
  provenance.fingerprint = "0123abcd";
  return provenance;
}

TEST(Provenance, RoundTrip) {
  const auto note = encode_provenance(example());
  const auto read = read_provenance(image_with(note));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->options, "--layout random --seed 3");
  EXPECT_EQ(read->input_build_id, "00ff");
  ASSERT_EQ(read->fragments.size(), 3u);
  EXPECT_EQ(read->fragments[1].start, 0x120001040u);
  EXPECT_EQ(read->fragments[1].owner, 0x120000800u);
  EXPECT_EQ(read->fragments[2].owner, 0x120000000u);
  ASSERT_EQ(read->far_stubs.size(), 1u);
  EXPECT_EQ(read->far_stubs[0].end, 0x120003100u);
  ASSERT_EQ(read->gp_values.size(), 2u);
  EXPECT_EQ(read->gp_values[1].entry, 0x120002000u);
  EXPECT_EQ(read->gp_values[1].gp, 0x110000000u);
  EXPECT_EQ(read->dead_ends, example().dead_ends);
  ASSERT_EQ(read->hot_parts.size(), 2u);
  for (size_t round = 0; round < 2; ++round) {
    ASSERT_EQ(read->hot_parts[round].size(), 2 - round);
    for (size_t i = 0; i < read->hot_parts[round].size(); ++i) {
      EXPECT_EQ(read->hot_parts[round][i].entry, example().hot_parts[round][i].entry);
      EXPECT_EQ(read->hot_parts[round][i].blocks, example().hot_parts[round][i].blocks);
    }
  }
  EXPECT_EQ(read->left_out, example().left_out);
  EXPECT_EQ(read->fingerprint, "0123abcd");
}

/// The note as an older Respike wrote it: without the last bytes of the descriptor.
std::optional<Provenance> read_without(const Provenance& provenance, uint8_t bytes) {
  auto note = encode_provenance(provenance);
  const uint8_t padding = (4 - note[4] % 4) % 4;
  note[4] -= bytes;
  note.resize(note.size() - padding - bytes);
  note.resize(note.size() + (4 - note[4] % 4) % 4);
  return read_provenance(image_with(note));
}

TEST(Provenance, FingerprintMayBeAbsent) {
  const auto read = read_without(example(), 9);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->left_out, example().left_out);
  EXPECT_EQ(read->fingerprint, "");
}

TEST(Provenance, HotPartsMayBeAbsent) {
  Provenance provenance = example();
  provenance.hot_parts.clear();
  provenance.left_out.clear();
  provenance.fingerprint.clear();
  const auto read = read_without(provenance, 3);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->dead_ends, example().dead_ends);
  EXPECT_TRUE(read->hot_parts.empty());
}

TEST(Provenance, AbsentWithoutTheSection) {
  Image image;
  image.sections.emplace_back();
  EXPECT_FALSE(read_provenance(image));
}

TEST(Provenance, TruncationIsAnError) {
  const auto note = encode_provenance(example());
  // The last four bytes may be padding of the note. Lists at the end may be absent, but then the
  // note's size is also smaller.
  for (size_t size = 0; size + 4 < note.size(); ++size) {
    const std::vector<uint8_t> part(note.begin(), note.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_THROW(read_provenance(image_with(part)), Error) << size;
  }
}

}  // namespace
}  // namespace respike

// Pieces of moved code, and the questions that debug information asks about them.

#include <gtest/gtest.h>

#include "optimizer/debug/address_map.h"

namespace respike {
namespace {

using Range = AddressMap::Range;
using Ranges = std::vector<Range>;

/// A procedure [0x1000, 0x1040) of three blocks, in two fragments:
///   [0x1000, 0x1010) -> 0x5000; its last instruction, of 6 bytes, takes 2 now, and a branch of
///                       2 bytes to 0x1030 follows the instruction
///   [0x1030, 0x1040) -> 0x500e, after padding
///   [0x1010, 0x1030) -> 0x7000; [0x1018, 0x1020) was removed
AddressMap small_map() {
  std::vector<MovedPiece> pieces;
  PieceBuilder first(pieces, 0);
  first.start_block(0x1000, false);
  first.add(0x5000, 0x5004, 0x1000, 0x1004);
  first.add(0x5004, 0x500a, 0x1004, 0x100a);
  first.add(0x500a, 0x500c, 0x100a, 0x1010);
  first.add_in_front(0x500c);
  first.end_block(0x500e, std::pair<uint64_t, uint64_t>(0x1030, 0x1034));
  first.start_block(0x1030, false);
  first.add(0x5010, 0x5014, 0x1030, 0x1034);
  first.add(0x5014, 0x5020, 0x1034, 0x1040);
  first.end_block(0x5020, std::nullopt);
  PieceBuilder second(pieces, 1);
  second.start_block(0x1010, false);
  second.add(0x7000, 0x7008, 0x1010, 0x1018);
  second.add(0x7008, 0x7018, 0x1020, 0x1030);
  second.end_block(0x7018, std::nullopt);
  return AddressMap(pieces, {{0x1000, 0x1040}}, {{0x1000, 0x2000}});
}

TEST(AddressMap, PiecesHoldWhatMovesTogether) {
  const AddressMap map = small_map();
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const MovedPiece& piece : map.pieces())
    places.emplace_back(piece.new_start, piece.old_start);
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {{0x5000, 0x1000}, {0x500a, 0x100a},
                                                               {0x500c, 0x1030}, {0x5010, 0x1030},
                                                               {0x7000, 0x1010}, {0x7008, 0x1020}};
  EXPECT_EQ(places, expected);
}

TEST(AddressMap, RangesAreCutAndJoined) {
  const AddressMap map = small_map();
  const auto ranges = [&](uint64_t start, uint64_t end) {
    Ranges result;
    map.find_ranges(start, end, result);
    return result;
  };
  EXPECT_EQ(ranges(0x1000, 0x1040), (Ranges{{0x5000, 0x5020}, {0x7000, 0x7018}}));
  EXPECT_EQ(ranges(0x1004, 0x100a), (Ranges{{0x5004, 0x500a}}));
  EXPECT_EQ(ranges(0x1008, 0x1014), (Ranges{{0x5008, 0x500c}, {0x7000, 0x7004}}));
  EXPECT_EQ(ranges(0x1018, 0x1020), Ranges{}) << "it was removed";
  EXPECT_EQ(ranges(0x1014, 0x1024), (Ranges{{0x7004, 0x700c}}));
  EXPECT_EQ(ranges(0x1038, 0x1048), (Ranges{{0x1040, 0x1048}, {0x5018, 0x5020}}))
      << "what is in no movable procedure stays";
  EXPECT_EQ(ranges(0x1800, 0x1900), (Ranges{{0x1800, 0x1900}}));
  EXPECT_EQ(ranges(0x100c, 0x1010), (Ranges{{0x500a, 0x500c}})) << "a part of a resized one";
}

TEST(AddressMap, TheFirstRangeStartsAtTheEntry) {
  std::vector<MovedPiece> pieces;
  PieceBuilder builder(pieces, 0);
  builder.start_block(0x1010, false);
  builder.add(0x5000, 0x5008, 0x1010, 0x1018);
  builder.end_block(0x5008, std::nullopt);
  builder.start_block(0x1000, false);
  builder.add(0x5008, 0x5018, 0x1000, 0x1010);
  builder.end_block(0x5018, std::nullopt);
  const AddressMap map(pieces, {{0x1000, 0x1018}}, {{0x1000, 0x2000}});
  Ranges result;
  map.find_ranges_of_entry(0x1000, 0x1018, result);
  EXPECT_EQ(result, (Ranges{{0x5008, 0x5018}, {0x5000, 0x5008}}));
}

TEST(AddressMap, AddressesOfInstructions) {
  const AddressMap map = small_map();
  EXPECT_EQ(map.find(0x1000), 0x5000);
  EXPECT_EQ(map.find(0x1006), 0x5006);
  EXPECT_EQ(map.find(0x100a), 0x500a);
  EXPECT_EQ(map.find(0x1030), 0x5010) << "not the branch to it";
  EXPECT_EQ(map.find(0x1018), 0x7008) << "removed: the next of its block";
  EXPECT_EQ(map.find(0x1900), 0x1900);
  EXPECT_EQ(map.find_behind(0x1010), 0x500c);
  EXPECT_EQ(map.find_behind(0x1004), 0x5004);
  EXPECT_EQ(map.find_behind(0x1040), 0x5020);
  EXPECT_EQ(map.find_behind(0x1020), std::nullopt) << "the call was removed";
}

TEST(AddressMap, OfCopiesTheFirstCounts) {
  std::vector<MovedPiece> pieces;
  PieceBuilder copy(pieces, 0);
  copy.start_block(0x1000, true);
  copy.add(0x4000, 0x4010, 0x1000, 0x1010);
  copy.end_block(0x4010, std::nullopt);
  PieceBuilder builder(pieces, 1);
  builder.start_block(0x1000, false);
  builder.add(0x5000, 0x5010, 0x1000, 0x1010);
  builder.end_block(0x5010, std::nullopt);
  const AddressMap map(pieces, {{0x1000, 0x1010}}, {{0x1000, 0x2000}});
  EXPECT_EQ(map.find(0x1004), 0x5004);
  Ranges ranges;
  map.find_ranges(0x1004, 0x1008, ranges);
  EXPECT_EQ(ranges, (Ranges{{0x4004, 0x4008}, {0x5004, 0x5008}}));
}

TEST(AddressMap, CodeOfTheRewriterBelongsToWhatFollows) {
  std::vector<MovedPiece> pieces;
  PieceBuilder builder(pieces, 0);
  builder.start_block(0x1000, false);
  builder.add_in_front(0x5000);
  builder.add_in_front(0x5004);
  builder.add(0x5008, 0x500c, 0x1000, 0x1004);
  builder.add(0x500c, 0x5010, 0x1004, 0x1008);
  builder.end_block(0x5010, std::nullopt);
  const AddressMap map(pieces, {{0x1000, 0x1008}}, {{0x1000, 0x2000}});
  EXPECT_EQ(map.find(0x1000), 0x5000);
  EXPECT_EQ(map.find(0x1004), 0x500c);
  EXPECT_EQ(map.find_behind(0x1004), 0x500c);
}

}  // namespace
}  // namespace respike

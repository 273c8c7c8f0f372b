// Counter maps as bytes, and in images.

#include "instrument/counter_map.h"

#include <gtest/gtest.h>

#include "elf_test_files.h"
#include "optimizer/profile/solve_flow.h"
#include "tests/unit/format_damage.h"

namespace respike {
namespace {

CounterMap random_map(Random& random) {
  ToyOptions options;
  options.pads = 4;
  options.fatals = 10;
  options.jumps = 10;
  CounterMap map = counter_map_of(random_toy(random, options), random);
  map.original_build_id = "abcd";
  map.atomic = one_in(random, 2);
  for (auto& procedure : map.procedures) {
    for (auto& block : procedure.blocks)
      if (one_in(random, 5)) block.node = kNone;
    for (auto& call : procedure.calls)
      if (call.callee == kNone && one_in(random, 2)) call.address = random();
    for (BlockId b = 0; b < procedure.graph.blocks; ++b)
      if (one_in(random, 5)) {
        procedure.indirect.push_back({b, map.counters});
        map.counters += 2;
      }
    // A block with a system call.
    if (one_in(random, 3))
      procedure.graph.edges.push_back({procedure.graph.outside(), procedure.graph.out(0),
                                       FlowEdge::Kind::leak, map.counters++});
  }
  uint64_t address = 0x120000000;
  for (int i = 0; i < 20; ++i) {
    address += 4 + below(random, 100);
    map.places.push_back({address, one_in(random, 2) ? address + 0x1000 : random()});
  }
  for (uint64_t i = below(random, 3); i > 0; --i) map.left_out.push_back({"left_out", random()});
  return map;
}

std::string error_of(const std::vector<uint8_t>& bytes) {
  try {
    decode_counter_map(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CounterMap, RoundTrip) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const CounterMap map = random_map(random);
    const std::vector<uint8_t> bytes = encode_counter_map(map);
    EXPECT_TRUE(decode_counter_map(bytes) == map) << seed;
    EXPECT_EQ(encode_counter_map(map), bytes);
  }
  EXPECT_TRUE(decode_counter_map(encode_counter_map({})) == CounterMap{});
}

TEST(CounterMap, DamageIsRefused) {
  Random random(1);
  const std::vector<uint8_t> bytes = encode_counter_map(random_map(random));
  expect_damage_refused(bytes, error_of, random);
}

/// Whatever the bytes are, a map that can be decoded is sound.
TEST(CounterMap, DamageUnderARightChecksum) {
  Random random(2);
  const std::vector<uint8_t> bytes = encode_counter_map(random_map(random));
  damage_below_checksum(
      bytes, error_of, random, [](const std::vector<uint8_t>& damaged, const std::string& error) {
        if (!error.empty()) {
          EXPECT_TRUE(error.starts_with("the counter map is damaged: ")) << error;
          return;
        }
        const CounterMap map = decode_counter_map(damaged);
        const std::vector<uint64_t> counters(map.counters < 1'000'000 ? map.counters : 0);
        if (counters.size() < map.counters) return;
        for (const auto& procedure : map.procedures)
          EXPECT_TRUE(solve_flow(procedure.graph, counters).solvable);
      });
}

TEST(CounterMap, MissingCountersAreRefused) {
  Random random(3);
  CounterMap map = random_map(random);
  for (FlowEdge& edge : map.procedures[0].graph.edges) edge.counter = kNone;
  EXPECT_EQ(error_of(encode_counter_map(map)),
            "the counter map is damaged: counters are missing in the flow graph of a procedure");
}

TEST(CounterMap, IdentitiesDependOnEverything) {
  const std::vector<uint8_t> a = {1, 2, 3}, b = {1, 2, 4};
  const ImageId id = make_image_id(a, "options", b);
  EXPECT_EQ(make_image_id(a, "options", b), id);
  EXPECT_NE(make_image_id(b, "options", b), id);
  EXPECT_NE(make_image_id(a, "option", b), id);
  EXPECT_NE(make_image_id(a, "options", a), id);
  const auto section = counter_map_section(id, b);
  ASSERT_EQ(section.size(), id.size() + b.size());
  EXPECT_TRUE(std::equal(id.begin(), id.end(), section.begin()));
}

TEST(CounterMap, ImagesWithoutOne) {
  const Image image = read_image(tiny_program());
  EXPECT_THROW(read_counter_map(image), Error);
  try {
    read_image_id(image);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("this is not an instrumented image"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace respike

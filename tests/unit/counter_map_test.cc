// The counter map as bytes, and in images.

#include "instrument/counter_map.h"

#include <gtest/gtest.h>

#include "elf_test_files.h"
#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/profile/solve_flow.h"
#include "tests/unit/flow_testing.h"

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
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(error_of({bytes.begin(), bytes.begin() + static_cast<long>(size)}), "") << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= static_cast<uint8_t>(1 + below(random, 255));
    EXPECT_NE(error_of(damaged), "") << i;
  }
}

/// What is decoded is sound, whatever the bytes.
TEST(CounterMap, DamageUnderARightChecksum) {
  Random random(2);
  const std::vector<uint8_t> bytes = encode_counter_map(random_map(random));
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto damaged = bytes;
    for (uint32_t n = 1 + below(random, 3); n-- > 0;)
      damaged[24 + below(random, static_cast<uint32_t>(damaged.size() - 24))] =
          static_cast<uint8_t>(random());
    store(damaged.data() + 16, hash64(std::span(damaged).subspan(24)));
    const std::string error = error_of(damaged);
    if (!error.empty()) {
      ++refused;
      EXPECT_TRUE(error.starts_with("the counter map is damaged: ")) << error;
      continue;
    }
    const CounterMap map = decode_counter_map(damaged);
    const std::vector<uint64_t> counters(map.counters < 1'000'000 ? map.counters : 0);
    if (counters.size() < map.counters) continue;
    for (const auto& procedure : map.procedures)
      EXPECT_TRUE(solve_flow(procedure.graph, counters).solvable);
  }
  EXPECT_GT(refused, 1000);
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

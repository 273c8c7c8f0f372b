// Makes profiles of counter files, and refuses other files.

#include "instrument/collect.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "elf_test_files.h"
#include "tests/unit/flow_testing.h"

namespace respike {
namespace {

using Bytes = std::vector<uint8_t>;

struct Toy {
  explicit Toy(uint64_t seed) : random(seed) {
    ToyOptions options;
    options.unknown_throws = 20;
    options.pads = 4;
    program = random_toy(random, options);
    map = counter_map_of(program, random);
    machine.emplace(program, map, options, random);
  }
  Random random;
  std::vector<ToyProcedure> program;
  CounterMap map;
  std::optional<ToyMachine> machine;
};

respike_counter_header header_of(const ImageId& id, const std::string& image, size_t counters) {
  respike_counter_header header = {};
  std::memcpy(header.magic, RESPIKE_COUNTER_FILE_MAGIC, sizeof header.magic);
  header.version = RESPIKE_COUNTER_FILE_VERSION;
  header.header_size = 8192;
  header.counters_size = counters * 8;
  std::copy(id.begin(), id.end(), header.image_id);
  header.process_id = 17;
  header.counters_address = 0x120000000;
  std::copy(image.begin(), image.end(), header.image_path);
  return header;
}

Bytes file_of(const respike_counter_header& header, const std::vector<uint64_t>& counters) {
  Bytes bytes(8192 + counters.size() * 8);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!counters.empty()) std::memcpy(bytes.data() + 8192, counters.data(), counters.size() * 8);
  return bytes;
}

void write_bytes(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
}

/// An image that holds the map.
std::filesystem::path image_with(const CounterMap& map, const ImageId& id,
                                 const std::string& name) {
  const auto path = test_directory() / name, section = test_directory() / (name + ".section");
  write_bytes(section, counter_map_section(id, encode_counter_map(map)));
  const auto result =
      run("alpha-linux-gnu-objcopy --add-section .respike.counters=" + section.string() + " " +
          tiny_program().string() + " " + path.string());
  EXPECT_EQ(result.status, 0) << result.output;
  return path;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

CounterFile counters_file(const CounterMap& map, std::vector<uint64_t> counters) {
  CounterFile file;
  file.path = "file";
  file.counters_address = map.counters_address;
  file.words = counters.size();
  file.counters = std::move(counters);
  return file;
}

// ---- profiles ----

TEST(Collect, CountsAreThoseOfTheRuns) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Toy toy(seed);
    CounterSum sum(toy.map);
    constexpr int kRuns = 3;
    std::vector<uint64_t> before(toy.map.counters);
    for (int run = 0; run < kRuns; ++run) {
      toy.machine->run();
      const auto after = toy.machine->counters();
      std::vector<uint64_t> counters(after.size() + 100);  // whole pages
      for (size_t i = 0; i < after.size(); ++i) counters[i] = after[i] - before[i];
      before = after;
      sum.add(counters_file(toy.map, counters));
    }
    if (toy.machine->killed) continue;
    const Profile profile = sum.profile();
    EXPECT_EQ(profile.runs, kRuns);
    EXPECT_EQ(profile.image_hash, toy.map.original_hash);
    ASSERT_EQ(profile.procedures.size(), toy.program.size());
    for (size_t p = 0; p < toy.program.size(); ++p) {
      const ProcedureProfile& procedure = profile.procedures[p];
      if (!procedure.exact) continue;
      const auto& truth = toy.machine->counts[p];
      for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
        EXPECT_EQ(procedure.blocks[b].count, truth[b]);
        uint64_t in = 0, entries = 0;
        for (const auto& edge : procedure.edges)
          if (edge.to == b && edge.kind != ProcedureProfile::Edge::Kind::landing_pad)
            in += edge.count;
        const FlowGraph& graph = toy.map.procedures[p].graph;
        for (uint32_t e = 0; e < truth.size(); ++e)
          if (graph.edges[e].kind == FlowEdge::Kind::entry && graph.edges[e].to == graph.in(b))
            entries = truth[e];
        EXPECT_EQ(in + entries, truth[b]) << seed << " " << p << " " << b;
      }
      for (const auto& call : procedure.calls)
        EXPECT_EQ(call.count, procedure.blocks[call.block].count);
    }
  }
}

/// Two jumps through one hub: the sums are right on both sides of the hub.
/// Each thread has a copy of the counters; the last one may be growing.
TEST(Collect, CopiesAreAddedUp) {
  const std::vector<uint64_t> counters = {1, 2, 3, 10, 20, 30, 100, 200};
  respike_counter_header header = header_of({}, "image", 3);
  EXPECT_THROW(decode_counter_file(file_of(header, counters), "file"), Error);
  header.flags = RESPIKE_COUNTERS_COPIED;
  const CounterFile file = decode_counter_file(file_of(header, counters), "file");
  EXPECT_EQ(file.words, 3u);
  EXPECT_EQ(file.counters, counters);
  EXPECT_THROW(decode_counter_file(file_of(header, {1, 2}), "file"), Error);
  header.header_size = 4608;
  EXPECT_THROW(decode_counter_file(file_of(header, counters), "file"), Error);
  header.header_size = 8192;
  header.counters_size = 0;
  EXPECT_THROW(decode_counter_file(file_of(header, counters), "file"), Error);

  CounterMap map;
  map.counters = 3;
  map.procedures.emplace_back().name = "f";
  map.procedures.back().graph.blocks = 1;
  map.procedures.back().blocks.resize(1);
  map.procedures.back().graph.edges.push_back({.from = 0, .to = 1, .counter = 1});
  CounterSum sum(map);
  sum.add(file);
  const Profile profile = sum.profile();
  EXPECT_EQ(profile.runs, 1);
  EXPECT_EQ(profile.procedures.at(0).blocks.at(0).count, 22u);
}

TEST(Collect, HubsAreDivided) {
  CounterMap map;
  map.procedures.resize(1);
  auto& procedure = map.procedures[0];
  FlowGraph& g = procedure.graph;
  using Kind = FlowEdge::Kind;
  g.blocks = 4;
  g.hubs = 1;
  procedure.blocks.resize(4);
  for (BlockId b = 0; b < 4; ++b) g.edges.push_back({g.in(b), g.out(b), Kind::block, b});
  g.edges.push_back({g.hub(0), g.in(2), Kind::indirect, 2});
  g.edges.push_back({g.hub(0), g.in(3), Kind::indirect, 3});
  g.edges.push_back({g.out(0), g.hub(0), Kind::indirect, 0});
  g.edges.push_back({g.out(1), g.hub(0), Kind::indirect, 1});
  g.edges.push_back({g.outside(), g.in(0), Kind::entry, 0});
  g.edges.push_back({g.outside(), g.in(1), Kind::entry, 1});
  g.edges.push_back({g.out(2), g.outside(), Kind::exit, 2});
  g.edges.push_back({g.out(3), g.outside(), Kind::exit, 3});
  map.counters = 4;
  for (const auto& [a, b, c] : {std::tuple<uint64_t, uint64_t, uint64_t>{10, 5, 7},
                                {1, 1, 1},
                                {0, 9, 4},
                                {UINT64_MAX / 4, UINT64_MAX / 4, 3}}) {
    CounterSum sum(map);
    sum.add(counters_file(map, {a, b, c, a + b - c}));
    const ProcedureProfile result = sum.profile().procedures[0];
    ASSERT_EQ(result.edges.size(), 4u);
    EXPECT_EQ(result.edges[0].count + result.edges[1].count, a);  // 0 -> 2, 0 -> 3
    EXPECT_EQ(result.edges[2].count + result.edges[3].count, b);
    EXPECT_EQ(result.edges[0].count + result.edges[2].count, c);
    EXPECT_TRUE(result.exact);
  }
}

TEST(Collect, TargetsOfIndirectJumps) {
  Toy toy(1);
  CounterMap& map = toy.map;
  map.places = {{0x120001000, 0x120005000}, {0x120002000, 0x120006000}};
  map.procedures[2].indirect = {{0, map.counters}, {1, map.counters + 2}};
  const uint32_t site = map.counters;
  map.counters += 4;
  CounterSum sum(map);
  std::vector<uint64_t> counters(map.counters);
  counters[site] = 0x120001000;
  counters[site + 1] = 3;
  sum.add(counters_file(map, counters));
  CounterFile elsewhere = counters_file(map, counters);  // loaded at another address
  elsewhere.counters_address += 0x55000000;
  elsewhere.counters[site] += 0x55000000 + 0x1000;
  elsewhere.counters[site + 2] = 0x777;  // outside
  elsewhere.counters[site + 3] = 9;
  sum.add(elsewhere);
  sum.add(elsewhere);
  const Profile profile = sum.profile();
  EXPECT_EQ(profile.procedures[2].indirect,
            (std::vector<ProcedureProfile::IndirectTarget>{
                {0, 0x120005000, 3}, {0, 0x120006000, 6}, {1, 0, 18}}));
}

TEST(Collect, AnyCountersGiveAProfile) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Toy toy(500 + seed);
    std::vector<uint64_t> counters(toy.map.counters);
    for (uint64_t& counter : counters)
      counter = one_in(toy.random, 3) ? toy.random() : below(toy.random, 100);
    CounterSum sum(toy.map);
    sum.add(counters_file(toy.map, counters));
    const Profile profile = sum.profile();
    for (const auto& procedure : profile.procedures)
      for (const auto& block : procedure.blocks) EXPECT_LE(block.count, uint64_t{INT64_MAX});
    EXPECT_EQ(decode_profile(encode_profile(profile), "p"), profile);
  }
}

// ---- files ----

class CollectFiles : public testing::Test {
 protected:
  CollectFiles() : toy_(7) {
    id_.fill(0x5a);
    image_ = image_with(toy_.map, id_, "instrumented");
    toy_.machine->run();
    counters_ = toy_.machine->counters();
    counters_.resize(1024);
    header_ = header_of(id_, image_, counters_.size());
  }

  std::filesystem::path write(const std::string& name, const Bytes& bytes) {
    const auto path = test_directory() / name;
    write_bytes(path, bytes);
    return path;
  }
  std::filesystem::path good(const std::string& name) {
    return write(name, file_of(header_, counters_));
  }
  std::string error(const Bytes& bytes) {
    const auto path = write("damaged", bytes);
    std::string text = error_of([&] { collect(std::vector{path}, std::nullopt); });
    const std::string prefix = path.string() + ": ";
    EXPECT_TRUE(text.starts_with(prefix)) << text;
    return text.substr(std::min(prefix.size(), text.size()));
  }

  Toy toy_;
  ImageId id_;
  std::filesystem::path image_;
  std::vector<uint64_t> counters_;
  respike_counter_header header_;
};

TEST_F(CollectFiles, FindTheirImage) {
  const Profile one = collect(std::vector{good("one")}, std::nullopt);
  EXPECT_EQ(one.runs, 1);
  EXPECT_EQ(one.image_path, toy_.map.original_path);
  const Profile two = collect(std::vector{good("one"), good("two")}, std::nullopt);
  EXPECT_EQ(two.runs, 2);
  for (size_t p = 0; p < one.procedures.size(); ++p)
    for (size_t b = 0; b < one.procedures[p].blocks.size(); ++b)
      if (two.procedures[p].exact) {
        EXPECT_EQ(two.procedures[p].blocks[b].count, 2 * one.procedures[p].blocks[b].count);
      }
}

TEST_F(CollectFiles, ImageElsewhere) {
  const auto moved = test_directory() / "moved";
  std::filesystem::copy_file(image_, moved, std::filesystem::copy_options::overwrite_existing);
  std::fill(std::begin(header_.image_path), std::end(header_.image_path), '\0');
  const std::string absent = "/nowhere/image";
  std::copy(absent.begin(), absent.end(), header_.image_path);
  const auto file = good("elsewhere");
  EXPECT_EQ(collect(std::vector{file}, moved).runs, 1);
  EXPECT_EQ(error_of([&] { collect(std::vector{file}, std::nullopt); }),
            "/nowhere/image: the file does not exist; " + file.string() +
                " names it as its image: if it is elsewhere, give it with --image");
  header_.image_path[0] = '\0';
  EXPECT_EQ(error(file_of(header_, counters_)),
            "the counter file does not name its image: give it with --image");
}

TEST_F(CollectFiles, OfAnotherImage) {
  const auto file = good("ours");
  ImageId other = id_;
  other[3] ^= 1;
  const auto foreign = image_with(toy_.map, other, "other");
  EXPECT_NE(error_of([&] {
              collect(std::vector{file}, foreign);
            }).find("this is not the image that wrote"),
            std::string::npos);
  header_ = header_of(other, foreign, counters_.size());
  const auto theirs = good("theirs");
  EXPECT_EQ(error_of([&] {
              collect(std::vector{file, theirs}, std::nullopt);
            }),
            theirs.string() + ": it is of another image than " + file.string());
  EXPECT_NE(error_of([&] {
              collect(std::vector{file}, tiny_program());
            }).find("this is not an instrumented image"),
            std::string::npos);
  header_ = header_of(id_, tiny_program(), counters_.size());
  const auto misled = good("misled");
  const std::string text = error_of([&] { collect(std::vector{misled}, std::nullopt); });
  EXPECT_NE(text.find("this is not an instrumented image; "), std::string::npos) << text;
  EXPECT_NE(text.find("give it with --image"), std::string::npos) << text;
}

TEST_F(CollectFiles, ThatAreDamaged) {
  const Bytes bytes = file_of(header_, counters_);
  EXPECT_EQ(error({}), "this is not a counter file");
  EXPECT_EQ(error(Bytes(10000)), "this is not a counter file");
  EXPECT_EQ(error({bytes.begin(), bytes.begin() + 100}), "the counter file ends in its header");
  EXPECT_EQ(error({bytes.begin(), bytes.end() - 8}),
            "the counter file is damaged: it should have 8192 bytes of counters and has 8184");
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_NE(error(longer).find("should have 8192 bytes"), std::string::npos);

  const auto changed = [&](auto change) {
    respike_counter_header header = header_;
    change(header);
    return error(file_of(header, counters_));
  };
  EXPECT_EQ(changed([](auto& h) { h.version = 9; }),
            "the counter file is of version 9, this Respike reads version 1 (at offset 0x8)");
  for (const uint32_t size : {0u, 100u, 0x7fffffffu, 0xffffffffu})
    EXPECT_EQ(changed([&](auto& h) { h.header_size = size; }),
              "the counter file is damaged: the size of its header is wrong (at offset 0xc)");
  for (const uint64_t size : {uint64_t{0}, uint64_t{7}, UINT64_MAX, UINT64_MAX - 7})
    EXPECT_NE(changed([&](auto& h) { h.counters_size = size; }).find("it should have"),
              std::string::npos);
  EXPECT_EQ(changed([](auto& h) { std::fill_n(h.image_path, sizeof h.image_path, 'x'); }),
            "the counter file is damaged: the path of its image has no end (at offset 0x48)");
  respike_counter_header few = header_;
  few.counters_size = 8;
  EXPECT_NE(error(file_of(few, {1})).find("the counter file is damaged: its image has"),
            std::string::npos);
}

TEST_F(CollectFiles, OfProcessesThatDidNotBegin) {
  const auto empty = write("empty", {}), zeros = write("zeros", Bytes(10000));
  Diagnostics diagnostics;
  const auto one = good("one");
  EXPECT_EQ(files_with_headers(std::vector{empty, one, zeros}, diagnostics), std::vector{one});
  ASSERT_EQ(diagnostics.warnings().size(), 1U);
  EXPECT_EQ(diagnostics.warnings()[0],
            "2 counter files are left out: their processes did not begin to count");
  EXPECT_EQ(error_of([&] { files_with_headers(std::vector{zeros}, diagnostics); }),
            zeros.string() + ": its process did not begin to count");
}

TEST_F(CollectFiles, ThatAreNone) {
  EXPECT_EQ(error_of([&] { collect(std::vector<std::filesystem::path>{"/nowhere/file"}, {}); }),
            "/nowhere/file: the file does not exist");
  EXPECT_EQ(error_of([&] { collect(std::vector{test_directory()}, {}); }),
            test_directory().string() + ": this is a directory, not a file");
  EXPECT_EQ(error_of([&] { collect(std::vector<std::filesystem::path>{"/dev/null"}, {}); }),
            "/dev/null: this is not a regular file");
  EXPECT_EQ(error_of([&] { collect(std::vector<std::filesystem::path>{}, {}); }),
            "there is no counter file");
}

}  // namespace
}  // namespace respike

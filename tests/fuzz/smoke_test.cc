// Puts a fixed number of structured mutations of small images through reading, lifting and
// rewriting: the work of the fuzzers, which run for hours, in seconds and in every build.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/pipeline.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/debug_seeds.h"
#include "tests/fuzz/image_mutator.h"
#include "tests/fuzz/unwind_seeds.h"
#include "tests/unit/profile_testing.h"
#include "tests/unit/temporary_folder.h"

namespace respike {
namespace {

constexpr size_t kMostBytes = 200'000;
constexpr std::clock_t kLongest = 10 * CLOCKS_PER_SEC;  // processor time for one input

using Bytes = std::vector<uint8_t>;

Bytes rewritten(const Bytes& bytes, OptimizeOptions::Order order) {
  OptimizeOptions options;
  options.order = order;
  Diagnostics diagnostics;
  return optimize(view_image(bytes, "seed"), options, diagnostics).bytes;
}

/// The images that make-seeds.sh compiles.
struct Seeds {
  std::vector<Bytes> alpha, ia64, x86_64, pe, ecoff;  // with the outputs of rewriting these images
  std::vector<Bytes> descriptors;                     // of the Itanium images
  std::vector<Bytes> debug;                           // debug sections

  /// The images of a kind, by the start of their names in make-seeds.sh.
  std::vector<Bytes>& of(const std::string& name) {
    const std::string kind = name.substr(0, name.find('.'));
    return kind == "ia64"     ? ia64
           : kind == "x86_64" ? x86_64
           : kind == "pe"     ? pe
           : kind == "ecoff"  ? ecoff
                              : alpha;
  }
};

Seeds make_seeds() {
  const TemporaryFolder folder;
  const std::string command =
      RESPIKE_SOURCE_DIR "/tests/fuzz/make-seeds.sh " + folder.path().string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::set<std::filesystem::path> paths;  // sorted: the same order everywhere
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    paths.insert(entry.path());
  Seeds seeds;
  for (const auto& path : paths) {
    if (std::filesystem::is_directory(path)) continue;
    std::ifstream file(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::vector<Bytes>& list = seeds.of(path.filename().string());
    if (&list == &seeds.ia64)
      std::ranges::move(unwind_seeds(view_image(bytes, "seed")),
                        std::back_inserter(seeds.descriptors));
    if (path.filename() == "ia64.descriptors") continue;  // no program
    list.push_back(bytes);
    list.push_back(rewritten(bytes, OptimizeOptions::Order::random));
    list.push_back(rewritten(bytes, OptimizeOptions::Order::scatter));
  }
  std::set<std::filesystem::path> debug;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "debug"))
    debug.insert(entry.path());
  for (const auto& path : debug) seeds.debug.push_back(debug_seeds::seed_of(read_image(path)));
  return seeds;
}

const Seeds& seeds() {
  static const Seeds result = make_seeds();
  return result;
}

/// RESPIKE_FINDING: the file that gets an input with a finding.
void keep_finding(const Bytes& bytes, const FuzzResult& result) {
  const char* path = std::getenv("RESPIKE_FINDING");
  if (path == nullptr || !result.finding) return;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// RESPIKE_MUTATIONS: how many times as many mutations, for a longer run.
int more(int usual) {
  const char* text = std::getenv("RESPIKE_MUTATIONS");
  return text == nullptr ? usual : usual * std::atoi(text);
}

/// Checks `count` mutations; `depth` must be reached by at least a tenth of them.
void run(const std::vector<Bytes>& from, int count, uint64_t seed, FuzzDepth depth,
         const std::function<FuzzResult(std::span<const uint8_t>)>& check) {
  ASSERT_FALSE(from.empty());
  int reached = 0;
  for (int i = 0; i < count; ++i) {
    FuzzRandom random(seed + static_cast<uint64_t>(i));
    Bytes bytes = from[random.below(from.size())];
    mutate_image(bytes, kMostBytes, random);
    const std::clock_t start = std::clock();
    const FuzzResult result = check(bytes);
    keep_finding(bytes, result);
    ASSERT_FALSE(result.finding) << *result.finding << " (mutation " << seed + i << ")";
    ASSERT_LT(std::clock() - start, kLongest) << "(mutation " << seed + i << ")";
    reached += result.depth >= depth;
  }
  EXPECT_GT(reached, count / 10);
}

TEST(FuzzSmoke, SeedsAreFine) {
  for (const std::vector<Bytes>* list :
       {&seeds().alpha, &seeds().ia64, &seeds().x86_64, &seeds().pe, &seeds().ecoff})
    for (const Bytes& bytes : *list) {
      const FuzzResult result = check_rewrite(bytes, 7);
      EXPECT_FALSE(result.finding) << *result.finding;
      EXPECT_EQ(result.depth, FuzzDepth::rewritten) << result.error;
    }
}

TEST(FuzzSmoke, Reader) {
  run(seeds().alpha, more(3'000), 1'000'000, FuzzDepth::rewritable, check_reader);
}

/// The images of Windows NT. RESPIKE_PE_MUTATIONS: how many, for a longer run.
int pe_mutations() {
  constexpr int kUsual = 500;
  const char* text = std::getenv("RESPIKE_PE_MUTATIONS");
  return text == nullptr ? kUsual : std::atoi(text);
}

TEST(FuzzSmoke, PeReader) {
  run(seeds().pe, 2 * pe_mutations(), 20'000'000, FuzzDepth::rewritable, check_reader);
}

TEST(FuzzSmoke, PeLifter) {
  run(seeds().pe, pe_mutations(), 30'000'000, FuzzDepth::lifted, check_lifter);
}

TEST(FuzzSmoke, PeRewrite) {
  run(seeds().pe, pe_mutations(), 40'000'000, FuzzDepth::rewritten,
      [](std::span<const uint8_t> bytes) {
        return check_rewrite(bytes, bytes.size() + bytes[bytes.size() / 2]);
      });
}

/// An image with flipped bits, whatever they mean.
Bytes flipped_image(int number) {
  const std::vector<Bytes>& from = seeds().pe;
  FuzzRandom random(50'000'000 + static_cast<uint64_t>(number));
  Bytes bytes = from[random.below(from.size())];
  for (uint64_t n = 1 + random.below(3); n-- > 0;)
    bytes[random.below(bytes.size())] ^= static_cast<uint8_t>(1 << random.below(8));
  return bytes;
}

/// A return became a branch that is not taken: control falls into the procedure's entry.
TEST(FuzzSmoke, PeFallsIntoItsEntry) {
  const FuzzResult result = check_rewrite(flipped_image(3127), 3127);
  EXPECT_FALSE(result.finding) << *result.finding;
}

TEST(FuzzSmoke, PeFlips) {
  int deep = 0;
  const int count = pe_mutations();
  for (int i = 0; i < count; ++i) {
    const Bytes bytes = flipped_image(i);
    const std::clock_t start = std::clock();
    const FuzzResult result = check_rewrite(bytes, static_cast<uint64_t>(i));
    keep_finding(bytes, result);
    ASSERT_FALSE(result.finding) << *result.finding << " (flip " << i << ")";
    ASSERT_LT(std::clock() - start, kLongest) << "(flip " << i << ")";
    deep += result.depth == FuzzDepth::rewritten;
  }
  EXPECT_GT(deep, count / 4);
}

/// The images of a machine, or of a container of its own, and the first mutation of each kind of
/// check.
struct FuzzedMachine {
  const char* name;
  std::vector<Bytes> Seeds::*images;
  uint64_t lifter, rewrite, instrument;
};

void PrintTo(const FuzzedMachine& machine, std::ostream* out) {
  *out << machine.name;
}

class FuzzMachine : public testing::TestWithParam<FuzzedMachine> {};

TEST_P(FuzzMachine, Lifter) {
  run(seeds().*GetParam().images, more(600), GetParam().lifter, FuzzDepth::lifted, check_lifter);
}

TEST_P(FuzzMachine, Rewrite) {
  run(seeds().*GetParam().images, more(300), GetParam().rewrite, FuzzDepth::rewritten,
      [](std::span<const uint8_t> bytes) { return check_rewrite(bytes, bytes.size()); });
}

TEST_P(FuzzMachine, Instrument) {
  run(seeds().*GetParam().images, more(150), GetParam().instrument, FuzzDepth::rewritten,
      check_instrument);
}

INSTANTIATE_TEST_SUITE_P(
    FuzzSmoke, FuzzMachine,
    testing::Values(FuzzedMachine{"Alpha", &Seeds::alpha, 2'000'000, 3'000'000, 6'000'000},
                    FuzzedMachine{"Itanium", &Seeds::ia64, 4'000'000, 5'000'000, 7'000'000},
                    FuzzedMachine{"X8664", &Seeds::x86_64, 8'000'000, 9'000'000, 10'000'000},
                    FuzzedMachine{"Ecoff", &Seeds::ecoff, 11'000'000, 12'000'000, 13'000'000}),
    testing::PrintToStringParamName());

TEST(FuzzSmoke, UnwindRegions) {
  const std::vector<Bytes>& from = seeds().descriptors;
  ASSERT_GT(from.size(), 10u);
  int deep = 0, count = 0;
  for (uint64_t seed = 0; seed < uint64_t(more(10'000)); ++seed) {
    FuzzRandom random(seed);
    Bytes bytes = from[random.below(from.size())];
    for (uint64_t n = random.below(4); n-- > 0;)
      bytes[random.below(bytes.size())] = static_cast<uint8_t>(random.next());
    const FuzzResult result = check_unwind(bytes);
    ASSERT_FALSE(result.finding) << *result.finding << " (seed " << seed << ")";
    ++count;
    deep += result.depth == FuzzDepth::rewritten;
  }
  EXPECT_GT(deep, count / 4);
}

/// A byte, a number of four or eight bytes, or the length of a section.
void damage_debug(Bytes& bytes, FuzzRandom& random) {
  const uint64_t at = random.below(bytes.size() - 8);
  constexpr uint64_t kNumbers[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, ~uint64_t{0}, 0x1000};
  const uint64_t number = random.below(2) == 0 ? random.next() : kNumbers[random.below(7)];
  switch (random.below(3)) {
    case 0:
      bytes[at] = static_cast<uint8_t>(random.next());
      break;
    case 1:
      store(bytes.data() + at, static_cast<uint32_t>(number));
      break;
    default:
      store(bytes.data() + at, number);
      break;
  }
}

TEST(FuzzSmoke, Debug) {
  const std::vector<Bytes>& from = seeds().debug;
  ASSERT_GT(from.size(), 4u);
  for (const Bytes& seed : from) {
    const FuzzResult result = check_debug(seed);
    EXPECT_EQ(result.depth, FuzzDepth::rewritten) << result.error;
  }
  int deep = 0, count = 0;
  for (uint64_t seed = 0; seed < uint64_t(more(2'000)); ++seed) {
    FuzzRandom random(seed);
    Bytes bytes = from[random.below(from.size())];
    for (uint64_t n = 1 + random.below(3); n-- > 0;) damage_debug(bytes, random);
    const std::clock_t start = std::clock();
    const FuzzResult result = check_debug(bytes);
    ASSERT_FALSE(result.finding) << *result.finding << " (seed " << seed << ")";
    ASSERT_LT(std::clock() - start, kLongest) << "seed " << seed;
    ++count;
    deep += result.depth == FuzzDepth::rewritten;
  }
  EXPECT_GT(deep, count / 4);
}

TEST(FuzzSmoke, Counting) {
  int deep = 0, count = 0;
  for (uint64_t seed = 0; seed < uint64_t(more(7'000)); ++seed) {
    FuzzRandom random(seed);
    Random toy(seed % 50);
    Bytes bytes;
    if (seed % 2 == 0) {
      bytes = encode_profile(random_profile(toy));
    } else {
      ToyOptions options;
      options.pads = 4;
      options.jumps = 8;
      bytes = encode_counter_map(counter_map_of(random_toy(toy, options), toy));
    }
    for (uint64_t n = random.below(4); n-- > 0;)
      bytes[8 + random.below(bytes.size() - 8)] = static_cast<uint8_t>(random.next());
    const FuzzResult result = check_counting(bytes);
    ASSERT_FALSE(result.finding) << *result.finding << " (seed " << seed << ")";
    ++count;
    deep += result.depth == FuzzDepth::rewritten;
  }
  EXPECT_GT(deep, count / 4);
}

}  // namespace
}  // namespace respike

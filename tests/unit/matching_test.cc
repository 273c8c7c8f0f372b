// Profiles carried over to other builds: made-up programs that change in known ways, real images in
// other layouts, and profiles with any contents.

#include "optimizer/profile/matching/match.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <numeric>

#include "elf_test_files.h"
#include "optimizer/base/saturating.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"
#include "optimizer/profile/matching/procedure_pairs.h"
#include "optimizer/profile/matching/sequence_diff.h"
#include "optimizer/profile/names.h"
#include "optimizer/profile/static_counts.h"
#include "tests/unit/folders.h"
#include "tests/unit/profile_testing.h"

namespace respike {
namespace {

using EdgeKind = ProcedureProfile::Edge::Kind;

// ---- sequences ----

size_t longest_common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j)
      best[i][j] =
          a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
  return best[a.size()][b.size()];
}

std::vector<uint64_t> random_tokens(Random& random, uint32_t size, uint32_t kinds) {
  std::vector<uint64_t> tokens(below(random, size + 1));
  for (uint64_t& token : tokens) token = below(random, kinds);
  return tokens;
}

void expect_common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b,
                   const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(a.at(pairs[i].first), b.at(pairs[i].second));
    if (i != 0) {
      EXPECT_LT(pairs[i - 1].first, pairs[i].first);
      EXPECT_LT(pairs[i - 1].second, pairs[i].second);
    }
  }
}

TEST(SequenceDiff, KeepsAsMuchAsCanBe) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const auto a = random_tokens(random, 30, 1 + below(random, 8));
    const auto b = random_tokens(random, 30, 1 + below(random, 8));
    const auto pairs = common_subsequence(a, b);
    expect_common(a, b, pairs);
    EXPECT_EQ(pairs.size(), longest_common(a, b)) << seed;
  }
}

TEST(SequenceDiff, LongSequencesThatHaveLittleInCommon) {
  Random random(1);
  std::vector<uint64_t> a(100'000), b(100'000);
  for (uint64_t& token : a) token = random() % 1000;
  for (uint64_t& token : b) token = random() % 1000;
  expect_common(a, b, common_subsequence(a, b));
}

TEST(Names, AreThoseOfTheSource) {
  EXPECT_EQ(source_name("f"), "f");
  EXPECT_EQ(source_name("f.constprop.0"), "f");
  EXPECT_EQ(source_name("f.part.0.isra.1"), "f");
  EXPECT_EQ(source_name("_ZN1a1bEv.cold"), "_ZN1a1bEv");
  EXPECT_EQ(source_name("memcpy@GLIBC_2.4"), "memcpy");
  EXPECT_EQ(source_name(".L5"), ".L5");
  EXPECT_EQ(source_name("..dots.1"), "..dots");
  EXPECT_EQ(source_name(""), "");
}

// ---- made-up programs ----

/// A procedure of nodes in a row, with jumps ahead and back; every node is a block.
struct Source {
  std::string name;
  struct Node {
    NodeHash hash;
    uint64_t skip = 0;        // the node also leads so many nodes ahead
    uint64_t back = 0;        // the node also leads so many nodes back
    uint32_t callee = kNone;  // index in the program
  };
  std::vector<Node> nodes;
};

NodeHash random_hash(Random& random) {
  return {static_cast<uint16_t>(random()), static_cast<uint16_t>(random())};
}

Source random_source(Random& random, uint32_t number, uint32_t procedures) {
  Source source{"procedure" + std::to_string(number), {}};
  source.nodes.resize(3 + below(random, 20));
  for (Source::Node& node : source.nodes) {
    node.hash = random_hash(random);
    if (one_in(random, 3)) node.skip = 2 + below(random, 3);
    if (one_in(random, 8)) node.back = 1 + below(random, 3);
    if (one_in(random, 3)) node.callee = below(random, procedures);
  }
  return source;
}

/// The profile of a program whose procedures were all run `runs` times at random.
Profile profile_of_sources(const std::vector<Source>& program, Random& random, int runs = 100) {
  Profile profile;
  profile.runs = 1;
  for (uint32_t p = 0; p < program.size(); ++p) {
    const Source& source = program[p];
    ProcedureProfile& procedure = profile.procedures.emplace_back();
    procedure.name = source.name;
    procedure.address = 0x10000 * (p + 1);
    const auto size = static_cast<uint32_t>(source.nodes.size());
    uint64_t signature = size;
    for (uint32_t n = 0; n < size; ++n) {
      const Source::Node& node = source.nodes[n];
      procedure.nodes.push_back(node.hash);
      ProcedureProfile::Block block;
      block.address = procedure.address + 20 * n;
      block.size = 20;
      block.instructions = 5;
      block.node = n;
      procedure.blocks.push_back(block);
      signature =
          signature * 0x9e3779b97f4a7c15 + 64 * node.skip + 8 * node.back + (node.callee != kNone);
      if (node.back > 0 && n >= node.back && n + 1 < size)
        procedure.edges.push_back({n, static_cast<BlockId>(n - node.back), EdgeKind::taken, 0});
      if (n + 1 < size) procedure.edges.push_back({n, n + 1, EdgeKind::fall_through, 0});
      if (node.skip != 0 && n + node.skip < size)
        procedure.edges.push_back({n, static_cast<BlockId>(n + node.skip), EdgeKind::taken, 0});
      if (node.callee != kNone)
        procedure.calls.push_back({n, 0x10000 * (uint64_t{node.callee} + 1), 0});
    }
    procedure.signature = signature;
    for (int run = 0; run < runs; ++run)
      for (BlockId b = 0;;) {
        ++procedure.blocks[b].count;
        std::vector<ProcedureProfile::Edge*> ways;
        for (auto& edge : procedure.edges)
          if (edge.from == b) ways.push_back(&edge);
        if (ways.empty()) break;
        auto* way = ways[below(random, static_cast<uint32_t>(ways.size()))];
        ++way->count;
        b = way->to;
      }
    for (auto& call : procedure.calls) call.count = procedure.blocks[call.block].count;
  }
  return profile;
}

/// Expects that the flow along the edges equals the count of the block, except where control may
/// come in or leave.
void expect_conserved(const ProcedureProfile& procedure, bool strictly) {
  std::vector<uint64_t> in(procedure.blocks.size()), out(procedure.blocks.size());
  for (const auto& edge : procedure.edges) {
    in[edge.to] = saturating_add(in[edge.to], edge.count);
    out[edge.from] = saturating_add(out[edge.from], edge.count);
  }
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    EXPECT_LE(in[b], procedure.blocks[b].count) << procedure.name << " block " << b;
    EXPECT_LE(out[b], procedure.blocks[b].count) << procedure.name << " block " << b;
    if (!strictly) continue;
    if (b != 0) {
      EXPECT_EQ(in[b], procedure.blocks[b].count) << procedure.name << " block " << b;
    }
    if (b + 1 != procedure.blocks.size()) {
      EXPECT_EQ(out[b], procedure.blocks[b].count) << procedure.name << " block " << b;
    }
  }
}

std::vector<Source> random_program(Random& random, uint32_t procedures) {
  std::vector<Source> program;
  for (uint32_t p = 0; p < procedures; ++p) program.push_back(random_source(random, p, procedures));
  return program;
}

/// Reorders the procedures of a program; returns the old number of each new number.
std::vector<uint32_t> reorder(std::vector<Source>& program, const std::vector<uint32_t>& order) {
  std::vector<uint32_t> place(program.size(), kNone);
  for (uint32_t p = 0; p < order.size(); ++p) place[order[p]] = p;
  std::vector<Source> result;
  for (const uint32_t p : order) result.push_back(program[p]);
  for (Source& source : result)
    for (Source::Node& node : source.nodes)
      if (node.callee != kNone) node.callee = place[node.callee];
  program = std::move(result);
  return order;
}

TEST(Matching, TheSameBuild) {
  Random random(1);
  const Profile profile = profile_of_sources(random_program(random, 50), random);
  const MatchResult match = match_profile(profile, profile);
  EXPECT_EQ(match.profile, profile);
  EXPECT_EQ(match.procedures_matched, 50u);
  EXPECT_DOUBLE_EQ(match.confidence, 1);
  EXPECT_DOUBLE_EQ(match.matched_share(), 1);
  for (const auto& procedure : match.procedures) EXPECT_DOUBLE_EQ(procedure.confidence, 1);
}

/// Moved, renamed and dropped procedures, with new procedures in between.
TEST(Matching, ProceduresAreFoundWhereverTheyAre) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    auto program = random_program(random, 60);
    const Profile before = profile_of_sources(program, random);
    std::vector<uint32_t> order(60);
    std::iota(order.begin(), order.end(), 0u);
    for (int i = 0; i < 10; ++i) std::swap(order[below(random, 60)], order[below(random, 60)]);
    order.resize(55);
    const auto old = reorder(program, order);
    for (int i = 0; i < 10; ++i) program[below(random, 55)].name += ".constprop.0";
    for (int i = 0; i < 5; ++i) program[below(random, 55)].name = "renamed" + std::to_string(i);
    const auto extra = random_source(random, 1000, 55);
    program.push_back(extra);
    const Profile now = profile_of_sources(program, random);
    const auto partner = pair_procedures(before, now);
    for (uint32_t p = 0; p < 55; ++p) EXPECT_EQ(partner[p], old[p]) << seed << ' ' << p;
    EXPECT_EQ(partner[55], kNone);
  }
}

/// No procedure has a name; or all have the same name.
TEST(Matching, ProceduresWithoutNames) {
  for (const std::string name : {"", "f"}) {
    Random random(7);
    auto program = random_program(random, 60);
    for (Source& source : program) source.name = name;
    const Profile before = profile_of_sources(program, random);
    std::vector<uint32_t> order(60);
    std::iota(order.begin(), order.end(), 0u);
    std::swap(order[3], order[40]);
    order.erase(order.begin() + 20, order.begin() + 25);
    const auto old = reorder(program, order);
    const auto partner = pair_procedures(before, profile_of_sources(program, random));
    uint32_t right = 0;
    for (uint32_t p = 0; p < partner.size(); ++p) right += partner[p] == old[p];
    EXPECT_GE(right, 54u) << '"' << name << '"';
  }
}

/// Functions with similar code, and with names that look made-up.
TEST(Matching, NamesThatBeginAsMadeUpOnesAreNames) {
  Random random(5);
  Source source = random_source(random, 0, 1);
  for (Source::Node& node : source.nodes) node.callee = kNone;
  std::vector<Source> program;
  for (const char* name : {"code_size", "code_face", "code_bad", "code_of", "code_10000"})
    program.push_back({name, source.nodes});
  const Profile before = profile_of_sources(program, random);
  std::vector<uint32_t> order = {3, 2, 1, 0, 4};
  const auto old = reorder(program, order);
  EXPECT_EQ(pair_procedures(before, profile_of_sources(program, random)), old);
}

TEST(Names, OfProceduresWithoutASymbolAreTheirAddresses) {
  EXPECT_EQ(made_up_name(0x120000460), "code_120000460");
  EXPECT_FALSE(has_own_name("code_120000460", 0x120000460));
  EXPECT_FALSE(has_own_name("", 0));
  EXPECT_TRUE(has_own_name("code_120000460", 0x120000464));
  EXPECT_TRUE(has_own_name("code_bad", 0x120000460));
}

/// Two local procedures have one name and one shape; their callers distinguish them.
TEST(Matching, CallersTellTwinsApart) {
  Random random(3);
  auto program = random_program(random, 6);
  for (Source& source : program)
    for (Source::Node& node : source.nodes) node.callee = kNone;
  program[3] = program[2];
  program[2].name = program[3].name = "twin";
  program[0].nodes[1].callee = 2;
  program[1].nodes[1].callee = 3;
  const Profile before = profile_of_sources(program, random);
  reorder(program, {0, 1, 3, 2, 4, 5});
  const auto partner = pair_procedures(before, profile_of_sources(program, random));
  EXPECT_EQ(partner, (std::vector<uint32_t>{0, 1, 3, 2, 4, 5}));
}

/// New nodes in a row: counts around them stay, their own counts follow.
TEST(Matching, ChangedProceduresKeepTheirCounts) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    auto program = random_program(random, 8);
    const Profile before = profile_of_sources(program, random);
    const uint32_t at = 1 + below(random, static_cast<uint32_t>(program[0].nodes.size()) - 1);
    // Jumps over the place of the new nodes get longer, so their targets stay the same.
    for (uint32_t n = 0; n < program[0].nodes.size(); ++n) {
      Source::Node& node = program[0].nodes[n];
      if (n < at && n + node.skip >= at && node.skip != 0) ++node.skip;
      if (n >= at && node.back != 0 && n - node.back < at && n >= node.back) ++node.back;
    }
    program[0].nodes.insert(program[0].nodes.begin() + at, {.hash = random_hash(random)});
    const Profile shape = profile_of_sources(program, random);
    const MatchResult match = match_profile(before, shape);
    const ProcedureProfile &old = before.procedures[0], &now = match.profile.procedures[0];
    EXPECT_DOUBLE_EQ(match.procedures[0].confidence, 1) << seed;
    for (uint32_t n = 0; n < now.blocks.size(); ++n) {
      if (n == at) continue;
      EXPECT_EQ(now.blocks[n].count, old.blocks[n < at ? n : n - 1].count) << seed << ' ' << n;
    }
    expect_conserved(now, true);
  }
}

/// An interpreter: a dispatch, as many cases as `counts`, each of which goes back to the dispatch,
/// and an exit. No code is like the code of another interpreter. With `shorter`, the last case is a
/// case of the default.
Profile interpreter(const std::vector<uint64_t>& counts, Random& random, bool odd = false,
                    bool shorter = false) {
  Profile profile;
  ProcedureProfile& procedure = profile.procedures.emplace_back();
  procedure.name = "execute";
  procedure.address = 0x1000;
  procedure.signature = random();
  const auto cases = static_cast<uint32_t>(counts.size());
  uint64_t all = 0;
  for (uint32_t b = 0; b < cases + 2; ++b) {
    const auto hash = [&] {
      return static_cast<uint16_t>((random() & ~uint64_t{1}) | (odd ? 1 : 0));
    };
    procedure.nodes.push_back({hash(), hash()});
    ProcedureProfile::Block block;
    block.address = 0x1000 + 64 * b;
    block.instructions = 4;
    block.size = 16;
    block.node = b;
    procedure.blocks.push_back(block);
  }
  Switch& table = procedure.switches.emplace_back();
  for (uint32_t c = 0; c < cases; ++c) {
    const BlockId block = 1 + c;
    if (!shorter || c + 1 < cases) table.push_back(block);
    procedure.edges.push_back({0, block, EdgeKind::indirect, counts[c]});
    procedure.blocks[block].count = counts[c];
    all += counts[c];
  }
  procedure.edges.push_back({0, cases + 1, EdgeKind::taken, 1});
  for (uint32_t c = 0; c < cases; ++c)
    procedure.edges.push_back({1 + c, 0, EdgeKind::taken, counts[c]});
  procedure.blocks[0].count = all + 1;
  procedure.blocks[cases + 1].count = 1;
  return profile;
}

TEST(Matching, CasesOfLargeSwitchesKeepTheirPlaces) {
  Random random(11);
  for (const bool shorter : {false, true}) {
    std::vector<uint64_t> counts(40);
    for (uint64_t& count : counts) count = below(random, 1000);
    const Profile before = interpreter(counts, random);
    const MatchResult match = match_profile(before, interpreter(counts, random, true, shorter));
    const ProcedureProfile& now = match.profile.procedures[0];
    for (uint32_t c = 0; c + 1 < counts.size(); ++c)
      EXPECT_EQ(now.blocks[1 + c].count, counts[c]) << c;
    EXPECT_EQ(now.blocks[0].count, before.procedures[0].blocks[0].count);
  }
}

/// Only the calls of the new procedures are known.
TEST(Matching, NewProceduresGetTheirCallersCounts) {
  Random random(5);
  auto program = random_program(random, 3);
  for (Source& source : program)
    for (Source::Node& node : source.nodes) node.callee = kNone;
  const Profile before = profile_of_sources(program, random);
  program.push_back(random_source(random, 77, 1));
  for (Source::Node& node : program[3].nodes) node.callee = kNone;
  program[1].nodes[0].callee = 3;
  const MatchResult match = match_profile(before, profile_of_sources(program, random));
  EXPECT_EQ(match.procedures[3].before, kNone);
  EXPECT_EQ(match.procedures[3].confidence, 0);
  EXPECT_EQ(match.profile.procedures[3].blocks[0].count, 100u);
  EXPECT_FALSE(match.profile.procedures[3].exact);
  expect_conserved(match.profile.procedures[3], true);
}

TEST(Matching, AnotherProgramsProfileIsToldApart) {
  Random random(6);
  auto program = random_program(random, 30), other = random_program(random, 30);
  for (Source& source : other) source.name = "other" + source.name;
  program[0].name = other[0].name = "_start";
  other[0].nodes = program[0].nodes;
  program[1].name = other[1].name = "main";
  const MatchResult match =
      match_profile(profile_of_sources(program, random), profile_of_sources(other, random));
  EXPECT_GT(match.entered_matched, 0u);
  EXPECT_TRUE(match.of_another_program());
}

// ---- anything ----

/// Whatever the profiles contain, there is a result, and its flow is conserved.
TEST(Matching, AnyProfiles) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const Profile before = random_profile(random), now = random_profile(random);
    const MatchResult match = match_profile(before, now);
    ASSERT_EQ(match.profile.procedures.size(), now.procedures.size());
    ASSERT_EQ(match.procedures.size(), now.procedures.size());
    for (size_t p = 0; p < match.procedures.size(); ++p) {
      EXPECT_GE(match.procedures[p].confidence, 0);
      EXPECT_LE(match.procedures[p].confidence, 1.000001);
      const uint32_t old = match.procedures[p].before;
      if (old == kNone || before.procedures[old].signature != now.procedures[p].signature)
        expect_conserved(match.profile.procedures[p], false);
    }
    decode_profile(encode_profile(match.profile), "it");
  }
  EXPECT_EQ(match_profile(Profile{}, Profile{}).procedures.size(), 0u);
  Random random(1);
  const Profile some = random_profile(random);
  EXPECT_FALSE(match_profile(Profile{}, some).of_another_program());
  EXPECT_EQ(match_profile(some, Profile{}).procedures_matched, 0u);
}

TEST(Matching, IsFastOnLargePrograms) {
  Random random(9);
  auto program = random_program(random, 20'000);
  const Profile before = profile_of_sources(program, random, 3);
  for (int i = 0; i < 1000; ++i) {
    Source& source = program[below(random, 20'000)];
    source.nodes.insert(source.nodes.begin() + 1, {.hash = random_hash(random)});
  }
  program.erase(program.begin() + 5000, program.begin() + 5100);
  for (Source& source : program)
    for (Source::Node& node : source.nodes)
      if (node.callee != kNone && node.callee >= program.size()) node.callee = 0;
  const Profile now = profile_of_sources(program, random, 0);
  const std::clock_t start = std::clock();
  const MatchResult match = match_profile(before, now);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_GT(match.procedures_matched, 19'800u);
  EXPECT_LT(seconds, 10);  // under sanitizers; it takes less than one
  RecordProperty("seconds", std::to_string(seconds));
}

// ---- real images ----

std::filesystem::path real_image(const std::string& name) {
  const char* folder = std::getenv("RESPIKE_PROGRAMS");
  const std::filesystem::path programs =
      folder != nullptr ? std::filesystem::path(folder) : build_folder() / "programs";
  return programs / "images" / name;
}

Program lifted(const Image& image) {
  Diagnostics diagnostics;
  return lift(image, diagnostics);
}

/// The counts of nodes, by name of the procedure.
using NodeCounts = std::map<std::string, std::vector<std::map<uint32_t, uint64_t>>>;

/// The names of procedures whose counts differ.
std::string differences(const NodeCounts& a, const NodeCounts& b) {
  std::string names;
  for (const auto& [name, counts] : a)
    if (const auto other = b.find(name); other == b.end() || other->second != counts)
      names += name + ' ';
  if (names.size() > 500) names.resize(500);
  return names;
}

NodeCounts node_counts(const Profile& profile) {
  NodeCounts result;
  for (const ProcedureProfile& procedure : profile.procedures) {
    if (procedure.name.starts_with("code_")) continue;  // named by its address
    auto& counts = result[procedure.name].emplace_back();
    for (const auto& block : procedure.blocks)
      if (block.node != kNone) counts[block.node] = block.count;
  }
  for (auto& [name, list] : result) std::sort(list.begin(), list.end());
  return result;
}

/// Walks at random through every procedure, so counts add up. Procedures in which walks do not end
/// get no counts.
void walk(Program& program, Random& random) {
  for (Procedure& procedure : program.procedures) {
    size_t steps = 0;
    const size_t most = 400 * procedure.blocks.size();
    for (int run = 0; run < 20 && !procedure.blocks.empty() && steps < most; ++run)
      for (BlockId b = 0; steps < most; ++steps) {
        BasicBlock& block = procedure.blocks[b];
        ++block.count;
        if (block.successors.empty()) break;
        Edge& way = block.successors[below(random, block.successors.size())];
        ++way.count;
        b = way.target;
      }
    if (steps < most) continue;
    for (BasicBlock& block : procedure.blocks) {
      block.count = 0;
      for (Edge& way : block.successors) way.count = 0;
    }
  }
}

/// Expects that all counts of `before` arrive in the image.
Profile expect_carried(const Profile& before, const Image& image, const std::string& name) {
  const MatchResult match = match_profile(before, lifted(image));
  EXPECT_EQ(match.procedures_matched, match.procedures_before) << name;
  EXPECT_NEAR(match.confidence, 1, 1e-9) << name;
  EXPECT_EQ(differences(node_counts(match.profile), node_counts(before)), "") << name;
  return match.profile;
}

/// A rewritten image gets all counts of its original, and the original all counts of the rewritten
/// image.
TEST(MatchingImages, OtherLayouts) {
  int programs = 0;
  for (const char* name : {"sqlite3.static", "modern.dynamic", "switches.pie"}) {
    if (!std::filesystem::exists(real_image(name))) continue;
    ++programs;
    const Image image = read_image(real_image(name));
    Program program = lifted(image);
    Random random(1);
    walk(program, random);
    const Profile before = profile_of(program);
    for (const auto order : {OptimizeOptions::Order::random, OptimizeOptions::Order::profiled}) {
      OptimizeOptions options;
      options.order = order;
      Diagnostics diagnostics;
      const OptimizeResult result = optimize(image, options, diagnostics);
      const Image written = view_image(result.bytes, "written");
      expect_carried(expect_carried(before, written, name), image, name);
    }
  }
  if (programs == 0) GTEST_SKIP() << "no programs were built";
}

TEST(MatchingImages, PositionIndependentOrNot) {
  if (!std::filesystem::exists(real_image("lua.pie"))) GTEST_SKIP() << "no programs were built";
  const Image dynamic = read_image(real_image("lua.dynamic"));
  const Image pie = read_image(real_image("lua.pie"));
  Program one = lifted(dynamic), other = lifted(pie);
  set_static_counts(one, CallGraph(one));
  set_static_counts(other, CallGraph(other));
  for (const bool forth : {true, false}) {
    const MatchResult match =
        forth ? match_profile(profile_of(one), other) : match_profile(profile_of(other), one);
    EXPECT_GE(match.procedures_matched + 3, match.procedures_before);
    EXPECT_GT(match.confidence, 0.9);
  }
}

}  // namespace
}  // namespace respike

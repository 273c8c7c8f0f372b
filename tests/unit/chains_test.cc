// Compares chaining with the best of all orders, and with LLVM's ext-TSP.

#include "optimizer/layout/chains.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/layout/code_layout.h"
#include "optimizer/layout/orders.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/static_counts.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

constexpr double kTaken = 1.0, kBranch = 1.1;  // as in chains.cc

/// Cycles of jumps and branch instructions that an order of blocks costs.
double cost(const Procedure& procedure, const std::vector<BlockId>& order) {
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const BasicBlock& block = procedure.blocks[order[i]];
    const BlockId next = i + 1 < order.size() ? order[i + 1] : kNone;
    const Edge* fall = block.edge(Edge::Kind::fall_through);
    const Edge* taken = block.edge(Edge::Kind::taken);
    const auto jumps = [&](const Edge& edge) {
      return edge.target == next ? 0 : static_cast<double>(edge.count);
    };
    if (fall != nullptr && taken != nullptr) {
      sum += (jumps(*fall) + jumps(*taken)) * kTaken;
      if (fall->target != next && taken->target != next)
        sum += static_cast<double>(std::min(fall->count, taken->count)) * kBranch;
    } else if (fall != nullptr || taken != nullptr) {
      sum += jumps(fall != nullptr ? *fall : *taken) * (kTaken + kBranch);
    }
  }
  return sum;
}

/// The cost if no block follows another in the layout.
double worst(const Procedure& procedure) {
  double sum = 0;
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) sum += cost(procedure, {b});
  return sum;
}

double least(const Procedure& procedure) {
  std::vector<BlockId> order(procedure.blocks.size());
  std::iota(order.begin(), order.end(), 0);
  double best = cost(procedure, order);
  while (std::next_permutation(order.begin(), order.end()))
    best = std::min(best, cost(procedure, order));
  return best;
}

double chained(const Procedure& procedure) {
  return cost(procedure, joined(chain_blocks(procedure, all_blocks(procedure))));
}

TEST(Chains, SaveNearlyWhatTheBestOrderSaves) {
  Random random(1);
  double lowest = 1, sum = 0;
  int optimal = 0, graphs = 0;
  for (int round = 0; round < 400; ++round) {
    LayoutProgram p;
    p.add_random_procedure(random, 3 + below(random, 5));
    Procedure& procedure = p.program.procedures[0];
    walk(random, procedure, 50);
    const double all = worst(procedure), possible = all - least(procedure);
    if (possible == 0) continue;
    const double share = (all - chained(procedure)) / possible;
    ++graphs;
    optimal += share > 0.999999;
    lowest = std::min(lowest, share);
    sum += share;
  }
  RecordProperty("optimal", optimal);
  RecordProperty("mean", std::to_string(sum / graphs));
  RecordProperty("lowest", std::to_string(lowest));
  EXPECT_GT(graphs, 300);
  EXPECT_GT(optimal, graphs * 0.8);
  EXPECT_GT(sum / graphs, 0.98);
  EXPECT_GT(lowest, 0.5);
}

TEST(Chains, AreOptimalOnTrees) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    LayoutProgram p;
    p.add_procedure();
    const uint32_t blocks = 2 + below(random, 6);
    std::vector<uint32_t> children(blocks);
    std::vector<BlockId> parent(blocks);
    for (BlockId b = 1; b < blocks; ++b) {
      do parent[b] = below(random, b);
      while (children[parent[b]] == 2);
      ++children[parent[b]];
    }
    for (BlockId b = 0; b < blocks; ++b)
      p.add_block(1, children[b] == 0 ? "ret" : children[b] == 1 ? "br" : "beq");
    for (BlockId b = blocks - 1; b > 0; --b)
      p.connect(parent[b], b,
                children[parent[b]]-- == 2 ? Edge::Kind::fall_through : Edge::Kind::taken);
    Procedure& procedure = p.program.procedures[0];
    walk(random, procedure, 60);
    EXPECT_NEAR(chained(procedure), least(procedure), 1e-6) << "round " << round;
  }
}

/// A loop is cut where control enters or leaves it: its back edge then costs one jump.
TEST(Chains, AreOptimalOnLoops) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    LayoutProgram p;
    p.add_procedure();
    const uint32_t blocks = 2 + below(random, 5), exit = below(random, blocks);
    for (BlockId b = 0; b < blocks; ++b) {
      p.add_block(1, b == exit ? "beq" : "br");
      p.connect(b, (b + 1) % blocks, Edge::Kind::taken);
      if (b == exit) p.connect(b, blocks, Edge::Kind::fall_through);
    }
    p.add_block(1, "ret");
    Procedure& procedure = p.program.procedures[0];
    walk(random, procedure, 60);
    EXPECT_NEAR(chained(procedure), least(procedure), 1e-6) << "round " << round;
  }
}

TEST(Chains, HoldWhatIsWantedOnceAndGluedBlocksTogether) {
  Random random(4);
  for (int round = 0; round < 500; ++round) {
    LayoutProgram p;
    p.add_random_procedure(random, 1 + below(random, 20));
    Procedure& procedure = p.program.procedures[0];
    glue(random, procedure, 4);
    count_anything(random, p.program);
    std::vector<bool> wanted(procedure.blocks.size());
    for (BlockId b = 0; b < wanted.size(); ++b) wanted[b] = below(random, 2) == 0;
    const auto chains = chain_blocks(procedure, wanted);
    const auto order = joined(chains);
    std::vector<int> times(wanted.size());
    for (const BlockId b : order) ++times[b];
    for (BlockId b = 0; b < wanted.size(); ++b) {
      EXPECT_LE(times[b], 1);
      EXPECT_TRUE(times[b] == 1 || !wanted[b]);
      if (!procedure.blocks[b].has(BasicBlock::kGluedToNext)) continue;
      EXPECT_EQ(times[b], times[b + 1]);
      const auto place = std::find(order.begin(), order.end(), b);
      if (place != order.end()) {
        EXPECT_EQ(*std::next(place), b + 1);
      }
    }
    for (const auto& chain : chains) {
      EXPECT_FALSE(chain.empty());
      const bool entry = std::find(chain.begin(), chain.end(), 0u) != chain.end();
      EXPECT_EQ(entry, times[0] == 1 && &chain == &chains.front());
    }
  }
}

TEST(Chains, KeepTheOrderOfWhatNeverRan) {
  LayoutProgram p;
  p.add_procedure();
  for (BlockId b = 0; b < 9; ++b) {
    p.add_block(1, b % 2 == 0 ? "beq" : "");
    p.connect(b, b + 1, Edge::Kind::fall_through);
    if (b % 2 == 0) p.connect(b, 9 - b, Edge::Kind::taken);
  }
  p.add_block(1, "ret");
  const Procedure& procedure = p.program.procedures[0];
  const auto order = joined(chain_blocks(procedure, all_blocks(procedure)));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

/// The savings of orders by cost(), relative to the savings of ext-TSP's order; each procedure
/// counts once.
struct Scores {
  double original = 0, chained = 0;  // sums
  int procedures = 0;

  void add(const Program& program, const Procedure& procedure) {
    const std::vector<bool> all = all_blocks(procedure);
    std::vector<BlockId> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    const double most = worst(procedure);
    const double best = most - cost(procedure, ext_tsp_blocks(*program.machine, procedure, all));
    if (best == 0) return;
    original += (most - cost(procedure, order)) / best;
    chained += (most - respike::chained(procedure)) / best;
    ++procedures;
  }

  void expect(double share) const {
    testing::Test::RecordProperty("procedures", procedures);
    testing::Test::RecordProperty("original", std::to_string(original / procedures));
    testing::Test::RecordProperty("chained", std::to_string(chained / procedures));
    EXPECT_GT(chained / procedures, share);
    EXPECT_GT(chained, original);
  }
};

TEST(Chains, ScoreNearlyAsExtTsp) {
  Random random(5);
  Scores scores;
  for (int round = 0; round < 100; ++round) {
    LayoutProgram p;
    p.add_random_procedure(random, 10 + below(random, 40));
    walk(random, p.program.procedures[0], 100);
    scores.add(p.program, p.program.procedures[0]);
  }
  scores.expect(0.99);
}

/// Procedures of the C library, with estimated counts.
TEST(Chains, ScoreNearlyAsExtTspOnRealProcedures) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("respike-chains-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto source = folder / "empty.c", path = folder / "empty";
  std::ofstream(source) << "#include <stdio.h>\nint main(void) { return puts(\"\"); }\n";
  const std::string command = "alpha-linux-gnu-gcc -static -Wl,-q " + source.string() + " -o " +
                              path.string() + " 2>/dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no compiler for this machine";
  Diagnostics diagnostics;
  const Image image = read_image(path);
  std::filesystem::remove_all(folder);
  Program program = lift(image, diagnostics);
  set_static_counts(program, CallGraph(program));
  Scores scores;
  for (const Procedure& procedure : program.procedures)
    if (procedure.movable() && procedure.blocks.size() > 2) scores.add(program, procedure);
  EXPECT_GT(scores.procedures, 400);
  scores.expect(0.98);
}

}  // namespace
}  // namespace respike

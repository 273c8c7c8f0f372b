// Static estimates of frequencies: each heuristic alone, and properties of all graphs.

#include "optimizer/profile/estimate.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;

struct Estimate {
  Program program;
  FlowGraph graph;
  std::vector<double> weights;

  explicit Estimate(Program lifted, const FlowGraphOptions& options = {})
      : program(std::move(lifted)),
        graph(build_flow_graph(program, 0, options)),
        weights(estimate_flow(program, 0, graph)) {}
  explicit Estimate(const std::string& blocks, const FlowGraphOptions& options = {})
      : Estimate(parse_alpha("procedure 0 \"f\"\n" + blocks), options) {}

  double block(BlockId b) const { return weights[b]; }
};

/// Block 0 branches to 1 or 2, which end in the given instructions; both may continue at 3.
Estimate fork(const std::string& one, const std::string& two) {
  const auto ends = [](const std::string& last) {
    const bool goes_on = last != "ret" && last != "halt" && !last.starts_with("jmp");
    return "    " + last + "\n" + (goes_on ? "    -> 3 fall_through\n" : "");
  };
  return Estimate(R"(
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 2 taken
  block 1
)" + ends(one) + "  block 2\n" +
                  ends(two) + R"(
  block 3
    mov a0,v0
    br 0
    -> 4 taken
  block 4
    ret
)");
}

constexpr const char* kPlain = "addq a0,a1,a0";
constexpr const char* kCall = "jsr ra,(t12),0x0";

TEST(Estimate, ForksEvenlyWhereNothingSpeaks) {
  const Estimate e = fork(kPlain, kPlain);
  EXPECT_DOUBLE_EQ(e.block(0), 1);
  EXPECT_DOUBLE_EQ(e.block(1), 0.5);
  EXPECT_DOUBLE_EQ(e.block(2), 0.5);
  EXPECT_DOUBLE_EQ(e.block(3), 1);
}

TEST(Estimate, AvoidsReturnsCallsAndDeadEnds) {
  for (const std::string avoided : {"ret", kCall, "halt"}) {
    const Estimate first = fork(avoided, kPlain), second = fork(kPlain, avoided);
    EXPECT_LT(first.block(1), 0.3) << avoided;
    EXPECT_DOUBLE_EQ(first.block(1) + first.block(2), 1) << avoided;
    EXPECT_DOUBLE_EQ(second.block(2), first.block(1)) << avoided;  // whichever way is avoided
  }
  EXPECT_LT(fork("halt", "ret").block(1), 0.01);
  EXPECT_LT(fork("halt", kCall).block(1), 0.01);
  EXPECT_LT(fork("ret", kCall).block(1), 0.5);  // the heuristic of returns comes first
}

/// A call that does not return is a dead end; so is a throw.
TEST(Estimate, CallsThatDoNotReturnAreDeadEnds) {
  const Estimate e(R"(
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 2 taken
  block 1
    jsr ra,(t12),0x0
  block 2
    jsr ra,(t12),0x0
    -> 3 fall_through
  block 3
    ret
)");
  EXPECT_LT(e.block(1), 0.01);
  EXPECT_GT(e.block(2), 0.99);
}

constexpr const char* kNestedLoops = R"(
  block 0 entry
    mov zero,t0
    -> 1 fall_through
  block 1
    mov zero,t1
    -> 2 fall_through
  block 2
    addq t1,0x1,t1
    bne t1,0
    -> 3 fall_through
    -> 2 taken
  block 3
    addq t0,0x1,t0
    bne t0,0
    -> 4 fall_through
    -> 1 taken
  block 4
    ret
)";

TEST(Estimate, LoopsAreHeavierThanTheirSurroundings) {
  const Estimate e(kNestedLoops);
  EXPECT_DOUBLE_EQ(e.block(0), 1);
  EXPECT_NEAR(e.block(4), 1, 0.1);
  EXPECT_DOUBLE_EQ(e.block(1), 8);
  EXPECT_DOUBLE_EQ(e.block(2), 64);
  EXPECT_NEAR(e.block(3), 8, 0.5);
}

/// Two blocks that lead to each other, both entered from outside: neither dominates the other.
TEST(Estimate, IrreducibleLoopsAreLoops) {
  const Estimate e(R"(
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 2 taken
  block 1
    bne a1,0
    -> 3 fall_through
    -> 2 taken
  block 2
    bne a2,0
    -> 3 fall_through
    -> 1 taken
  block 3
    ret
)");
  EXPECT_GT(e.block(1), 2);
  EXPECT_GT(e.block(2), 2);
  EXPECT_NEAR(e.block(3), 1, 0.2);
}

TEST(Estimate, LoopsGoOnThoughTheyCall) {
  const Estimate e(R"(
  block 0 entry
    mov zero,t0
    -> 1 fall_through
  block 1
    jsr ra,(t12),0x0
    -> 2 fall_through
  block 2
    bne v0,0
    -> 3 fall_through
    -> 1 taken
  block 3
    ret
)");
  EXPECT_GT(e.block(1), 4);
  EXPECT_NEAR(e.block(3), 1, 0.1);
}

/// A cut call takes its flow out of the graph and back in.
TEST(Estimate, CutCallsReturn) {
  FlowGraphOptions cut;
  cut.cut_all_calls = true;
  const Estimate e(R"(
  block 0 entry
    jsr ra,(t12),0x0
    -> 1 fall_through
  block 1
    ret
)",
                   cut);
  EXPECT_DOUBLE_EQ(e.block(1), 1);
  int seen = 0;
  for (uint32_t i = 0; i < e.graph.edges.size(); ++i) {
    const Kind kind = e.graph.edges[i].kind;
    if (kind != Kind::call && kind != Kind::call_return) continue;
    ++seen;
    EXPECT_DOUBLE_EQ(e.weights[i], 1);
  }
  EXPECT_EQ(seen, 2);
}

TEST(Estimate, LandingPadsAreRare) {
  const Estimate e(R"(
  block 0 entry
    mov a0,v0
    br 0
    -> 2 taken
  block 1 landing_pad
    mov a1,v0
    -> 2 fall_through
  block 2
    ret
)");
  EXPECT_GT(e.block(1), 0);
  EXPECT_LT(e.block(1), 0.1);
}

/// `forward`: no edge leads back, so there are no loops.
Program random_procedure(Random& random, bool forward) {
  Program program;
  program.machine = &alpha_machine();
  Procedure& procedure = program.procedures.emplace_back();
  const uint32_t size = 2 + random() % 12;
  procedure.blocks.resize(size);
  for (BlockId b = 0; b < size; ++b) {
    const bool last = b + 1 == size;
    const char* const end = last ? "ret" : random() % 3 != 0 ? "beq t0,0" : "addq t0,t1,t0";
    procedure.blocks[b].instructions.push_back(*program.arena, alpha_machine().text.parse(end, 0));
    const auto any = [&] {
      return static_cast<BlockId>(forward ? b + 1 + random() % (size - b - 1) : random() % size);
    };
    if (last) break;
    procedure.blocks[b].successors.push_back(*program.arena,
                                             {.target = b + 1, .kind = Edge::Kind::fall_through});
    if (end[0] == 'b')
      procedure.blocks[b].successors.push_back(*program.arena,
                                               {.target = any(), .kind = Edge::Kind::taken});
  }
  return program;
}

/// The flow into each node and out of it.
struct Balance {
  std::vector<double> in, out;

  explicit Balance(const Estimate& e) : in(e.graph.nodes()), out(e.graph.nodes()) {
    for (uint32_t i = 0; i < e.weights.size(); ++i) {
      out[e.graph.edges[i].from] += e.weights[i];
      in[e.graph.edges[i].to] += e.weights[i];
    }
  }
};

TEST(Estimate, FlowIsConservedWithoutLoops) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const Estimate e(random_procedure(random, true));
    const Balance balance(e);
    for (uint32_t n = 0; n < e.graph.nodes(); ++n)
      EXPECT_NEAR(balance.in[n], balance.out[n], 1e-9) << round;
    EXPECT_NEAR(balance.out[e.graph.outside()], 1, 1e-9);
  }
}

/// Loops are taken to run eight times whatever their branches say, so loop heads are out of
/// balance; all other nodes are in balance.
TEST(Estimate, OnlyHeadsOfLoopsAreOutOfBalance) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    const Estimate e(random_procedure(random, false));
    const Balance balance(e);
    for (uint32_t n = 0; n < e.graph.nodes(); ++n) {
      EXPECT_GE(balance.in[n], 0);
      EXPECT_LT(balance.in[n], 1e9);
      if (n % 2 == 0) continue;  // the start of a block may be a loop head
      EXPECT_NEAR(balance.in[n], balance.out[n], 1e-9 * (1 + balance.in[n])) << round;
    }
  }
}

}  // namespace
}  // namespace respike

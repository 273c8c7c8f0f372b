// Probes in programs: random procedures run with and without probes on the machine of
// alpha_machine.h. With probes they behave the same, and every counter has the right count.

#include "instrument/probes.h"
#include "instrument/probe_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "optimizer/check/invariants.h"
#include "tests/unit/alpha_machine.h"
#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;

constexpr uint64_t kCode = 0x120000000, kCounters = 0x120080000, kGpValue = 0x120078000;
constexpr uint64_t kData = 0x140000000, kStack = 0x11ff00000, kEnd = 0x130000000;
constexpr Register kGp = 29, kSp = 30, kTarget = 28, kAddress = 27;

std::string procedure_of(uint64_t blocks, const std::string& text, bool gp) {
  return "origin_base 0x120000000\nrange 0x120000000..0x120010000 procedure=0 blocks=0.." +
         std::to_string(blocks) + "\nprocedure 0 \"f\" address=0x120000000" +
         (gp ? " gp=" + std::to_string(kGpValue) : std::string()) + "\n" + text;
}

/// Blocks that lead forward, except for locked loops (some blocks do without); the last block jumps
/// through a register to code that may read every register. Registers that blocks overwrite are
/// free before.
std::string random_procedure(Random& random, bool gp) {
  const auto below = [&](uint64_t limit) { return random() % limit; };
  // A register other than gp, sp, the jump's target, and the address of data.
  const auto any = [&] {
    return alpha_machine().text.register_name(static_cast<Register>(below(27)));
  };
  std::string text;
  const uint64_t blocks = 3 + below(below(3) == 0 ? 30 : 6);
  for (uint64_t b = 0; b < blocks; ++b) {
    const bool last = b + 1 == blocks;
    const auto edge = [&](uint64_t to, const char* kind) {
      text += "    -> " + std::to_string(to) + " " + kind + "\n";
    };
    text += "  block " + std::to_string(b) + (b == 0 ? " entry" : "");
    const bool locked = !last && below(4) == 0, split = locked && b + 2 < blocks && below(2) == 0;
    text += split ? " glued\n" : "\n";
    if (locked) {
      const std::string value = any();
      text += "    ldq_l " + value + ",0(t12)\n";
      for (int i = 0; i < 3; ++i)  // registers that these read may be free from here on
        text += "    addq " + value + "," + any() + "," + value + "\n";
      const auto retry = "    stq_c " + value + ",0(t12)\n    beq " + value + ",120000000\n";
      if (split) {  // the sequence continues in the next block
        text += "    xor " + value + "," + value + "," + value + "\n";
        edge(b + 1, "fall_through");
        text += "  block " + std::to_string(b + 1) + "\n";
      }
      text += retry;
      edge(b + 1 + split, "fall_through");
      edge(below(2) == 0 ? b : b + 1 + split + below(blocks - b - 1 - split), "taken");
      b += split;
      continue;
    }
    for (uint64_t i = below(4); i > 0; --i) {
      switch (below(4)) {
        case 0:
          text += "    addq " + any() + "," + any() + "," + any() + "\n";
          break;
        case 1:
          text += "    stq " + any() + "," + std::to_string(8 * below(16)) + "(t12)\n";
          break;
        default:
          text += "    lda " + any() + "," + std::to_string(below(30000)) + "(zero)\n";
      }
    }
    if (last) {
      const uint64_t one_in = 1 + below(4);  // 1: all registers are overwritten
      for (int i = 0; i < 27; ++i)
        if (below(one_in) == 0)
          text += "    lda " + alpha_machine().text.register_name(static_cast<Register>(i)) +
                  ",5(zero)\n";
      text += "    jmp (at)\n";
    } else if (below(5) == 0) {
      text += "    br 120000000\n";
      edge(b + 1 + below(blocks - b - 1), "taken");
    } else if (below(5) == 0) {
      text += "    addq " + any() + "," + any() + "," + any() + "\n";
      edge(b + 1, "fall_through");
    } else {
      text += std::string(below(2) == 0 ? "    beq " : "    bne ") + any() + ",120000000\n";
      edge(b + 1, "fall_through");
      edge(b + 1 + below(blocks - b - 1), "taken");
    }
  }
  return procedure_of(blocks, text, gp);
}

/// Puts the fragments of a layout one after the other.
class Assembler {
 public:
  Assembler(const Program& program, const Layout& layout) : program_(program) {
    uint64_t place = kCode;
    for (const Layout::Fragment& fragment : layout.fragments)
      for (size_t i = 0; i < fragment.blocks.size(); ++i) {
        const ProcedureId p = fragment.procedure;
        const BlockId b = fragment.blocks[i];
        address_[{p, b}] = place;
        const Edge* next = block(p, b).edge(Edge::Kind::fall_through);
        const bool follows = i + 1 < fragment.blocks.size() && next != nullptr &&
                             next->target == fragment.blocks[i + 1];
        order_.push_back({p, b, next != nullptr && !follows ? next->target : kNone});
        place += 4 * (size(p, b) + (order_.back().branch_to != kNone));
      }
  }

  uint64_t address(ProcedureId p, BlockId b) const { return address_.at({p, b}); }

  void load(AlphaMachine& machine) const {
    const Machine& alpha = alpha_machine();
    for (const auto& [p, b, branch_to] : order_) {
      std::vector<Instruction> code;
      uint64_t place = address(p, b);
      for (Instruction i : block(p, b).instructions) {
        if (i.is_pseudo()) continue;
        if (i.has_reference()) {
          const Reference& to = program_[p].references[static_cast<size_t>(i.immediate)];
          const bool inside = to.target.procedure != kNone;
          EXPECT_TRUE(alpha.fixups.apply(
              i, to.kind, place,
              inside ? address(to.target.procedure, to.target.block) : to.target.address, 0));
        } else if (const Edge* taken = block(p, b).edge(Edge::Kind::taken);
                   taken != nullptr && alpha.facts(i).flow != ControlFlow::none) {
          i.immediate = static_cast<int32_t>(address(p, taken->target) - place);
        }
        code.push_back(i);
        place += 4;
      }
      if (branch_to != kNone) {
        code.push_back(alpha.branches.branch);
        code.back().immediate = static_cast<int32_t>(address(p, branch_to) - place);
      }
      machine.load(address(p, b), code);
    }
  }

 private:
  struct Placed {
    ProcedureId procedure;
    BlockId block;
    BlockId branch_to;  // the fall-through, if it does not come next
  };
  const BasicBlock& block(ProcedureId p, BlockId b) const { return program_[p].blocks[b]; }
  uint64_t size(ProcedureId p, BlockId b) const {
    uint64_t instructions = 0;
    for (const Instruction& i : block(p, b).instructions) instructions += !i.is_pseudo();
    return instructions;
  }

  const Program& program_;
  std::map<std::pair<ProcedureId, BlockId>, uint64_t> address_;
  std::vector<Placed> order_;
};

Layout in_order(const Program& program) {
  Layout layout;
  layout.fragments.push_back({.procedure = 0, .blocks = {}});
  for (BlockId b = 0; b < program[0].blocks.size(); ++b) layout.fragments[0].blocks.push_back(b);
  return layout;
}

AlphaMachine start(uint64_t seed) {
  AlphaMachine machine;
  Random random(seed);
  for (uint64_t& r : machine.registers) r = random() % 4 == 0 ? 0 : random();
  machine.registers[31] = 0;
  machine.registers[kSp] = kStack;
  machine.registers[kGp] = kGpValue;
  machine.registers[kTarget] = kEnd;
  machine.registers[kAddress] = kData;
  return machine;
}

/// Counters on all blocks and edges that can have a counter: more than any profile needs.
CounterPlacement count_everything(const Program& program) {
  CounterPlacement result;
  const ProbePlaces places = find_probe_places(program, 0);
  result.graph = build_flow_graph(program, 0, {});
  for (uint32_t e = 0; e < result.graph.edges.size(); ++e) {
    FlowEdge& edge = result.graph.edges[e];
    const bool can = edge.kind == Kind::block ? places.block[e]
                     : edge.kind == Kind::fall_through
                         ? places.after_block[result.graph.block_of(edge.from)]
                         : edge.kind == Kind::taken;
    if (!can) continue;
    edge.counter = static_cast<uint32_t>(result.probes.size());
    result.probes.push_back(e);
    result.weights.push_back(1);
  }
  result.blocks.assign(result.graph.blocks, 1);
  return result;
}

struct Tally {
  uint64_t saved = 0, small = 0, unsaved = 0, without_gp = 0;
};

/// Expects that registers and data are the same after both runs.
void expect_same_effect(const AlphaMachine& plain, const AlphaMachine& counted) {
  EXPECT_EQ(counted.pc, plain.pc);
  for (Register r = 0; r < 31; ++r)
    EXPECT_EQ(counted.registers[r], plain.registers[r]) << alpha_machine().text.register_name(r);
  const auto data = [](const AlphaMachine& machine) {
    return std::map<uint64_t, uint64_t>(machine.memory.lower_bound(kData), machine.memory.end());
  };
  EXPECT_EQ(data(counted), data(plain));
}

/// Runs the procedure with and without probes. The last block jumps through a register.
Tally check(const std::string& text, bool atomic, uint64_t seed = 1) {
  const Program original = parse_alpha(text);
  Program program = parse_alpha(text);

  const CounterPlacement placement = count_everything(program);
  const auto counters = static_cast<uint32_t>(placement.probes.size());
  const auto last = static_cast<BlockId>(program[0].blocks.size() - 1);
  const CodeFacts facts(program);
  ProbeInserter inserter(program, facts, kCounters, atomic ? Counters::atomic : Counters::shared);
  inserter.count(0, placement, 0, 1);
  EXPECT_TRUE(inserter.record_target(0, last, counters));
  Layout layout = in_order(program);
  inserter.insert(layout);
  EXPECT_EQ(find_violation(program), std::nullopt);
  EXPECT_EQ(find_violation(program, layout), std::nullopt);

  const Assembler before(original, in_order(original)), after(program, layout);
  for (uint64_t run = 0; run < 4; ++run) {
    AlphaMachine plain = start(100 * seed + run);
    plain.failures = atomic ? 0 : static_cast<int>(run);  // atomic probes would take some of them
    AlphaMachine counted = plain;
    before.load(plain);
    after.load(counted);
    EXPECT_TRUE(plain.run(before.address(0, 0))) << "the test's own program does not end";
    EXPECT_TRUE(counted.run(after.address(0, 0)));
    expect_same_effect(plain, counted);

    const auto visits = [&](BlockId b) { return plain.visits[before.address(0, b)]; };
    for (uint32_t i = 0; i < counters; ++i) {
      const uint32_t e = placement.probes[i];
      if (placement.graph.edges[e].kind != Kind::block) continue;
      EXPECT_EQ(counted.memory[kCounters + 8 * i], visits(e)) << "block " << e;
    }
    // The flow into a block equals the flow out of it.
    for (BlockId b = 0; b < original[0].blocks.size(); ++b) {
      uint64_t out = 0;
      bool known = b != last;
      for (const FlowEdge& edge : placement.graph.edges)
        if (edge.kind != Kind::block && edge.from == placement.graph.out(b)) {
          known &= edge.counter != kNone;
          if (edge.counter != kNone) out += counted.memory[kCounters + 8 * edge.counter];
        }
      if (known) {
        EXPECT_EQ(out, visits(b)) << "behind block " << b;
      }
    }
    EXPECT_EQ(counted.memory[kCounters + 8 * counters], kEnd);
    EXPECT_EQ(counted.memory[kCounters + 8 * (counters + 1)], 1u);
  }
  const ProbeStatistics& s = inserter.statistics();
  EXPECT_EQ(s.probes, counters + 1);
  return {s.saved_registers, s.small, s.probes - s.saved_registers, s.without_gp};
}

void check_many(bool atomic) {
  Tally sum;
  for (uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const bool gp = random() % 2 == 0;
    const Tally one = check(random_procedure(random, gp), atomic, seed);
    sum.saved += one.saved;
    sum.small += one.small;
    sum.unsaved += one.unsaved;
    sum.without_gp += one.without_gp;
  }
  // All kinds of probes occurred.
  EXPECT_GT(sum.saved, 500u);
  EXPECT_GT(sum.unsaved, 500u);
  EXPECT_GT(sum.small, 50u);
  EXPECT_GT(sum.without_gp, 500u);
}

TEST(Probes, CountAndLeaveAlone) {
  check_many(false);
}
TEST(Probes, CountAndLeaveAloneAtomically) {
  check_many(true);
}

/// A probe that counts atomically splits its block; the jump by a table is in the second part.
TEST(Probes, LeaveTablesToTheirJumps) {
  Program program = parse_alpha(R"(origin_base 0x120000000
range 0x120000000..0x120000100 procedure=0 blocks=0..3
code_pointer 0x140000000 address64 0#1
code_pointer 0x140000008 address64 0#2
procedure 0 "f" address=0x120000000
  jump_table 0x140000000 entries=2 jump=0
  block 0 entry
    addq a0,0x1,t0
    jmp (a1)
    -> 1 indirect
    -> 2 indirect
  block 1 address_taken
    ret
  block 2 address_taken
    ret
)");
  ASSERT_EQ(find_violation(program), std::nullopt);
  const CodeFacts facts(program);
  ProbeInserter inserter(program, facts, kCounters, Counters::atomic);
  inserter.count(0, count_everything(program), 0, 1);
  Layout layout = in_order(program);
  inserter.insert(layout);
  EXPECT_NE(program[0].jump_tables[0].jump, 0u);
  EXPECT_EQ(find_violation(program), std::nullopt);
}

/// The probe needs three free registers, which it finds only inside the locked sequence.
TEST(Probes, StayOutOfLockedSequences) {
  for (const std::string cut : {"", "    -> 1 fall_through\n  block 1\n"}) {
    const std::string first = cut.empty() ? "0 entry" : "0 entry glued";
    const int next = cut.empty() ? 1 : 2;
    const std::string text = "  block " + first + R"(
    ldq_l t0,0(t12)
    addq t0,t1,t0
    addq t0,t2,t0
    addq t0,t3,t0
)" + cut + R"(    xor t0,t4,t0
    stq_c t0,0(t12)
    -> )" + std::to_string(next) +
                             " fall_through\n  block " + std::to_string(next) + R"(
    lda t1,1(zero)
    lda t2,2(zero)
    lda t3,3(zero)
    jmp (at)
)";
    const Tally tally = check(procedure_of(next + 1, text, true), false);
    EXPECT_GT(tally.saved, 0u);
  }
}

}  // namespace
}  // namespace respike

// Register sets, and live registers of single procedures against the definition.

#include "optimizer/analysis/liveness.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

template <typename Set>
class RegisterSets : public testing::Test {};
using Sizes = testing::Types<BasicRegisterSet<1>, BasicRegisterSet<2>, BasicRegisterSet<6>>;
TYPED_TEST_SUITE(RegisterSets, Sizes);

TYPED_TEST(RegisterSets, AreSets) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::set<Register> a, b;
    TypeParam x, y;
    for (int i = 0; i < 20; ++i) {
      const auto r = static_cast<Register>(random() % TypeParam::kCapacity);
      const auto s = static_cast<Register>(random() % TypeParam::kCapacity);
      a.insert(r), x.add(r);
      b.insert(s), y.add(s);
      if (random() % 4 == 0) b.erase(r), y.remove(r);
    }
    const TypeParam both = x | y, common = x & y, rest = x - y;
    for (Register r = 0; r < TypeParam::kCapacity; ++r) {
      EXPECT_EQ(x.contains(r), a.contains(r));
      EXPECT_EQ(both.contains(r), a.contains(r) || b.contains(r));
      EXPECT_EQ(common.contains(r), a.contains(r) && b.contains(r));
      EXPECT_EQ(rest.contains(r), a.contains(r) && !b.contains(r));
    }
    EXPECT_EQ(x.count(), a.size());
    std::vector<Register> listed;
    x.for_each([&](Register r) { listed.push_back(r); });
    EXPECT_EQ(listed, std::vector<Register>(a.begin(), a.end()));
    EXPECT_TRUE(both.includes(x) && x.includes(common));
    EXPECT_EQ(x.includes(y), rest.count() == x.count() - y.count());
    EXPECT_EQ(TypeParam(RegisterSet(x)), x);
  }
  for (const size_t count : {size_t{0}, size_t{1}, size_t{63}, TypeParam::kCapacity})
    EXPECT_EQ(TypeParam::first(count).count(), count);
  EXPECT_TRUE(TypeParam().empty());
}

/// Blocks of additions among a few registers, joined by random edges; the last instruction is
/// without control flow, which the analysis does not look at.
struct RandomProcedure {
  Program program;
  RandomProcedure(Random& random, size_t blocks) {
    Procedure& procedure = program.procedures.emplace_back();
    procedure.blocks.resize(blocks);
    const auto name = [&] { return "t" + std::to_string(random() % 6); };
    for (BlockId b = 0; b < blocks; ++b) {
      for (uint64_t i = random() % 4; i > 0; --i)
        procedure.blocks[b].instructions.push_back(
            *program.arena,
            alpha_machine().parse("addq " + name() + "," + name() + "," + name(), 0));
      for (uint64_t e = random() % 3; e > 0; --e)
        procedure.blocks[b].successors.push_back(
            *program.arena, {.target = static_cast<BlockId>(random() % blocks)});
    }
  }
};

TEST(Liveness, IsThatOfSomePath) {
  const Machine& machine = alpha_machine();
  Random random(7);
  for (int round = 0; round < 400; ++round) {
    const size_t blocks = 1 + random() % 8;
    const RandomProcedure example(random, blocks);
    const Procedure& procedure = example.program.procedures.front();
    std::vector<BlockEnd> ends(blocks);
    for (BlockEnd& end : ends)
      for (Register r = 1; r < 7; ++r) {
        if (random() % 6 == 0) end.used.add(r);
        if (random() % 4 != 0) end.through.add(r);
      }
    const Liveness live = find_liveness(procedure, machine, ends);
    for (Register r = 1; r < 7; ++r) {
      // By definition: a walk over (block, instruction) that stops at definitions.
      const auto is_live = [&](BlockId start, uint32_t from) {
        std::set<BlockId> seen;
        std::vector<std::pair<BlockId, uint32_t>> work = {{start, from}};
        while (!work.empty()) {
          const auto [block, first] = work.back();
          work.pop_back();
          const auto& list = procedure.blocks[block].instructions;
          bool defined = false;
          for (uint32_t i = first; i < list.size() && !defined; ++i) {
            const Operands operands = machine.operands(list[i]);
            if (uses_of(operands).contains(r)) return true;
            defined = defs_of(operands).contains(r);
          }
          if (defined) continue;
          if (ends[block].used.contains(r)) return true;
          if (!ends[block].through.contains(r)) continue;
          for (const Edge& edge : procedure.blocks[block].successors)
            if (seen.insert(edge.target).second) work.emplace_back(edge.target, 0);
        }
        return false;
      };
      for (BlockId b = 0; b < blocks; ++b) {
        EXPECT_EQ(live.in[b].contains(r), is_live(b, 0)) << "block " << b << " register " << r;
        EXPECT_EQ(live.out[b].contains(r), is_live(b, procedure.blocks[b].instructions.size()));
      }
    }
  }
}

TEST(Liveness, KnowsTheCallingStandard) {
  const Program program = parse_alpha(R"(
procedure 0 "f"
  block 0 entry
    mov a0,s0
    mov t0,s1
    jsr ra,(t12),0
    -> 1 fall_through
  block 1
    addq s0,t1,v0
    ret
)");
  const Procedure& f = program[0];
  const auto ends = standard_ends(f, alpha_machine(), RegisterSet(std::vector<Register>{0, 9}));
  const Liveness live = find_liveness(f, alpha_machine(), ends);
  EXPECT_EQ(names(live.in[1]), "t1 s0 ra");
  EXPECT_EQ(names(live.in[0]), "t0 a0 a1 a2 a3 a4 a5 t12 gp sp $f16 $f17 $f18 $f19 $f20 $f21");
}

}  // namespace
}  // namespace respike

// Hot-cold optimization of random procedures, executed: with any counts, the program behaves as
// before, and at every instruction the unwind state finds the caller's registers. Also the proof of
// this: it accepts the outputs of the optimizer; it accepts a spoiled output only if the output
// still does the same.

#include "optimizer/transform/hotcold/hot_cold.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "optimizer/check/hot_cold_proof.h"
#include "optimizer/check/invariants.h"
#include "tests/unit/alpha_machine.h"
#include "tests/unit/analysis_testing.h"
#include "tests/unit/random_procedure.h"

namespace respike {
namespace {

/// How many random procedures a test draws: RESPIKE_SEEDS times as many as usually.
uint64_t procedures(uint64_t usual) {
  const char* more = std::getenv("RESPIKE_SEEDS");
  return more == nullptr ? usual : usual * std::strtoull(more, nullptr, 10);
}

TEST(HotCold, RandomProceduresBehaveTheSame) {
  int optimized = 0, compared = 0;
  uint64_t before = 0, after = 0, thrown = 0;
  for (uint64_t seed = 1; seed <= procedures(1000); ++seed) {
    const std::string text = RandomProcedure(seed).text();
    const Program original = parse_alpha(text);
    Program changed = parse_alpha(text);
    const HotColdResult result = optimize_hot_cold(changed, {.least_gain = 0});
    ASSERT_EQ(find_violation(changed).value_or(""), "") << text;
    if (result.removed.executed() == 0) continue;
    ++optimized;
    for (uint64_t input = 0; input < 8; ++input) {
      const Loaded::Outcome expected = Loaded(original).run(input);
      if (!expected.ended) continue;
      ASSERT_EQ(expected.fault, "") << text;
      const Loaded::Outcome actual = Loaded(changed).run(input);
      ASSERT_TRUE(actual.ended && actual == expected)
          << "seed " << seed << ", input " << input << "\n"
          << text << print(changed);
      ASSERT_EQ(actual.fault, "") << "seed " << seed << "\n" << text << print(changed);
      ++compared;
      before += expected.executed;
      after += actual.executed;
      thrown += actual.thrown;
    }
  }
  EXPECT_GT(optimized, 100);
  EXPECT_GT(compared, 700);
  EXPECT_GT(thrown, 160u);
  RecordProperty("executed_before", std::to_string(before));
  RecordProperty("executed_after", std::to_string(after));
}

/// Makes an entry of a table lead where another entry leads.
bool spoil_table(Program& program, Random& random) {
  auto& pointers = program.code_pointers;
  if (pointers.empty()) return false;
  CodePointer& pointer = pointers[random() % pointers.size()];
  const BlockId other = pointers[random() % pointers.size()].target.block;
  if (pointer.target.block == other) return false;
  pointer.target.block = other;
  return true;
}

/// Makes exceptions of a block's call go elsewhere.
bool spoil_call_site(Procedure& procedure, BasicBlock& block, Random& random) {
  std::vector<BlockId> pads;
  for (BlockId b = 0; b < procedure.blocks.size(); ++b)
    if (procedure.blocks[b].has(BasicBlock::kLandingPad)) pads.push_back(b);
  if (block.call_site == kNone || pads.size() < 2) return false;
  CallSite other = procedure.call_sites[block.call_site];
  for (Edge& edge : block.successors)
    if (edge.kind == Edge::Kind::landing_pad)
      edge.target = other.landing_pad = pads[random() % pads.size()];
  block.call_site = static_cast<uint32_t>(procedure.call_sites.size());
  procedure.call_sites.push_back(other);
  return true;
}

/// Changes a random thing in a hot block, a stub or a table of the tested procedure.
void spoil(Program& program, const std::vector<BlockId>& copies, Random& random) {
  Procedure& procedure = program[kTested];
  for (;;) {
    const auto id = static_cast<BlockId>(random() % copies.size());
    BasicBlock& block = procedure.blocks[id];
    if (random() % 8 == 0 && spoil_table(program, random)) return;
    if (random() % 4 == 0 && spoil_call_site(procedure, block, random)) return;
    if (block.instructions.empty()) continue;
    const auto at = static_cast<uint32_t>(random() % block.instructions.size());
    Instruction& i = block.instructions[at];
    switch (random() % 5) {
      case 4:
        // Now the branch seems to go only one way.
        if (block.successors.size() != 2 || alpha_machine().facts(block.instructions.back()).flow !=
                                                ControlFlow::conditional_branch)
          continue;
        block.instructions.erase(block.instructions.size() - 1);
        block.successors.erase(static_cast<uint32_t>(random() % 2));
        block.successors.front().kind = Edge::Kind::fall_through;
        return;
      case 0:
        if (alpha_machine().facts(i).flow != ControlFlow::none) continue;
        block.instructions.erase(at);
        return;
      case 1:
        if (i.is_pseudo() || i.has_reference()) continue;
        i.registers[random() % 2] = static_cast<uint8_t>(random() % 31);
        return;
      case 2:
        if (i.has_reference() || alpha_machine().facts(i).flow != ControlFlow::none) continue;
        i.immediate = i.is_pseudo() ? static_cast<int32_t>(random() % 3) : i.immediate ^ 8;
        return;
      default:
        if (block.successors.size() != 2) continue;
        std::swap(block.successors[0].target, block.successors[1].target);
        return;
    }
  }
}

TEST(HotCold, ProvesNothingWrong) {
  int proven = 0, refused = 0;
  for (uint64_t seed = 1; seed <= procedures(1300); ++seed) {
    Random random(seed);
    const std::string text = RandomProcedure(seed).text();
    const Program original = parse_alpha(text);
    Program changed = parse_alpha(text);
    const CallGraph calls(changed);
    const RegisterFlow flow(changed, calls);
    const HotColdProof proof(changed, kTested, calls, flow);
    // One round at a time: each round is proven against the result of the round before.
    const HotColdResult result =
        optimize_hot_cold(changed, {.least_gain = 0, .cold_shares = {{0.01, 0.05, 0.2, 0.5}}});
    if (result.removed.executed() == 0) continue;
    const auto note = std::find_if(result.notes.begin(), result.notes.end(),
                                   [](const auto& n) { return n.procedure == kTested; });
    ASSERT_EQ(proof.find_fault(note->parts.copies).value_or(""), "");
    spoil(changed, note->parts.copies, random);
    if (find_violation(changed)) continue;
    if (proof.find_fault(note->parts.copies)) {
      ++refused;
      continue;
    }
    ++proven;
    for (uint64_t input = 0; input < 8; ++input) {
      const Loaded::Outcome expected = Loaded(original).run(input);
      if (!expected.ended || !expected.fault.empty()) continue;
      const Loaded::Outcome actual = Loaded(changed).run(input);
      ASSERT_TRUE(actual.ended && actual == expected && actual.fault.empty())
          << "seed " << seed << ", input " << input << " " << actual.fault << "\n"
          << text << print(changed);
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(proven, 6);  // spoiled programs that still do the same
}

void forget_counts(Program& program) {
  for (Procedure& procedure : program.procedures)
    for (BasicBlock& block : procedure.blocks) {
      block.count = 0;
      for (Edge& edge : block.successors) edge.count = 0;
    }
}

/// The sets of hot blocks alone, without counts, give the same program.
TEST(HotCold, SplitsAlike) {
  int split = 0, twice = 0;
  for (uint64_t seed = 1; seed <= procedures(300); ++seed) {
    const std::string text = RandomProcedure(seed).text();
    Program changed = parse_alpha(text), follower = parse_alpha(text);
    const HotColdResult result = optimize_hot_cold(changed, {.least_gain = 0});
    forget_counts(follower);
    ASSERT_EQ(split_alike(follower, result.parts).value_or(""), "") << text;
    forget_counts(changed);
    ASSERT_EQ(print(follower), print(changed)) << text;
    split += result.parts.front().empty() ? 0 : 1;
    twice += result.parts.front().empty() || result.parts.back().empty() ? 0 : 1;
  }
  EXPECT_GT(split, 90);
  EXPECT_GT(twice, 3);
}

TEST(HotCold, RefusesHotPartsThatAreNone) {
  Program program = parse_alpha(RandomProcedure(1).text());
  EXPECT_TRUE(split_alike(program, {{{kTested, {100'000}}}}));
}

/// Procedures that jump by tables are also optimized, and restored with their tables.
TEST(HotCold, RestoresTables) {
  int turned = 0, restored = 0;
  for (uint64_t seed = 1; seed <= procedures(600); ++seed) {
    const std::string text = RandomProcedure(seed).text();
    const Program original = parse_alpha(text);
    Program changed = parse_alpha(text);
    const CallGraph calls(changed);
    const RegisterFlow flow(changed, calls);
    const HotColdProof proof(changed, kTested, calls, flow);
    const auto targets = [](const Program& program) {
      std::vector<BlockId> list;
      for (const CodePointer& pointer : program.code_pointers) list.push_back(pointer.target.block);
      return list;
    };
    optimize_hot_cold(changed, {.least_gain = 0});
    if (targets(changed) == targets(original)) continue;
    ++turned;
    proof.restore(changed);
    ASSERT_EQ(targets(changed), targets(original)) << text;
    ASSERT_EQ(find_violation(changed).value_or(""), "") << text;
    restored += changed[kTested].blocks.size() == original[kTested].blocks.size();
  }
  EXPECT_GT(turned, 15);
  EXPECT_EQ(restored, turned);
}

/// The proof refuses next to nothing that the optimizer makes.
TEST(HotCold, ProvesWhatItMakes) {
  int optimized = 0, unproven = 0;
  HotColdRemoved removed;
  for (uint64_t seed = 1; seed <= procedures(1000); ++seed) {
    Program program = parse_alpha(RandomProcedure(seed).text());
    const HotColdResult result = optimize_hot_cold(program, {.least_gain = 0});
    removed += result.removed;
    for (const HotColdNote& note : result.notes) {
      unproven += note.reason.starts_with("not proven");
      optimized += note.category == HotColdNote::Category::optimized;
    }
  }
  EXPECT_GT(optimized, 100);
  EXPECT_LE(unproven, optimized / 200);
  EXPECT_GT(removed.branches.instructions, 30u);
  EXPECT_GT(removed.stores.instructions, 30u);
  EXPECT_GT(removed.loads.instructions, 0u);
}

/// A procedure with two private slots: 40(sp) is written and read, 48(sp) is read by cold code
/// only. `calls`: the procedure calls the leaf before and after the store.
std::string text_with_slots(bool calls) {
  const std::string call = calls ? "    bsr ra,0 !branch(2#0)\n" : "";
  return "cie 0 augmentation=\"zR\" return_register=26\nstate 0 cie=0 cfa=30+0\n"
         "state 1 cie=0 cfa=30+96\nprocedure 0 \"caller\"\n  block 0 cfi=0 entry\n"
         "    bsr ra,0 !branch(1#0)\n    -> 1 fall_through\n  block 1 cfi=0\n    ret\n"
         "procedure 1 \"tested\"\n  block 0 cfi=0 entry\n    mov ra,t9\n    lda sp,-96(sp)\n"
         "    .cfi_state 1\n" +
         call + "    -> 1 fall_through\n  block 1 cfi=1\n    stq a0,40(sp)\n    stq a1,48(sp)\n" +
         call +
         "    -> 2 fall_through\n  block 2 cfi=1\n    ldq t0,40(sp)\n    stq t0,0(t11)\n"
         "    beq t1,0\n    -> 3 fall_through\n    -> 4 taken\n"
         "  block 3 cfi=1\n    ldq t2,48(sp)\n    stq t2,8(t11)\n    -> 5 fall_through\n"
         "  block 4 cfi=1\n    mov t9,ra\n    lda sp,96(sp)\n    .cfi_state 0\n    ret\n"
         "  block 5 cfi=1\n    mov t9,ra\n    lda sp,96(sp)\n    .cfi_state 0\n    ret\n"
         "procedure 2 \"leaf\"\n  block 0 cfi=0 entry\n    lda t0,7\n    ret\n";
}

/// The fault that the proof finds in a change of the tested procedure.
template <typename Change>
std::string fault_of(const std::string& text, Change change) {
  Program program = parse_alpha(text);
  const CallGraph graph(program);
  const RegisterFlow flow(program, graph);
  const HotColdProof proof(program, kTested, graph, flow);
  change(program[kTested]);
  std::vector<BlockId> copies(program[kTested].blocks.size());
  std::iota(copies.begin(), copies.end(), 0);
  return proof.find_fault(copies).value_or("");
}

template <typename Change>
std::string fault_of(bool calls, Change change) {
  return fault_of(text_with_slots(calls), change);
}

Instruction parsed(const char* text) {
  return alpha_machine().text.parse(text, 0);
}

TEST(HotCold, ProvesChangesOfPrivateSlots) {
  const auto load_to_copy = [](Procedure& p) { p.blocks[2].instructions[0] = parsed("mov a0,t0"); };
  EXPECT_EQ(fault_of(false, [](Procedure&) {}), "");
  EXPECT_EQ(fault_of(true, [](Procedure&) {}), "");
  EXPECT_EQ(fault_of(false, load_to_copy), "");
  // Accepted: no code reads the slot any more, or the store comes later.
  EXPECT_EQ(fault_of(false,
                     [&](Procedure& p) {
                       load_to_copy(p);
                       p.blocks[1].instructions.erase(0);
                     }),
            "");
  EXPECT_EQ(fault_of(false,
                     [](Procedure& p) {
                       p.blocks[3].instructions[0] = parsed("mov a1,t2");
                       p.blocks[1].instructions.erase(1);
                     }),
            "");
  // Refused: the slot is read; another register; another place; only a part; past the frame's end.
  EXPECT_NE(fault_of(false, [](Procedure& p) { p.blocks[1].instructions.erase(0); }), "");
  EXPECT_NE(fault_of(false, [](Procedure& p) { p.blocks[1].instructions.erase(1); }), "");
  for (const char* wrong : {"mov a1,t0", "ldq t0,48(sp)", "ldq t0,56(sp)", "ldl t0,40(sp)",
                            "ldq t0,44(sp)", "ldq t0,136(sp)", "ldq t0,-56(sp)"})
    EXPECT_NE(fault_of(false, [&](Procedure& p) { p.blocks[2].instructions[0] = parsed(wrong); }),
              "")
        << wrong;
}

TEST(HotCold, ProvesNothingOfPrivateSlotsBehindCalls) {
  EXPECT_NE(fault_of(true, [](Procedure& p) { p.blocks[2].instructions[0] = parsed("mov a0,t0"); }),
            "");
  EXPECT_NE(fault_of(true,
                     [](Procedure& p) {
                       p.blocks[3].instructions[0] = parsed("mov a1,t2");
                       p.blocks[1].instructions.erase(1);
                     }),
            "");
}

/// A branch may be left out only if its direction is known.
TEST(HotCold, ProvesWhereBranchesGo) {
  const auto fault_without = [](bool taken) {
    return fault_of(false, [&](Procedure& p) {
      BasicBlock& block = p.blocks[2];
      block.instructions.erase(block.instructions.size() - 1);
      block.successors.erase(taken ? 0 : 1);
      block.successors.front().kind = Edge::Kind::fall_through;
    });
  };
  EXPECT_NE(fault_without(true), "");
  EXPECT_NE(fault_without(false), "");
}

/// A call whose landing pad reads a private slot, a preserved register and the frame; and another
/// landing pad. s0 is saved, but never changed.
std::string text_with_pad() {
  return "cie 0 augmentation=\"zR\" return_register=26\nstate 0 cie=0 cfa=30+0\n"
         "state 1 cie=0 cfa=30+96 9=offset:-88 26=offset:-96\nlsda 0\n"
         "procedure 0 \"caller\"\n  block 0 cfi=0 entry\n    bsr ra,0 !branch(1#0)\n"
         "    -> 1 fall_through\n  block 1 cfi=0\n    ret\n"
         "procedure 1 \"tested\"\n  call_site 0 lsda=0 landing_pad=2 action=1\n"
         "  call_site 1 lsda=0 landing_pad=3 action=1\n"
         "  block 0 cfi=0 call_site=0 entry\n    lda sp,-96(sp)\n    stq ra,0(sp)\n"
         "    stq s0,8(sp)\n    .cfi_state 1\n    stq a1,48(sp)\n    bsr ra,0 !branch(2#0)\n"
         "    -> 1 fall_through\n    -> 2 landing_pad\n"
         "  block 1 cfi=1\n    ldq ra,0(sp)\n    ldq s0,8(sp)\n    lda sp,96(sp)\n"
         "    .cfi_state 0\n    ret\n"
         "  block 2 cfi=1 landing_pad\n    ldq t2,48(sp)\n    stq t2,0(t11)\n    stq a0,8(t11)\n"
         "    -> 4 fall_through\n"
         "  block 3 cfi=1 landing_pad\n    stq a0,8(t11)\n    -> 4 fall_through\n"
         "  block 4 cfi=1\n    lda s0,7\n    stq s0,16(t11)\n    ldq ra,0(sp)\n"
         "    ldq s0,8(sp)\n    lda sp,96(sp)\n    .cfi_state 0\n    ret\n"
         "procedure 2 \"leaf\"\n  block 0 cfi=0 entry\n    lda t0,7\n    ret\n";
}

/// The contents of registers, slots and tables when the call of a hot copy throws.
TEST(HotCold, ProvesWhatLandingPadsFind) {
  const std::string text = text_with_pad();
  const auto erase = [](BlockId block, uint32_t index) {
    return [=](Procedure& p) { p.blocks[block].instructions.erase(index); };
  };
  EXPECT_EQ(fault_of(text, [](Procedure&) {}), "");
  EXPECT_EQ(fault_of(text, erase(1, 1)), "");  // the restore of an unchanged register
  EXPECT_NE(fault_of(text, erase(0, 2)), "");  // the save of this register
  EXPECT_NE(fault_of(text, erase(0, 1)), "");  // the return address
  EXPECT_NE(fault_of(text, erase(0, 4)), "");  // the private slot
  EXPECT_NE(fault_of(text, erase(4, 3)), "");
  EXPECT_NE(fault_of(text, erase(4, 4)), "");
  for (const char* wrong : {"mov a1,t2", "mov a0,t2", "ldq t2,56(sp)"})
    EXPECT_NE(fault_of(text, [&](Procedure& p) { p.blocks[2].instructions[0] = parsed(wrong); }),
              "")
        << wrong;
  const auto call_site = [](uint32_t site, BlockId pad) {
    return [=](Procedure& p) {
      p.blocks[0].call_site = site;
      p.blocks[0].successors[1].target = pad;
    };
  };
  EXPECT_NE(fault_of(text, call_site(kNone, 2)), "");
  EXPECT_NE(fault_of(text, call_site(1, 2)), "");
  EXPECT_NE(fault_of(text, call_site(0, 3)), "");
  EXPECT_NE(fault_of(text, call_site(1, 3)), "");
  EXPECT_NE(fault_of(text, [](Procedure& p) { p.call_sites[0].action = 2; }), "");
  EXPECT_NE(fault_of(text, [](Procedure& p) { p.call_sites[0].terminate = true; }), "");
  // The save after the call is too late for the pad, and unwinding does not find the register
  // there.
  EXPECT_NE(fault_of(text,
                     [](Procedure& p) {
                       p.blocks[2].instructions[0] = parsed("stq s0,8(sp)");
                       p.blocks[0].instructions.erase(2);
                     }),
            "");
}

}  // namespace
}  // namespace respike

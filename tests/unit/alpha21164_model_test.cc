// The 21164's model as a whole: its counts in small runs that can be followed by hand; and its
// fetches in random walks, instruction by instruction.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/alpha21164/fetch.h"
#include "models/machine_models.h"
#include "optimizer/machine/machines.h"

namespace respike::measure {
namespace {

constexpr uint64_t kStart = 0x120000000;

/// A processor and the pieces that a test gives it.
class ModelledMachine {
 public:
  ModelledMachine() : model_(models().front().make()), processor_(model_->make_processor()) {}

  /// Executes the piece at `address`: `nops` no-ops and `last`, which may be empty. `last` has the
  /// form in which the disassembler prints the instruction at its address.
  void run(uint64_t address, unsigned nops, const std::string& last, bool completed = true) {
    std::unique_ptr<Piece>& piece = pieces_[address];
    if (!piece) {
      std::vector<uint8_t> code;
      const Instruction nop = alpha_machine().text.parse("nop", address);
      for (unsigned i = 0; i < nops; ++i) alpha_machine().codec.encode({&nop, 1}, code);
      if (!last.empty()) {
        const Instruction instruction = alpha_machine().text.parse(last, address + code.size());
        alpha_machine().codec.encode({&instruction, 1}, code);
      }
      piece = model_->read(address, address + code.size(), code);
      EXPECT_EQ(piece->address, address);
      EXPECT_EQ(piece->instructions, code.size() / 4);
    }
    events.instructions += piece->instructions;
    processor_->begin(*piece, events, completed);
  }

  uint64_t component(std::string_view name) const {
    for (const Component& component : model_->components(events))
      if (component.name == name) return component.cycles;
    ADD_FAILURE() << "no component " << name;
    return 0;
  }

  const MachineModel& model() const { return *model_; }

  Events events{};

 private:
  std::unique_ptr<MachineModel> model_;
  std::unique_ptr<Processor> processor_;
  std::map<uint64_t, std::unique_ptr<Piece>> pieces_;
};

TEST(Model, Loop) {
  ModelledMachine machine;
  for (int i = 0; i < 100; ++i) machine.run(kStart, 3, "bne\tt0,0x120000000");
  machine.run(kStart + 16, 1, "");
  EXPECT_EQ(machine.events.conditional_branches, 100u);
  EXPECT_EQ(machine.events.taken_branches, 99u);
  EXPECT_EQ(machine.events.taken_jumps, 99u);
  // The history is weakly not taken at first, strongly taken at the end.
  EXPECT_EQ(machine.events.mispredicts, 2u);
  EXPECT_EQ(machine.events.predicted_taken, 98u);
  EXPECT_EQ(machine.events.icache_misses, 1u);
  EXPECT_EQ(machine.events.l2_icache_misses, 1u);
  EXPECT_EQ(machine.events.itb_misses, 1u);
  // Two no-ops in one cycle, then a no-op and the branch.
  EXPECT_EQ(machine.events.issue_cycles, 100 * 2 + 1u);
  EXPECT_EQ(machine.component("taken branches"), 98u);
  EXPECT_EQ(machine.component("mispredicts"), 10u);
}

TEST(Model, CallsAndReturns) {
  ModelledMachine machine;
  for (int i = 0; i < 10; ++i) {
    machine.run(kStart, 0, "bsr\tra,0x120000100");
    machine.run(kStart + 0x100, 0, "ret");
    machine.run(kStart + 4, 0, "br\t0x120000000");
  }
  EXPECT_EQ(machine.events.taken_branches, 29u);  // the last branch has not led anywhere yet
  EXPECT_EQ(machine.events.taken_jumps, 9u);
  EXPECT_EQ(machine.events.mispredicts, 0u);
  EXPECT_EQ(machine.events.conditional_branches, 0u);
}

TEST(Model, JumpsFollowTheirHints) {
  ModelledMachine machine;
  machine.run(kStart, 0, "jmp\tzero,(t0),0x120000104");
  machine.run(kStart + 0x104, 0, "jsr\tra,(t12),0x120000204");
  machine.run(kStart + 0x200, 0, "ret");
  machine.run(kStart + 0x108, 1, "");
  EXPECT_EQ(machine.events.taken_branches, 3u);
  EXPECT_EQ(machine.events.taken_jumps, 1u);
  EXPECT_EQ(machine.events.mispredicts, 1u);  // the hint of the call is wrong
}

TEST(Model, WhatWasNotCompletedTeachesNothing) {
  ModelledMachine machine;
  machine.run(kStart, 1, "bne\tt0,0x120000100");
  machine.run(kStart + 0x1000, 1, "br\t0x120000000", false);  // a fault, a signal's handler
  machine.run(kStart, 1, "bne\tt0,0x120000100");
  machine.run(kStart + 0x1000, 1, "br\t0x120000000");  // completed; then the handler begins
  EXPECT_EQ(machine.events.conditional_branches, 0u);
  EXPECT_EQ(machine.events.taken_branches, 1u);
}

TEST(Model, FallingInGoesOnInTheSameGroup) {
  ModelledMachine machine;
  machine.run(kStart, 1, "bne\tt0,0x120000100");
  machine.run(kStart + 8, 1, "");
  // A no-op in E0 and the branch in E1: the next no-op finds no pipeline.
  EXPECT_EQ(machine.events.issue_cycles, 2u);
  machine.run(kStart + 0x20, 0, "fbne\t$f1,0x120000100");
  machine.run(kStart + 0x24, 1, "");
  EXPECT_EQ(machine.events.issue_cycles, 3u);  // FA and E0: together
}

TEST(Model, StraightCodeUsesTheRefillBuffer) {
  ModelledMachine machine;
  for (unsigned i = 0; i < 20; ++i) machine.run(kStart + 32 * i, 8, "");
  EXPECT_EQ(machine.events.icache_misses, 20u);
  EXPECT_EQ(machine.events.refill_hits, 19u);
  // Two lines are one block of the second level. Each block missed the second level once, and hit
  // once.
  EXPECT_EQ(machine.events.l2_icache_misses, 10u);
  EXPECT_EQ(machine.component("icache, second level"), 8u);
  EXPECT_EQ(machine.component("icache, refill buffer"), 2 * 19u);
}

TEST(Model, APieceThatCrossesAPageNeedsBoth) {
  ModelledMachine machine;
  machine.run(kStart + 8192 - 8, 4, "");
  EXPECT_EQ(machine.events.itb_misses, 2u);
  machine.run(kStart + 8192 + 8, 4, "");
  EXPECT_EQ(machine.events.itb_misses, 2u);
}

/// The reference fetches every instruction of random pieces; the model fetches pieces.
TEST(Model, PiecesFetchWhatTheirInstructionsDo) {
  using namespace alpha21164;
  std::mt19937 random(1);
  ModelledMachine machine;
  InstructionCache cache;
  SecondLevelCache second_level;
  RefillBuffer refill;
  TranslationBuffer itb;
  Events expected{};
  for (int i = 0; i < 50'000; ++i) {
    // Places do not overlap; the number of a place determines its length. No place crosses a page.
    const uint64_t place = random() % 16 == 0 ? random() % 4000 : random() % 300;
    const unsigned length = 1 + unsigned(place * 7 % 30);
    const uint64_t address = kStart + place * 128;
    machine.run(address, length, "");
    for (uint64_t at = address; at < address + 4 * length; at += 4) {
      expected.itb_misses += !itb.access(at / 8192);
      if (cache.holds(at / 32)) continue;
      cache.fill(at / 32);
      ++expected.icache_misses;
      const RefillBuffer::Answer answer = refill.find(at / 32, second_level);
      if (answer == RefillBuffer::Answer::none) {
        expected.l2_icache_misses += !second_level.access(at / 64);
        refill.start_behind(at / 32, second_level);
      } else {
        ++expected.refill_hits;
        expected.l2_icache_misses += answer == RefillBuffer::Answer::from_behind;
      }
    }
  }
  EXPECT_EQ(machine.events.icache_misses, expected.icache_misses);
  EXPECT_EQ(machine.events.refill_hits, expected.refill_hits);
  EXPECT_EQ(machine.events.l2_icache_misses, expected.l2_icache_misses);
  EXPECT_EQ(machine.events.itb_misses, expected.itb_misses);
  EXPECT_GT(expected.refill_hits, 1000u);
  EXPECT_GT(expected.itb_misses, 100u);
}

TEST(Model, PublishedFormula) {
  Events e{};
  e.instructions = 1000;
  e.taken_branches = 200;
  e.icache_misses = 70;
  e.refill_hits = 30;
  e.l2_icache_misses = 3;
  e.itb_misses = 2;
  EXPECT_EQ(published_cycles(e), 1100u + 200 + 8 * 40 + 2 * 30 + 25 * 3 + 30 * 2);
  Events sum = e;
  sum += e;
  EXPECT_EQ(sum.instructions, 2000u);
  EXPECT_EQ(sum.itb_misses, 4u);
}

TEST(Model, Names) {
  EXPECT_EQ(find_model("alpha21164"), &models().front());
  EXPECT_EQ(find_model("alpha21164")->make()->name(), "alpha21164");
  ASSERT_NE(find_model("itanium2"), nullptr);
  EXPECT_EQ(find_model("itanium2")->make()->name(), "itanium2");
  EXPECT_EQ(find_model("pdp11"), nullptr);
}

}  // namespace
}  // namespace respike::measure

// The model of the Itanium 2 as a whole: its counts in small runs that can be followed by hand; and
// its fetches in random walks, line by line.

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <random>

#include "models/machine_models.h"
#include "tests/unit/itanium2_testing.h"

namespace respike::measure::itanium2 {
namespace {

constexpr uint64_t kStart = 0x4000000000001000;

/// A processor and the pieces that a test gives it.
class Processor2 {
 public:
  Processor2() : model_(find_model("itanium2")->make()), processor_(model_->make_processor()) {}

  /// Executes the piece at `address`: `nops` bundles of no-ops without stops, and a bundle with
  /// `last` in its last slot and a stop. Branches go to the address that their text names, relative
  /// to 0.
  void run(uint64_t address, unsigned nops, const std::string& last, bool completed = true) {
    std::unique_ptr<Piece>& piece = pieces_[address];
    if (!piece) {
      std::vector<uint8_t> code;
      for (unsigned i = 0; i < nops; ++i)
        append_bundle(code, "MMI", {"nop.m 0x0", "nop.m 0x0", "nop.i 0x0"});
      append_alone(code, last, true);
      piece = model_->read(address, address + code.size(), code);
      EXPECT_EQ(piece->instructions, 3 * (nops + 1));
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
  uint64_t figure(std::string_view key) const {
    for (const Figure& figure : model_->figures(events))
      if (figure.key == key) return figure.number;
    ADD_FAILURE() << "no figure " << key;
    return 0;
  }
  const MachineModel& model() const { return *model_; }

  Events events{};

 private:
  std::unique_ptr<MachineModel> model_;
  std::unique_ptr<Processor> processor_;
  std::map<uint64_t, std::unique_ptr<Piece>> pieces_;
};

TEST(Itanium2, Loop) {
  Processor2 machine;
  for (int i = 0; i < 100; ++i) machine.run(kStart, 1, "(p06) br.cond.dptk.few 0xfffffffffffffff0");
  machine.run(kStart + 32, 0, "nop.b 0x0");
  EXPECT_EQ(machine.events.conditional_branches, 100u);
  EXPECT_EQ(machine.events.taken_branches, 99u);
  EXPECT_EQ(machine.events.taken_jumps, 99u);
  EXPECT_EQ(machine.events.mispredicts, 1u);  // the hint is right until the loop ends
  EXPECT_EQ(machine.events.groups, 101u);
  EXPECT_EQ(machine.events.nops, 100u * 5 + 3);
  EXPECT_EQ(machine.component("split issue"), 0u);
  EXPECT_EQ(machine.component("mispredicts"), 6u);
  EXPECT_EQ(machine.figure("groups") + machine.figure("bubbles"), machine.figure("cycles"));
}

TEST(Itanium2, HintsOfLoops) {
  for (const auto& [hint, wrong] :
       std::map<std::string, uint64_t>{{"sptk", 1}, {"spnt", 99}, {"dptk", 1}, {"dpnt", 6}}) {
    Processor2 machine;
    for (int i = 0; i < 100; ++i)
      machine.run(kStart, 1, "(p06) br.cond." + hint + ".few 0xfffffffffffffff0");
    machine.run(kStart + 32, 0, "nop.b 0x0");
    // A dynamic prediction has to see four outcomes before their pattern repeats.
    EXPECT_EQ(machine.events.mispredicts, wrong) << hint;
  }
}

TEST(Itanium2, ResultsAreWaitedForAcrossTakenBranches) {
  Processor2 machine;
  std::vector<uint8_t> code;
  append_bundle(code, "MFB", {"nop.m 0x0", "fma.d.s0 f6=f6,f7,f8", "br.cloop.sptk.few 0x0;;"});
  const auto piece = machine.model().read(kStart, kStart + 16, code);
  Events events{};
  const auto processor = machine.model().make_processor();
  for (int i = 0; i < 100; ++i) processor->begin(*piece, events, true);
  EXPECT_EQ(events.groups, 100u);
  EXPECT_EQ(events.floating_bubbles, 99u * 3);
}

TEST(Itanium2, CallsAndReturns) {
  Processor2 machine;
  const uint64_t callee = kStart + 0x400;
  for (int i = 0; i < 10; ++i) {
    machine.run(kStart, 0, "br.call.sptk.few b0=0x400");
    machine.run(callee, 0, "br.ret.sptk.few b0");
    machine.run(kStart + 16, 0, "br.few 0xfffffffffffffff0");
  }
  EXPECT_EQ(machine.events.mispredicts, 0u);
  EXPECT_EQ(machine.events.taken_branches, 29u);
  EXPECT_EQ(machine.events.taken_jumps, 9u);
  EXPECT_EQ(machine.component("taken branches"), 10u);
  machine.run(callee, 0, "br.ret.sptk.few b0");  // for example by a signal's handler
  machine.run(kStart + 0x800, 0, "nop.b 0x0");
  EXPECT_EQ(machine.events.mispredicts, 1u);
}

TEST(Itanium2, IndirectBranchesGoWhereTheyWent) {
  Processor2 machine;
  const uint64_t targets[] = {kStart + 0x400, kStart + 0x400, kStart + 0x800, kStart + 0x400};
  for (uint64_t target : targets) {
    machine.run(kStart, 0, "br.few b6");
    machine.run(
        target, 0,
        target == kStart + 0x400 ? "br.few 0xfffffffffffffc00" : "br.few 0xfffffffffffff800");
  }
  EXPECT_EQ(machine.events.mispredicts, 3u);
  EXPECT_EQ(machine.component("taken branches"), 2u);
}

TEST(Itanium2, NothingIsLearntFromWhatWasLeft) {
  Processor2 machine;
  machine.run(kStart, 0, "(p06) br.cond.dptk.few 0x400");
  machine.run(kStart + 0x800, 0, "nop.b 0x0", false);
  EXPECT_EQ(machine.events.conditional_branches, 0u);
  machine.run(kStart, 0, "(p06) br.cond.dptk.few 0x400");
  machine.run(kStart + 0x800, 0, "nop.b 0x0");  // neither its target nor the next instruction
  EXPECT_EQ(machine.events.conditional_branches, 0u);
  EXPECT_EQ(machine.events.taken_branches, 0u);
}

/// A cache as in textbooks: a list for each set, with the last used line in front.
class ListCache {
 public:
  ListCache(unsigned sets, unsigned ways) : sets_(sets), ways_(ways) {}
  bool access(uint64_t number) {
    std::list<uint64_t>& set = sets_of_[number % sets_];
    const auto place = std::find(set.begin(), set.end(), number);
    const bool hit = place != set.end();
    if (hit) set.erase(place);
    set.push_front(number);
    if (set.size() > ways_) set.pop_back();
    return hit;
  }

 private:
  unsigned sets_, ways_;
  std::map<uint64_t, std::list<uint64_t>> sets_of_;
};

/// The reference goes bundle by bundle: 16 KB of 64-byte lines in 4 ways, 256 KB of 128-byte lines
/// in 8 ways, 32 pages of 4 KB and 128 of 16 KB.
TEST(Itanium2, FetchesLikeTheSimpleReference) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seed);
    Processor2 machine;
    ListCache icache(16384 / 64 / 4, 4), second(262144 / 128 / 8, 8), pages(1, 32), large(1, 128);
    uint64_t misses = 0, second_misses = 0, page_misses = 0, large_misses = 0;
    const uint64_t span = seed % 2 ? 60'000 : 3'000'000;
    std::map<uint64_t, unsigned> sizes;
    for (int step = 0; step < 12'000; ++step) {
      const uint64_t near = random() % 4 ? random() % (span / 16) : random() % span;
      const uint64_t address = kStart + near / 16 * 16;
      const unsigned nops = sizes.try_emplace(address, random() % 12).first->second;
      machine.run(address, nops, "br.few 0x0", false);
      for (uint64_t at = address; at <= address + 16 * nops; at += 16) {
        if (!pages.access(at >> 12)) {
          ++page_misses;
          large_misses += !large.access(at >> 14);
        }
        if (!icache.access(at >> 6)) {
          ++misses;
          second_misses += !second.access(at >> 7);
        }
      }
    }
    EXPECT_EQ(machine.events.icache_misses, misses);
    EXPECT_EQ(machine.events.l2_icache_misses, second_misses);
    EXPECT_EQ(machine.events.itb_misses, page_misses);
    EXPECT_EQ(machine.events.l2_itb_misses, large_misses);
    EXPECT_GT(second_misses, 100u);
    EXPECT_LT(second_misses, misses);
    const uint64_t fetch = 5 * misses + 7 * second_misses + 2 * page_misses + 25 * large_misses;
    EXPECT_EQ(machine.component("icache, second level") + machine.component("second level misses") +
                  machine.component("itlb misses"),
              fetch);
  }
}

}  // namespace
}  // namespace respike::measure::itanium2

// The models of x86-64 processors: each part in sequences that can be followed by hand, code as the
// models read it, and whole processors in small runs.

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/lru_cache.h"
#include "models/machine_models.h"
#include "models/return_stack.h"
#include "models/x86_64/fetch.h"
#include "models/x86_64/piece.h"
#include "models/x86_64/prediction.h"

namespace respike::measure::x86 {
namespace {

// ---- caches ----

TEST(X86LruCache, ReplacesTheLeastRecentlyUsed) {
  LruCache<1, 3> cache;
  EXPECT_FALSE(cache.access(1));
  EXPECT_FALSE(cache.access(2));
  EXPECT_FALSE(cache.access(3));
  EXPECT_TRUE(cache.access(1));
  EXPECT_FALSE(cache.access(4));  // in place of 2
  EXPECT_TRUE(cache.holds(1) && cache.holds(3) && cache.holds(4));
  EXPECT_FALSE(cache.holds(2));
  cache.access(3);
  cache.mark(3) = 7;
  cache.access(4);
  cache.access(3);
  EXPECT_EQ(cache.mark(3), 7);
  for (const uint64_t other : {5, 6, 7}) cache.access(other);
  cache.access(3);
  EXPECT_EQ(cache.mark(3), 0) << "it was replaced meanwhile";
}

TEST(X86LruCache, IsThatOfLists) {
  LruCache<4, 8> cache;
  std::map<uint64_t, std::list<uint64_t>> sets;
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t number = random() % 64;
    std::list<uint64_t>& set = sets[number % 4];
    const auto place = std::find(set.begin(), set.end(), number);
    const bool hit = place != set.end();
    if (hit) set.erase(place);
    set.push_front(number);
    if (set.size() > 8) set.pop_back();
    ASSERT_EQ(cache.access(number), hit) << i;
  }
}

TEST(X86InstructionCache, PrefetchedLinesAreToldOnce) {
  using Answer = InstructionCache::Answer;
  InstructionCache cache;
  EXPECT_EQ(cache.access(100), Answer::miss);
  cache.prefetch(101, false);
  cache.prefetch(102, true);
  EXPECT_TRUE(cache.holds(101));
  EXPECT_EQ(cache.access(101), Answer::prefetched);
  EXPECT_EQ(cache.access(101), Answer::hit);
  EXPECT_EQ(cache.access(102), Answer::late);
  EXPECT_EQ(cache.access(102), Answer::hit);
  // Eight further lines of the set of 101 drive it out.
  for (uint64_t i = 1; i <= 8; ++i) EXPECT_EQ(cache.access(101 + 64 * i), Answer::miss);
  EXPECT_EQ(cache.access(101), Answer::miss);
}

// ---- micro-op cache ----

Fetch fetch(uint64_t start, unsigned end, unsigned micro_ops) {
  return {start, uint8_t(end), uint8_t(micro_ops)};
}

TEST(X86MicroOpCache, EntriesBeginWhereControlEnters) {
  MicroOpCache<64, 8, 8, 8> cache;
  EXPECT_FALSE(cache.access(fetch(0x1000, 10, 3), false));
  EXPECT_TRUE(cache.access(fetch(0x1000, 10, 3), false));
  EXPECT_FALSE(cache.access(fetch(0x1000, 20, 5), false)) << "more code than the entry has";
  EXPECT_TRUE(cache.access(fetch(0x1000, 10, 3), false)) << "a part of the entry";
  EXPECT_FALSE(cache.access(fetch(0x100a, 20, 2), false)) << "entered in the middle";
  EXPECT_TRUE(cache.access(fetch(0x100a, 20, 2), false));
}

TEST(X86MicroOpCache, FallingThroughGoesOnInAnEntry) {
  MicroOpCache<64, 8, 8, 8> cache;
  EXPECT_FALSE(cache.access(fetch(0x1000, 10, 3), false));
  EXPECT_FALSE(cache.access(fetch(0x100a, 20, 3), true)) << "added to the entry";
  EXPECT_TRUE(cache.access(fetch(0x1000, 10, 3), false));
  EXPECT_TRUE(cache.access(fetch(0x100a, 20, 3), true));
  EXPECT_FALSE(cache.access(fetch(0x1014, 30, 3), true)) << "the entry is full: another one";
  EXPECT_TRUE(cache.access(fetch(0x1014, 30, 3), false)) << "which has this start";
  EXPECT_FALSE(cache.access(fetch(0x1040, 10, 1), true)) << "another window";
  EXPECT_TRUE(cache.access(fetch(0x1040, 10, 1), false));
}

TEST(X86MicroOpCache, Capacity) {
  MicroOpCache<64, 8, 8, 8> cache;
  const auto walk = [&](unsigned windows) {
    unsigned misses = 0;
    for (unsigned i = 0; i < windows; ++i)
      misses += !cache.access(fetch(0x10000 + 64 * 64 * uint64_t{i}, 8, 8), false);
    return misses;
  };
  EXPECT_EQ(walk(8), 8u);  // windows of one set
  EXPECT_EQ(walk(8), 0u);
  EXPECT_EQ(walk(9), 1u);
  EXPECT_EQ(walk(9), 9u) << "the least recently used one is always the next";
}

TEST(X86MicroOpCache, EntriesOfAWindowAreLimited) {
  MicroOpCache<64, 8, 8, 2> cache;
  EXPECT_FALSE(cache.access(fetch(0x1000, 8, 1), false));
  EXPECT_FALSE(cache.access(fetch(0x1008, 16, 1), false));
  EXPECT_FALSE(cache.access(fetch(0x1010, 24, 1), false)) << "in the place of the first";
  EXPECT_TRUE(cache.access(fetch(0x1008, 16, 1), false));
  EXPECT_FALSE(cache.access(fetch(0x1000, 8, 1), false));
}

// ---- predictors ----

unsigned mispredicts(DirectionPredictor& predictor, uint64_t address, const std::string& outcomes,
                     unsigned times) {
  unsigned wrong = 0;
  for (unsigned i = 0; i < times; ++i)
    for (const char outcome : outcomes) wrong += !predictor.predict(address, outcome == 't');
  return wrong;
}

TEST(X86DirectionPredictor, CountersOfTwoBits) {
  DirectionPredictor predictor;  // weakly not taken
  EXPECT_FALSE(predictor.predict(0x1000, true));
  EXPECT_TRUE(predictor.predict(0x1000, true));
  EXPECT_EQ(mispredicts(predictor, 0x1000, "t", 1000), 0u);
  DirectionPredictor other;
  EXPECT_EQ(mispredicts(other, 0x1000, "n", 1000), 0u);
}

TEST(X86DirectionPredictor, LearnsPatternsByHistory) {
  for (const char* pattern : {"tn", "ttn", "ttttn", "tnnttn", "tttttttttttttttttttn"}) {
    DirectionPredictor predictor;
    mispredicts(predictor, 0x1000, pattern, 200);
    EXPECT_EQ(mispredicts(predictor, 0x1000, pattern, 100), 0u) << pattern;
  }
  // 150 outcomes are more than the longest history has.
  DirectionPredictor predictor;
  const std::string loop = std::string(150, 't') + "n";
  mispredicts(predictor, 0x1000, loop, 100);
  EXPECT_EQ(mispredicts(predictor, 0x1000, loop, 10), 10u);
}

TEST(X86DirectionPredictor, OneBranchTellsOfAnother) {
  DirectionPredictor predictor;
  std::mt19937 random(1);
  unsigned wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool taken = random() % 2 == 0;
    predictor.predict(0x1000, taken);
    wrong += !predictor.predict(0x2000, taken) && i >= 10000;
  }
  EXPECT_LT(wrong, 200u) << "of 10,000";
}

TEST(X86TargetPredictor, LastTargetAndHistory) {
  TargetPredictor<1536> predictor;
  EXPECT_FALSE(predictor.predict(0x1000, 0x5000));
  EXPECT_TRUE(predictor.predict(0x1000, 0x5000));
  unsigned wrong = 0;
  // The targets of an interpreter's loop: the last target never predicts the next, the last two do.
  const std::vector<uint64_t> targets = {0x5010, 0x5020, 0x5030, 0x5010, 0x5040};
  for (int i = 0; i < 100; ++i)
    for (const uint64_t target : targets) wrong += !predictor.predict(0x1000, target) && i >= 50;
  EXPECT_EQ(wrong, 0u);
}

TEST(X86BranchTargetBuffer, Levels) {
  BranchTargetBuffer<BranchTargets<1, 2>, BranchTargets<1, 4>, BranchTargets<1, 8>> buffer;
  using Level = decltype(buffer)::Level;
  const auto branch = [](uint64_t i) { return 0x1000 + 16 * i; };
  for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(buffer.access(branch(i)), Level::none);
  EXPECT_EQ(buffer.access(branch(7)), Level::first);
  EXPECT_EQ(buffer.access(branch(6)), Level::first);
  EXPECT_EQ(buffer.access(branch(4)), Level::second);
  EXPECT_EQ(buffer.access(branch(0)), Level::third);
  EXPECT_EQ(buffer.access(branch(8)), Level::none);
}

TEST(X86ReturnStack, OverwritesTheOldest) {
  ReturnStack<2> stack;
  for (const uint64_t address : {1, 2, 3}) stack.push(address);
  EXPECT_TRUE(stack.pop(3));
  EXPECT_TRUE(stack.pop(2));
  EXPECT_FALSE(stack.pop(1));
}

// ---- code ----

using Code = std::vector<uint8_t>;

const Code kNop = {0x90}, kAdd = {0x01, 0xc8}, kLoad = {0x8b, 0x07}, kStore = {0x89, 0x07},
           kAddToMemory = {0x01, 0x07}, kCompare = {0x39, 0xc1}, kRet = {0xc3},
           kSyscall = {0x0f, 0x05}, kDivide = {0xf7, 0xf1}, kRepMovsb = {0xf3, 0xa4},
           kJumpIndirect = {0xff, 0xe0}, kCallIndirect = {0xff, 0xd0};

/// A branch of the primary opcode map with a displacement of 4 bytes.
Code branch(Code opcode, int32_t displacement) {
  for (int i = 0; i < 4; ++i) opcode.push_back(uint8_t(uint32_t(displacement) >> 8 * i));
  return opcode;
}
Code jne(int32_t displacement) {
  return branch({0x0f, 0x85}, displacement);
}
Code call(int32_t displacement) {
  return branch({0xe8}, displacement);
}

Code join(const std::vector<Code>& instructions) {
  Code code;
  for (const Code& instruction : instructions)
    code.insert(code.end(), instruction.begin(), instruction.end());
  return code;
}

constexpr Fetching kZen{1, 8}, kCove{2, 8};

TEST(X86Piece, MicroOps) {
  const Code code = join({kAddToMemory, kCompare, jne(-10)});
  const auto zen = read_piece(0x1000, code, kZen), cove = read_piece(0x1000, code, kCove);
  EXPECT_EQ(zen->micro_ops, 2u);  // the comparison and the branch are one
  EXPECT_EQ(cove->micro_ops, 3u);
  EXPECT_EQ(zen->instructions, 3u);
  EXPECT_EQ(zen->transfer, Transfer::conditional);
  EXPECT_EQ(zen->last(), 0x1004u);
  EXPECT_EQ(zen->behind(), 0x100au);
  EXPECT_EQ(zen->target, 0x1000u);
  EXPECT_EQ(read_piece(0x1000, join({kCompare, kNop, jne(0)}), kZen)->micro_ops, 3u);
  for (const Code& fusing : {kAdd, Code{0x83, 0xe9, 0x01}, Code{0xff, 0xc9}, Code{0x85, 0xc0}})
    EXPECT_EQ(read_piece(0x1000, join({fusing, jne(0)}), kZen)->micro_ops, 1u);
  EXPECT_EQ(read_piece(0x1000, join({kLoad, jne(0)}), kZen)->micro_ops, 2u);
}

TEST(X86Piece, Transfers) {
  const std::map<Code, Transfer> transfers = {{kNop, Transfer::none},
                                              {kSyscall, Transfer::none},
                                              {jne(0), Transfer::conditional},
                                              {branch({0xe9}, 0), Transfer::direct},
                                              {call(0), Transfer::direct_call},
                                              {kJumpIndirect, Transfer::indirect},
                                              {kCallIndirect, Transfer::indirect_call},
                                              {kRet, Transfer::returns},
                                              {join({{0xf3}, kRet}), Transfer::returns},
                                              {kRepMovsb, Transfer::repeats},
                                              {{0xa4}, Transfer::none}};
  for (const auto& [code, transfer] : transfers)
    EXPECT_EQ(read_piece(0x1000, code, kZen)->transfer, transfer) << unsigned{code[0]};
}

TEST(X86Piece, FetchesEndWithWindowsAndEntries) {
  // Ten no-ops from 6 bytes before the end of a window on: 6 in the first window, 4 in the next.
  const auto across = read_piece(0x103a, Code(10, 0x90), kZen);
  ASSERT_EQ(across->fetches().size(), 2u);
  EXPECT_EQ(across->fetches()[0].start, 0x103au);
  EXPECT_EQ(across->fetches()[0].end, 64u);
  EXPECT_EQ(across->fetches()[0].micro_ops, 6u);
  EXPECT_EQ(across->fetches()[1].start, 0x1040u);
  EXPECT_EQ(across->fetches()[1].micro_ops, 4u);
  EXPECT_EQ(across->first_line(), 0x1040u / 64 - 1);
  EXPECT_EQ(across->last_line(), 0x1040u / 64);
  // An entry has 8 micro-ops.
  const auto full = read_piece(0x1000, Code(20, 0x90), kZen);
  ASSERT_EQ(full->fetches().size(), 3u);
  EXPECT_EQ(full->fetches()[1].start, 0x1008u);
  EXPECT_EQ(full->fetches()[2].micro_ops, 4u);
  // An instruction across the boundary belongs to the window in which it starts.
  const auto over = read_piece(0x103f, join({kAdd, kNop}), kZen);
  ASSERT_EQ(over->fetches().size(), 2u);
  EXPECT_EQ(over->fetches()[0].end, 65u);
  EXPECT_EQ(over->fetches()[1].start, 0x1041u);
}

TEST(X86Piece, WhereInstructionsAreCounted) {
  const auto counted = [](const std::vector<Code>& instructions) {
    return read_piece(0x1000, join(instructions), kZen)->counted_at;
  };
  using Counts = std::vector<uint8_t>;
  EXPECT_EQ(counted({kAdd, kAdd, kAdd}), (Counts{3, 0, 0}));
  EXPECT_EQ(counted({kAdd, kLoad, kAdd, kAdd}), (Counts{2, 0, 2, 0})) << "the load may fault";
  EXPECT_EQ(counted({kStore, kStore, kNop}), (Counts{1, 1, 1}));
  EXPECT_EQ(counted({kAdd, kDivide, kRet}), (Counts{2, 0, 1}));
  EXPECT_EQ(counted({kAdd, kCompare, jne(0)}), (Counts{3, 0, 0}));
  EXPECT_EQ(counted({{0x8d, 0x07}, kRet}), (Counts{2, 0})) << "lea reads no memory";
}

TEST(X86Piece, HalfAnInstructionAtTheEndIsNone) {
  const auto piece = read_piece(0x1000, join({kAdd, kAdd, {0x0f, 0x85, 0x00}}), kZen);
  EXPECT_EQ(piece->instructions, 2u);
  EXPECT_EQ(piece->counted_at, (std::vector<uint8_t>{2, 0}));
  EXPECT_EQ(piece->behind(), 0x1004u);
  EXPECT_EQ(piece->transfer, Transfer::none);
  EXPECT_EQ(piece->fetches()[0].end, 4u);
  const auto alone = read_piece(0x1000, Code{0x06, 0x06}, kZen);
  EXPECT_EQ(alone->instructions, 1u);
  EXPECT_EQ(alone->behind(), 0x1002u);
}

// ---- processors ----

class X86Machine {
 public:
  explicit X86Machine(const char* name)
      : model_(find_model(name)->make()), processor_(model_->make_processor()) {}

  void run(uint64_t address, const Code& code, bool completed = true) {
    std::unique_ptr<Piece>& piece = pieces_[address];
    if (!piece) piece = model_->read(address, address + code.size(), code);
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

  Events events{};

 private:
  std::unique_ptr<MachineModel> model_;
  std::unique_ptr<Processor> processor_;
  std::map<uint64_t, std::unique_ptr<Piece>> pieces_;
};

constexpr uint64_t kStart = 0x401000;

TEST(X86Processors, DefaultIsTheFirst) {
  for (const ModelInfo& info : models()) {
    if (info.machine != MachineId::x86_64) continue;
    EXPECT_EQ(info.name, "zen3");
    break;
  }
  for (const char* name : {"zen3", "goldencove"}) {
    ASSERT_NE(find_model(name), nullptr);
    EXPECT_EQ(find_model(name)->make()->name(), name);
  }
}

TEST(X86Processors, Loop) {
  X86Machine machine("zen3");
  const Code body = join({kAdd, kAdd, kAdd, kAdd, kAdd, kCompare, jne(-18)});  // 6 micro-ops
  for (int i = 0; i < 100; ++i) machine.run(kStart, body);
  machine.run(kStart + body.size(), kNop);
  EXPECT_EQ(machine.events.instructions, 701u);
  EXPECT_EQ(machine.events.micro_ops, 601u);
  EXPECT_EQ(machine.component("issue"), 100u) << "600 micro-ops; one waits for its cycle to fill";
  EXPECT_EQ(machine.events.conditional_branches, 100u);
  EXPECT_EQ(machine.events.taken_branches, 99u);
  EXPECT_EQ(machine.events.taken_jumps, 99u);
  // Wrong at first, since the counter is weakly not taken, and in the end.
  EXPECT_EQ(machine.events.direction_mispredicts, 2u);
  EXPECT_EQ(machine.component("mispredicts, directions"), 26u);
  EXPECT_EQ(machine.events.predicted_taken, 98u);
  EXPECT_EQ(machine.events.unknown_branches, 0u) << "known from the first time on";
  EXPECT_EQ(machine.events.micro_op_misses, 2u) << "the loop, and what follows in its entry";
  EXPECT_EQ(machine.events.icache_misses, 1u);
  EXPECT_EQ(machine.events.plain_icache_misses, 1u);
  EXPECT_EQ(machine.events.l2_icache_misses, 1u);
  EXPECT_EQ(machine.events.itb_misses, 1u);
  EXPECT_EQ(machine.events.l2_itb_misses, 1u);
  EXPECT_EQ(machine.component("execution"), 210u) << "0.3 for each of 701 instructions";
  EXPECT_EQ(machine.figure("cycles"), 100u + 210 + 26 + 2 * 2 + 12 + 34 + 7 + 25);
}

TEST(X86Processors, StraightCodeIsPrefetched) {
  X86Machine machine("zen3");
  for (uint64_t i = 0; i < 10; ++i) machine.run(kStart + 64 * i, Code(64, 0x90));
  EXPECT_EQ(machine.events.plain_icache_misses, 10u);
  EXPECT_EQ(machine.events.icache_misses, 1u);
  EXPECT_EQ(machine.events.prefetch_hits, 9u);
  EXPECT_EQ(machine.events.l2_icache_misses, 10u) << "from behind the second level, so not in time";
  EXPECT_EQ(machine.events.micro_op_fetches, 80u);
  EXPECT_EQ(machine.events.micro_op_misses, 80u);
}

TEST(X86Processors, CallsAndReturns) {
  X86Machine machine("zen3");
  const uint64_t callee = kStart + 0x400;
  for (int i = 0; i < 10; ++i) {
    machine.run(kStart, call(0x400 - 5));
    machine.run(callee, kRet);
    machine.run(kStart + 5, branch({0xe9}, -10));
  }
  EXPECT_EQ(machine.events.mispredicts, 0u);
  EXPECT_EQ(machine.events.taken_branches, 29u);
  EXPECT_EQ(machine.events.taken_jumps, 9u);
  EXPECT_EQ(machine.events.unknown_branches, 3u);
  EXPECT_EQ(machine.component("unknown branches"), 24u);
  machine.run(kStart, call(0x400 - 5));
  machine.run(callee, kRet);
  machine.run(kStart + 0x800, kNop);  // elsewhere
  EXPECT_EQ(machine.events.return_mispredicts, 1u);
  EXPECT_EQ(machine.events.mispredicts, 1u);
}

TEST(X86Processors, IndirectJumps) {
  X86Machine machine("goldencove");
  for (int i = 0; i < 10; ++i) machine.run(kStart, kJumpIndirect);
  EXPECT_EQ(machine.events.target_mispredicts, 1u);
  EXPECT_EQ(machine.component("mispredicts, targets"), 17u);
  EXPECT_EQ(machine.events.taken_jumps, 9u);
}

TEST(X86Processors, ManyBranchesNeedTheSecondLevel) {
  X86Machine machine("zen3");
  constexpr unsigned kBranches = 2048;  // the first level has 1,024
  for (int i = 0; i < 2; ++i)
    for (uint64_t b = 0; b < kBranches; ++b)
      machine.run(kStart + 16 * b, branch({0xe9}, b == kBranches - 1 ? -16 * int(b) - 5 : 11));
  EXPECT_EQ(machine.events.unknown_branches, kBranches);
  EXPECT_GT(machine.events.second_branches, kBranches * 9 / 10);
  EXPECT_EQ(machine.component("slower branch targets"), 3 * machine.events.second_branches);
  EXPECT_EQ(machine.events.mispredicts, 0u);
}

TEST(X86Processors, RepeatedInstructions) {
  X86Machine machine("zen3");
  const Code code = join({kAdd, kRepMovsb});
  machine.run(kStart, code);
  for (int i = 0; i < 5; ++i) machine.run(kStart + 2, kRepMovsb);
  machine.run(kStart + 4, kNop);
  EXPECT_EQ(machine.events.instructions, 8u);
  EXPECT_EQ(machine.events.repetitions, 5u);
  EXPECT_EQ(machine.events.micro_ops, 3u);
  EXPECT_EQ(machine.events.taken_branches, 0u);
  EXPECT_EQ(machine.events.conditional_branches, 0u);
  EXPECT_EQ(machine.figure("repetitions"), 5u);
}

TEST(X86Processors, AFaultTeachesNothing) {
  X86Machine machine("zen3");
  machine.run(kStart, jne(0x100));
  machine.run(kStart + 0x500, kNop, false);
  EXPECT_EQ(machine.events.conditional_branches, 0u);
  machine.run(kStart, jne(0x100));
  machine.run(kStart + 0x900, kNop);  // neither target nor next instruction: a signal handler
  EXPECT_EQ(machine.events.conditional_branches, 0u);
  EXPECT_EQ(machine.events.taken_branches, 0u);
}

}  // namespace
}  // namespace respike::measure::x86

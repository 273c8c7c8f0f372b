// Hot-cold optimization of random procedures, executed: whatever the counts, the program does what
// it did, and at every instruction the unwind state finds the caller's registers. Also the proof of
// this: the proof accepts the outputs of the optimizer; of spoiled outputs it accepts only those
// that still do the same.

#include "optimizer/transform/hotcold/hot_cold.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "optimizer/check/hot_cold_proof.h"
#include "optimizer/check/invariants.h"
#include "tests/unit/alpha_machine.h"
#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

constexpr uint64_t kCode = 0x10000, kStack = 0x800000, kLog = 0x900000, kEnd = 0x4000;
constexpr uint64_t kTables = 0x400000;
constexpr int kFrame = 96;
constexpr Register kSp = 30, kRa = 26;
constexpr ProcedureId kCaller = 0, kTested = 1, kLeaf = 2;

/// The procedure under test, whose caller keeps a value in a scratch register: a prolog; blocks
/// that branch forward and sometimes back, some of them by tables; an epilog. The procedure logs
/// values, keeps locals in its frame, and calls a leaf, which may throw; any block may be a landing
/// pad.
class RandomProcedure {
 public:
  explicit RandomProcedure(uint64_t seed) : random_(seed) {}

  std::string text() {
    const int saved = static_cast<int>(random_() % 5);
    for (int s = 0; s < saved; ++s) registers_.push_back(fmt::format("s{}", s));
    std::string state = fmt::format("state 1 cie=0 cfa=30+{}", kFrame);
    std::string saves, restores;
    for (int s = 0; s < saved; ++s) {
      state += fmt::format(" {}=offset:{}", 9 + s, 8 + 8 * s - kFrame);
      saves += fmt::format("    stq s{},{}(sp)\n", s, 8 + 8 * s);
      restores += fmt::format("    ldq s{},{}(sp)\n", s, 8 + 8 * s);
    }
    state += fmt::format(" 26=offset:{}\nstate 2 cie=0 cfa=30+{}\n", -kFrame, kFrame);
    const int blocks = 3 + static_cast<int>(random_() % 8);
    const std::string head =
        "cie 0 augmentation=\"zR\" return_register=26\nstate 0 cie=0 cfa=30+0\n" + state +
        "lsda 0\n";
    std::string text =
        "procedure 0 \"caller\"\n  block 0 cfi=0 entry\n    lda t7,5\n    bsr ra,0 !branch(1#0)\n"
        "    -> 1 fall_through\n  block 1 cfi=0\n    stq v0,0(t11)\n    stq t7,72(t11)\n    ret "
        "zero,(t10),1\n";
    std::vector<std::string> bodies = {
        fmt::format("    lda sp,{}(sp)\n    .cfi_state 2\n    stq ra,0(sp)\n{}    .cfi_state 1\n{}"
                    "    -> 1 fall_through count=1000\n",
                    -kFrame, saves, saved == 0 ? "" : some_code())};
    for (int b = 1; b < blocks; ++b) bodies.push_back(block(b, blocks));
    bodies.push_back(
        fmt::format("{}    ldq ra,0(sp)\n{}    lda sp,{}(sp)\n    .cfi_state 0\n    ret\n",
                    some_code(), restores, kFrame));
    text += "procedure 1 \"tested\"\n" + tables_;
    for (size_t i = 0; i < call_sites_.size(); ++i)
      text += fmt::format("  call_site {} lsda=0 landing_pad={} action={}\n", i,
                          call_sites_[i].second, i % 2);
    for (int b = 0; b <= blocks; ++b)
      text += fmt::format("  block {} cfi={}{} count={}{}{}{}\n{}", b, b == 0 ? 0 : 1,
                          call_site_of(b), b == 0 ? 1000 : count(), b == 0 ? " entry" : "",
                          labels_.contains(b) ? " address_taken" : "",
                          pads_.contains(b) ? " landing_pad" : "", bodies[b]);
    return head + pointers_ + text +
           "procedure 2 \"leaf\"\n  block 0 cfi=0 entry\n    addq a0,a1,v0\n    lda t0,77\n"
           "    lda t1,78\n    lda t5,79\n    ret\n";
  }

 private:
  const std::string& any() { return registers_[random_() % registers_.size()]; }
  int count() { return std::vector{0, 1, 20, 500, 1000}[random_() % 5]; }

  std::string call_site_of(int b) const {
    for (size_t i = 0; i < call_sites_.size(); ++i)
      if (call_sites_[i].first == b) return fmt::format(" call_site={}", i);
    return "";
  }

  std::string some_code() {
    std::string code;
    for (uint64_t n = random_() % 6; n > 0; --n) switch (random_() % 9) {
        case 0:
          code += fmt::format("    stq {},{}(t11)\n", any(), 8 + 8 * (random_() % 8));
          break;
        case 1:
          code += fmt::format("    stq {},{}(sp)\n", any(), 48 + 8 * (random_() % 4));
          break;
        case 2:
          code += fmt::format("    ldq {},{}(sp)\n", any(), 48 + 8 * (random_() % 4));
          break;
        case 3:
          code += fmt::format("    mov {},{}\n", any(), any());
          break;
        case 4:
          code += fmt::format("    lda {},{}({})\n", any(), random_() % 100, any());
          break;
        case 5:
          code += fmt::format("    lda {},{}\n", any(), static_cast<int>(random_() % 4) - 1);
          break;
        default:
          code += fmt::format("    {} {},{},{}\n",
                              std::vector{"addq", "subq", "xor", "cmpult"}[random_() % 4], any(),
                              any(), any());
      }
    return code;
  }

  std::string block(int b, int last) {
    std::string text = some_code();
    const auto later = [&] { return b + 1 + static_cast<int>(random_() % (last - b)); };
    switch (random_() % 7) {
      case 0: {
        text += fmt::format("    bsr ra,0 !branch(2#0)\n    -> {} fall_through count={}\n", b + 1,
                            count());
        if (random_() % 2 == 0) return text;
        const int pad = later();
        call_sites_.emplace_back(b, pad);
        pads_.insert(pad);
        return text + fmt::format("    -> {} landing_pad count={}\n", pad, count());
      }
      case 1:
        return text +
               fmt::format("    lda t0,1(t0)\n    -> {} fall_through count={}\n", later(), count());
      case 2: {
        std::vector<int> targets;
        for (int i = 0; i < 3; ++i) targets.push_back(random_() % 12 == 0 ? 1 : later());
        return text + table_jump(b, targets);
      }
      default: {
        const int to = random_() % 8 == 0 ? 1 : later();
        // Often the register that an earlier branch tested.
        if (random_() % 2 == 0) tested_ = any();
        return text + fmt::format(
                          "    {} {},0\n    -> {} fall_through count={}\n"
                          "    -> {} taken count={}\n",
                          branch(), tested_, b + 1, count(), to, count());
      }
    }
  }

  /// Jumps by the sum of two conditions. One table in eight might have other users, too.
  std::string table_jump(int b, const std::vector<int>& targets) {
    const uint64_t address = kTables + 32 * static_cast<uint64_t>(b);
    const std::string owner = random_() % 8 == 0 ? "" : fmt::format(" jump={}", b);
    tables_ += fmt::format("  jump_table {:#x} entries={}{}\n", address, targets.size(), owner);
    for (size_t i = 0; i < targets.size(); ++i)
      pointers_ += fmt::format("code_pointer {:#x} address64 1#{}\n", address + 8 * i, targets[i]);
    std::string text = fmt::format(
        "    cmpult {},{},t4\n    cmpult {},{},t6\n    addq t4,t6,t4\n    ldah t6,{}(zero)\n"
        "    s8addq t4,t6,t6\n    ldq t6,{}(t6)\n    jmp (t6)\n",
        any(), any(), any(), any(), kTables >> 16, 32 * b);
    for (const int target : std::set(targets.begin(), targets.end())) {
      text += fmt::format("    -> {} indirect count={}\n", target, count());
      labels_.insert(target);
    }
    return text;
  }

  const char* branch() {
    return std::vector{
        "beq", "bne", "beq", "bne", "blt", "bge", "ble", "bgt", "blbc", "blbs"}[random_() % 10];
  }

  Random random_;
  std::string tested_ = "a0";
  std::vector<std::string> registers_ = {"a0", "a1", "v0", "t0", "t1", "t2", "t3"};
  std::string tables_, pointers_;                // lines of the procedure and of the program
  std::set<int> labels_;                         // blocks that tables lead to
  std::vector<std::pair<int, int>> call_sites_;  // blocks and their landing pads
  std::set<int> pads_;
};

/// A program in memory, block by block, with the unwind state before each instruction.
class Loaded {
 public:
  explicit Loaded(const Program& program) : program_(program) {
    uint64_t address = kCode;
    for (const Procedure& procedure : program.procedures) {
      starts_.emplace_back();
      for (const BasicBlock& block : procedure.blocks) {
        starts_.back().push_back(address);
        for (const Instruction& i : block.instructions) address += i.is_pseudo() ? 0 : 4;
        address += 4;  // for a branch to the next block
      }
    }
    for (ProcedureId p = 0; p < program.procedures.size(); ++p)
      for (BlockId b = 0; b < program[p].blocks.size(); ++b) load(p, b);
    for (const CodePointer& pointer : program.code_pointers)
      machine_.memory[pointer.address] = starts_[pointer.target.procedure][pointer.target.block];
  }

  struct Outcome {
    bool ended = false;
    std::array<uint64_t, 32> registers{};
    std::map<uint64_t, uint64_t> memory;  // without the stack
    std::string fault;                    // of unwind information
    uint64_t executed = 0;
    uint64_t thrown = 0;  // number of exceptions that were caught

    bool operator==(const Outcome& other) const {
      return memory == other.memory && registers[kSp] == other.registers[kSp] &&
             std::equal(&registers[9], &registers[16], &other.registers[9]);
    }
  };

  Outcome run(uint64_t seed) {
    Random random(seed);
    for (auto& r : machine_.registers) r = random() % 4;
    machine_.registers[kSp] = kStack;
    machine_.registers[25] = kLog;  // t11
    machine_.registers[24] = kEnd;  // t10
    machine_.registers[31] = 0;
    Outcome outcome;
    const auto at_entry = machine_.registers;
    machine_.watch = [&] {
      ++outcome.executed;
      if (machine_.pc == starts_[kLeaf][0]) outcome.thrown += throw_sometimes();
      if (outcome.fault.empty()) outcome.fault = unwind(at_entry);
    };
    outcome.ended = machine_.run(starts_[kCaller][0]);
    outcome.registers = machine_.registers;
    for (const auto& [address, value] : machine_.memory)
      if (address >= kLog && value != 0) outcome.memory[address] = value;
    return outcome;
  }

 private:
  void load(ProcedureId p, BlockId b) {
    const BasicBlock& block = program_[p].blocks[b];
    std::vector<Instruction> code;
    uint32_t state = block.cfi_state;
    uint64_t address = starts_[p][b];
    const auto branch_to = [&](Instruction branch, uint64_t target) {
      EXPECT_TRUE(alpha_machine().fixups.apply(branch, ReferenceKind::branch, address, target, 0));
      return branch;
    };
    const auto put = [&](const Instruction& i) {
      code.push_back(i);
      if (p == kTested) states_[address] = state;
      address += 4;
    };
    for (const Instruction& i : block.instructions) {
      if (i.is_pseudo()) {
        state = static_cast<uint32_t>(i.immediate);
        continue;
      }
      const Edge* taken = block.edge(Edge::Kind::taken);
      if (i.has_reference())
        put(branch_to(i, starts_[program_[p].references[i.immediate].target.procedure][0]));
      else if (taken != nullptr && &i == &block.instructions.back())
        put(branch_to(i, starts_[p][taken->target]));
      else
        put(i);
    }
    if (block.call_site != kNone)
      if (const BlockId pad = program_[p].call_sites[block.call_site].landing_pad; pad != kNone)
        pads_[address] = starts_[p][pad];
    if (const Edge* next = block.edge(Edge::Kind::fall_through)) {
      state = program_[p].blocks[next->target].cfi_state;
      put(branch_to(alpha_machine().branches.branch, starts_[p][next->target]));
    }
    machine_.load(starts_[p][b], code);
  }

  /// Does what an unwinder does if the leaf throws; false if the leaf does not throw.
  bool throw_sometimes() {
    auto& registers = machine_.registers;
    const auto pad = pads_.find(registers[kRa]);
    if (pad == pads_.end() || ((registers[16] + registers[17]) & 1) == 0) return false;
    for (const Register r : alpha_machine().abi.scratch)
      if (r < 24) registers[r] = r % 5;
    registers[kRa] = machine_.pc = pad->second;
    return true;
  }

  /// The fault of the unwind state before the next instruction, or an empty text.
  std::string unwind(const std::array<uint64_t, 32>& at_entry) {
    const auto found = states_.find(machine_.pc);
    if (found == states_.end()) return {};
    const CfiState& state = program_.unwind.states[found->second];
    const uint64_t cfa = machine_.registers[kSp] + static_cast<uint64_t>(state.cfa_offset);
    if (cfa != kStack) return fmt::format("frame at {:#x} at {:#x}", cfa, machine_.pc);
    std::array<uint64_t, 32> registers = machine_.registers;
    for (const auto& [reg, rule] : state.rules)
      registers[reg] = machine_.memory[cfa + static_cast<uint64_t>(rule.value)];
    for (Register r = 9; r < 16; ++r)
      if (registers[r] != at_entry[r]) return fmt::format("register {} at {:#x}", r, machine_.pc);
    if (registers[kRa] != starts_[kCaller][0] + 8)
      return fmt::format("return address at {:#x}", machine_.pc);
    return {};
  }

  const Program& program_;
  AlphaMachine machine_;
  std::vector<std::vector<uint64_t>> starts_;  // by procedure and block
  std::map<uint64_t, uint32_t> states_;        // by address
  std::map<uint64_t, uint64_t> pads_;          // by return address
};

TEST(HotCold, RandomProceduresBehaveTheSame) {
  int optimized = 0, compared = 0;
  uint64_t before = 0, after = 0, thrown = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
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
  EXPECT_GT(optimized, 300);
  EXPECT_GT(compared, 2000);
  EXPECT_GT(thrown, 500u);
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
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
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
  EXPECT_GT(refused, 300);
  EXPECT_GT(proven, 20);  // spoiled programs that still do the same
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
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
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
  EXPECT_GT(split, 300);
  EXPECT_GT(twice, 10);
}

TEST(HotCold, RefusesHotPartsThatAreNone) {
  Program program = parse_alpha(RandomProcedure(1).text());
  EXPECT_TRUE(split_alike(program, {{{kTested, {100'000}}}}));
}

/// Procedures that jump by tables are optimized, too, and restored with their tables.
TEST(HotCold, RestoresTables) {
  int turned = 0, restored = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
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
  EXPECT_GT(turned, 50);
  EXPECT_EQ(restored, turned);
}

/// The proof refuses next to nothing that the optimizer makes.
TEST(HotCold, ProvesWhatItMakes) {
  int optimized = 0, unproven = 0;
  HotColdRemoved removed;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Program program = parse_alpha(RandomProcedure(seed).text());
    const HotColdResult result = optimize_hot_cold(program, {.least_gain = 0});
    removed += result.removed;
    for (const HotColdNote& note : result.notes) {
      unproven += note.reason.starts_with("not proven");
      optimized += note.category == HotColdNote::Category::optimized;
    }
  }
  EXPECT_GT(optimized, 300);
  EXPECT_LE(unproven, optimized / 200);
  EXPECT_GT(removed.branches.instructions, 100u);
  EXPECT_GT(removed.stores.instructions, 100u);
  EXPECT_GT(removed.loads.instructions, 2u);
}

/// A procedure with two private slots: 40(sp) is written and read, 48(sp) is read by cold code
/// only. `calls`: the procedure calls the leaf before the store, and behind it.
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
  // Refused: the slot is read; another register; another place; only a part; behind the frame's
  // end.
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
  // The save behind the call is too late for the pad, and unwinding does not find the register
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

#pragma once
// Random procedures for hot-cold optimization, and a machine that runs them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/alpha_machine.h"
#include "tests/unit/analysis_testing.h"

namespace respike {

inline constexpr uint64_t kCode = 0x10000, kStack = 0x800000, kLog = 0x900000, kEnd = 0x4000;
inline constexpr uint64_t kTables = 0x400000;
inline constexpr int kFrame = 96;
inline constexpr Register kSp = 30, kRa = 26;
inline constexpr ProcedureId kCaller = 0, kTested = 1, kLeaf = 2;

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

  /// Jumps by the sum of two conditions. One table in eight might also have other users.
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

  /// Called before each instruction of the tested procedure that has an origin.
  std::function<void(BlockId, uint32_t origin, AlphaMachine&)> observe;

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
      if (const auto place = places_.find(machine_.pc); observe && place != places_.end())
        observe(place->second.first, place->second.second, machine_);
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
      if (p == kTested && i.origin != kNone) places_[address] = {b, i.origin};
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

  /// Works like an unwinder if the leaf throws; false if the leaf does not throw.
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
  std::vector<std::vector<uint64_t>> starts_;                // by procedure and block
  std::map<uint64_t, uint32_t> states_;                      // by address
  std::map<uint64_t, std::pair<BlockId, uint32_t>> places_;  // by address: block and origin
  std::map<uint64_t, uint64_t> pads_;                        // by return address
};

}  // namespace respike

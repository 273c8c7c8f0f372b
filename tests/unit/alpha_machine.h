#pragma once
// A machine that runs Alpha code of tests: the integer instructions of probes and of the programs
// around probes. Its locks are as weak as the architecture allows: between a load-locked and its
// store-conditional there must be no other access to memory and no taken branch.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/machines.h"

namespace respike {

class AlphaMachine {
 public:
  std::array<uint64_t, 32> registers{};
  std::map<uint64_t, uint64_t> memory;  // words that were written or read
  std::map<uint64_t, uint64_t> visits;  // address of an instruction: how often it ran
  int failures = 0;                     // of store-conditionals, before one succeeds
  uint64_t pc = 0;
  uint64_t lowest_sp = UINT64_MAX;
  std::function<void()> watch = [] {};  // called before each instruction; may change pc

  /// Puts code at an address, by encoding and decoding it.
  void load(uint64_t address, const std::vector<Instruction>& code) {
    std::vector<uint8_t> bytes;
    alpha_machine().codec.encode(code, bytes);
    std::vector<Instruction> decoded(code.size());
    alpha_machine().codec.decode(bytes, 0, decoded.data());
    for (size_t i = 0; i < code.size(); ++i) code_[address + 4 * i] = decoded[i];
  }

  /// Runs until control leaves the code; false if this takes too long.
  bool run(uint64_t from) {
    pc = from;
    for (int steps = 0; steps < 100'000; ++steps) {
      if (!code_.contains(pc)) return true;
      watch();
      ++visits[pc];
      step(code_.at(pc));
      lowest_sp = std::min(lowest_sp, registers[30]);
    }
    return false;
  }

 private:
  using I = Instruction;

  uint64_t& word(uint64_t address) {
    EXPECT_EQ(address % 8, 0u) << "an access is not aligned";
    return memory[address];
  }

  void jump(uint64_t target) {
    locked_ = false;
    pc = target;
  }

  void step(const I& i) {
    using alpha::opcode;
    uint64_t& a = registers[i.registers[0]];
    const uint64_t b = registers[i.registers[1]];
    const uint64_t address = b + static_cast<uint64_t>(int64_t{i.immediate});
    const uint64_t target = pc + static_cast<uint64_t>(int64_t{i.immediate});
    const uint64_t next = pc + 4;
    pc = next;
    switch (i.opcode) {
      case opcode("lda"):
        a = address;
        break;
      case opcode("ldah"):
        a = b + static_cast<uint64_t>(int64_t{i.immediate} * 0x10000);
        break;
      case opcode("ldq"):
        a = word(address);
        locked_ = false;
        break;
      case opcode("ldl"):
        EXPECT_EQ(address % 4, 0u);
        a = static_cast<uint64_t>(
            int64_t{static_cast<int32_t>(word(address & ~uint64_t{7}) >> 8 * (address & 7))});
        locked_ = false;
        break;
      case opcode("stq"):
        word(address) = a;
        locked_ = false;
        break;
      case opcode("ldq_u"):
        EXPECT_EQ(i.registers[0], 31u) << "only the no-op is known";
        break;
      case opcode("ldq_l"):
        a = word(address);
        locked_ = true;
        lock_ = address;
        break;
      case opcode("stq_c"): {
        const bool stored = locked_ && lock_ == address && failures-- <= 0;
        if (stored) word(address) = a;
        a = stored;
        locked_ = false;
        break;
      }
      case opcode("br"):
      case opcode("bsr"):
        a = next;
        jump(target);
        break;
      case opcode("beq"):
        if (a == 0) jump(target);
        break;
      case opcode("bne"):
        if (a != 0) jump(target);
        break;
      case opcode("blt"):
        if (static_cast<int64_t>(a) < 0) jump(target);
        break;
      case opcode("bge"):
        if (static_cast<int64_t>(a) >= 0) jump(target);
        break;
      case opcode("ble"):
        if (static_cast<int64_t>(a) <= 0) jump(target);
        break;
      case opcode("bgt"):
        if (static_cast<int64_t>(a) > 0) jump(target);
        break;
      case opcode("blbc"):
        if (a % 2 == 0) jump(target);
        break;
      case opcode("blbs"):
        if (a % 2 == 1) jump(target);
        break;
      case opcode("jmp"):
      case opcode("ret"):
        a = next;
        jump(b & ~uint64_t{3});
        break;
      default:
        operate(i, a, b);
    }
    registers[31] = 0;
  }

  void operate(const I& i, uint64_t a, uint64_t b) {
    using alpha::opcode;
    if (alpha::encoding_of(i).format == alpha::Format::literal)
      b = static_cast<uint64_t>(i.immediate);
    uint64_t& c = registers[i.registers[2]];
    switch (i.opcode) {
      case opcode("addq"):
      case opcode("addq", true):
        c = a + b;
        break;
      case opcode("subq"):
      case opcode("subq", true):
        c = a - b;
        break;
      case opcode("s8addq"):
        c = 8 * a + b;
        break;
      case opcode("bis"):
      case opcode("bis", true):
        c = a | b;
        break;
      case opcode("xor"):
        c = a ^ b;
        break;
      case opcode("and", true):
        c = a & b;
        break;
      case opcode("cmpult"):
        c = a < b;
        break;
      case opcode("cmpeq"):
      case opcode("cmpeq", true):
        c = a == b;
        break;
      case opcode("cmplt"):
        c = static_cast<int64_t>(a) < static_cast<int64_t>(b);
        break;
      default:
        ADD_FAILURE() << "the machine does not know " << alpha_machine().text.print(i, 0);
    }
  }

  std::map<uint64_t, Instruction> code_;  // by address
  bool locked_ = false;
  uint64_t lock_ = 0;
};

}  // namespace respike

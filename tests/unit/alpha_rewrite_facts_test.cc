// Tests which Alpha instructions may move, and how their registers are renamed.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/machines.h"
#include "tests/unit/alpha_machine.h"

namespace respike {
namespace {

/// Renames the registers of every decodable word one by one; uses and defs must follow.
TEST(AlphaRewriteFacts, RenamesRegisters) {
  const Machine& machine = alpha_machine();
  const RewriteFacts& motion = *machine.rewrite;
  std::mt19937_64 random(1);
  size_t renamed = 0;
  for (int round = 0; round < 200'000; ++round) {
    const Instruction i = alpha::decode_word(static_cast<uint32_t>(random()));
    if (i.opcode == kInvalid) continue;
    const Operands before = machine.operands(i);
    for (unsigned k = 0; k < before.size; ++k) {
      const Register from = before.registers[k];
      const auto to = static_cast<Register>((from < 31 ? 0 : 31) + random() % 31);
      const bool uses = random() % 2 == 0, defs = random() % 2 == 0;
      Instruction changed = i;
      if (!motion.rename(changed, from, to, uses, defs)) {
        EXPECT_EQ(changed, i);
        continue;
      }
      const Operands after = machine.operands(changed);
      ASSERT_EQ(after.size, before.size);
      for (unsigned n = 0; n < before.size; ++n) {
        const bool meant = before.registers[n] == from && (n < before.uses ? uses : defs);
        ASSERT_EQ(after.registers[n], meant ? to : before.registers[n]) << machine.text.print(i, 0);
      }
      std::vector<uint8_t> bytes;
      machine.codec.encode({&changed, 1}, bytes);
      uint32_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      Instruction decoded = alpha::decode_word(word);
      ASSERT_EQ(decoded, changed) << machine.text.print(i, 0);
      renamed += uses || defs;
    }
  }
  EXPECT_GT(renamed, 50'000u);
}

TEST(AlphaRewriteFacts, MovesOnlyWhatComputes) {
  const RewriteFacts& motion = *alpha_machine().rewrite;
  for (const char* text : {"addq a0,a1,v0", "lda t0,8(sp)", "ldah t0,1(gp)", "mov a0,s0",
                           "cmoveq a0,a1,v0", "extbl t0,t1,t2", "mulq t0,t1,t2"})
    EXPECT_TRUE(motion.is_pure(alpha_machine().text.parse(text, 0))) << text;
  for (const char* text :
       {"ldq t0,8(sp)", "stq t0,8(sp)", "addq/v a0,a1,v0", "addt $f1,$f2,$f3", "callsys", "rpcc t0",
        "ret", "beq t0,0", "bsr ra,0", "mb", "ldq_l t0,0(a0)", "mf_fpcr $f0"})
    EXPECT_FALSE(motion.is_pure(alpha_machine().text.parse(text, 0))) << text;
  EXPECT_EQ(alpha_machine().text.print(*motion.copy(8, 9), 0), "mov\tt7,s0");
  EXPECT_FALSE(motion.copy(8, 40));
}

TEST(AlphaMachine, BasedOperands) {
  using Kind = BasedOperand::Kind;
  const auto operand = [](const char* text) {
    return alpha_machine().based_operand(alpha_machine().text.parse(text, 0));
  };
  const auto expect = [&](const char* text, Kind kind, bool whole) {
    const auto found = operand(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->kind, kind) << text;
    EXPECT_EQ(found->whole, whole) << text;
    EXPECT_EQ(found->displacement, 8) << text;
    EXPECT_EQ(found->size, whole ? 8 : 0) << text;
  };
  for (const char* text : {"ldq t0,8(sp)", "ldt $f1,8(sp)"}) expect(text, Kind::load, true);
  for (const char* text : {"stq t0,8(sp)", "stt $f1,8(sp)", "stq zero,8(sp)"})
    expect(text, Kind::store, true);
  for (const char* text : {"ldl t0,8(sp)", "lds $f1,8(sp)", "ldq_u t0,8(sp)", "ldq_l t0,8(sp)"})
    expect(text, Kind::load, false);
  for (const char* text : {"stl t0,8(sp)", "stq_c t0,8(sp)", "sts $f1,8(sp)"})
    expect(text, Kind::store, false);
  expect("lda t0,8(sp)", Kind::address, false);
  for (const char* text : {"ldah t0,1(gp)", "addq t0,8,t1", "mov t0,t1"})
    EXPECT_FALSE(operand(text)) << text;
}

/// Compares with the machine where branches go, for values of all classes.
TEST(AlphaRewriteFacts, KnowsWhenBranchesAreTaken) {
  const Machine& alpha = alpha_machine();
  for (const char* name : {"beq", "bne", "blt", "bge", "ble", "bgt", "blbc", "blbs"})
    for (const int64_t value : {INT64_MIN, INT64_MIN + 1, int64_t{-2}, int64_t{-1}, int64_t{0},
                                int64_t{1}, int64_t{2}, INT64_MAX - 1, INT64_MAX}) {
      AlphaMachine machine;
      const Instruction branch = alpha.text.parse(std::string(name) + " t0,0x10018", 0x10000);
      machine.load(0x10000, {branch});
      machine.registers[1] = static_cast<uint64_t>(value);
      machine.run(0x10000);
      EXPECT_EQ((*alpha.rewrite->taken_for(branch) & class_of(value)) != 0, machine.pc == 0x10018)
          << name << " " << value;
    }
  EXPECT_FALSE(alpha.rewrite->taken_for(alpha.text.parse("fbeq $f1,0", 0)));
}

/// Results must be in the classes that are possible; a constant has only one class.
TEST(AlphaRewriteFacts, KnowsWhatResultsArePossible) {
  const Machine& alpha = alpha_machine();
  std::mt19937_64 random(1);
  const auto run = [&](const std::string& text) {
    AlphaMachine machine;
    const Instruction i = alpha.text.parse(text, 0x10000);
    machine.load(0x10000, {i});
    for (Register r = 0; r < 31; ++r)
      machine.registers[r] = random() % 2 == 0 ? random() % 5 - 2 : random();
    machine.registers[31] = 0;
    machine.run(0x10000);
    const ValueClasses possible = alpha.rewrite->possible_results(i);
    EXPECT_NE(possible & class_of(static_cast<int64_t>(machine.registers[1])), 0) << text;
    return possible;
  };
  for (const char* text : {"lda t0,-2", "lda t0,-1", "lda t0,0", "lda t0,1", "lda t0,2",
                           "mov 0x6,t0", "mov 0xff,t0", "mov 0x0,t0", "clr t0"})
    EXPECT_EQ(std::popcount(run(text)), 1) << text;
  for (int round = 0; round < 2000; ++round)
    for (const char* text : {"cmpult t1,t2,t0", "cmplt t1,t2,t0", "cmpeq t1,0x1,t0",
                             "and t1,0x6,t0", "lda t0,-1(t1)", "addq t1,t2,t0", "mov t1,t0"})
      run(text);
}

}  // namespace
}  // namespace respike

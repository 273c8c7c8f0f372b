// Which Alpha instructions may move, and their registers renamed.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "optimizer/ir/target.h"
#include "optimizer/target/alpha/codec.h"
#include "optimizer/target/targets.h"

namespace respike {
namespace {

/// Every decodable word, its registers renamed one by one, reads and writes what the renaming says.
TEST(AlphaCodeMotion, RenamesRegisters) {
  const Target& target = alpha_target();
  const CodeMotion& motion = *target.code_motion();
  std::mt19937_64 random(1);
  size_t renamed = 0;
  for (int round = 0; round < 200'000; ++round) {
    const Instruction i = alpha::decode_word(static_cast<uint32_t>(random()));
    if (i.opcode == kInvalid) continue;
    const Operands before = target.operands(i);
    for (unsigned k = 0; k < before.size; ++k) {
      const Register from = before.registers[k];
      const auto to = static_cast<Register>((from < 31 ? 0 : 31) + random() % 31);
      const bool uses = random() % 2 == 0, defs = random() % 2 == 0;
      Instruction changed = i;
      if (!motion.rename(changed, from, to, uses, defs)) {
        EXPECT_EQ(changed, i);
        continue;
      }
      const Operands after = target.operands(changed);
      ASSERT_EQ(after.size, before.size);
      for (unsigned n = 0; n < before.size; ++n) {
        const bool meant = before.registers[n] == from && (n < before.uses ? uses : defs);
        ASSERT_EQ(after.registers[n], meant ? to : before.registers[n]) << target.print(i, 0);
      }
      std::vector<uint8_t> bytes;
      target.encode({&changed, 1}, bytes);
      uint32_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      Instruction decoded = alpha::decode_word(word);
      ASSERT_EQ(decoded, changed) << target.print(i, 0);
      renamed += uses || defs;
    }
  }
  EXPECT_GT(renamed, 50'000u);
}

TEST(AlphaCodeMotion, MovesOnlyWhatComputes) {
  const CodeMotion& motion = *alpha_target().code_motion();
  for (const char* text : {"addq a0,a1,v0", "lda t0,8(sp)", "ldah t0,1(gp)", "mov a0,s0",
                           "cmoveq a0,a1,v0", "extbl t0,t1,t2", "mulq t0,t1,t2"})
    EXPECT_TRUE(motion.is_pure(alpha_target().parse(text, 0))) << text;
  for (const char* text :
       {"ldq t0,8(sp)", "stq t0,8(sp)", "addq/v a0,a1,v0", "addt $f1,$f2,$f3", "callsys", "rpcc t0",
        "ret", "beq t0,0", "bsr ra,0", "mb", "ldq_l t0,0(a0)", "mf_fpcr $f0"})
    EXPECT_FALSE(motion.is_pure(alpha_target().parse(text, 0))) << text;
  EXPECT_EQ(alpha_target().print(*motion.copy(8, 9), 0), "mov\tt7,s0");
  EXPECT_FALSE(motion.copy(8, 40));
}

}  // namespace
}  // namespace respike

// Questions that many passes ask the IR.

#include "optimizer/ir/lookup.h"

#include <gtest/gtest.h>

namespace respike {
namespace {

Program program_with_blocks(const std::vector<size_t>& counts) {
  Program program;
  for (const size_t count : counts) program.procedures.emplace_back().blocks.resize(count);
  return program;
}

TEST(BlockNumbers, CountThroughAllProcedures) {
  const Program program = program_with_blocks({3, 0, 1, 0, 0, 4, 0});
  const BlockNumbers numbers(program);
  uint32_t next = 0;
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    for (BlockId b = 0; b < program[id].blocks.size(); ++b) {
      EXPECT_EQ(numbers(id, b), next);
      EXPECT_EQ(numbers.at(next), std::pair(id, b));
      ++next;
    }
  EXPECT_EQ(numbers.count(), next);
  EXPECT_EQ(BlockNumbers(Program()).count(), 0u);
  EXPECT_EQ(BlockNumbers().count(), 0u);
}

TEST(Lookup, KnowsReferencesOfInstructions) {
  Procedure procedure;
  procedure.references = {{ReferenceKind::branch, {.procedure = 3, .block = 0}},
                          {ReferenceKind::gp_load_low, {.procedure = 0, .block = 1}}};
  const auto referring = [](int32_t index) {
    return Instruction{.flags = Instruction::kHasReference, .immediate = index};
  };
  const Instruction plain{.immediate = 1};
  EXPECT_EQ(reference_of(procedure, plain), nullptr);
  EXPECT_EQ(branch_of(procedure, plain), nullptr);
  EXPECT_FALSE(is_gp_load(procedure, plain));
  EXPECT_EQ(reference_of(procedure, referring(1)), &procedure.references[1]);
  EXPECT_EQ(branch_of(procedure, referring(0)), &procedure.references[0]);
  EXPECT_EQ(branch_of(procedure, referring(1)), nullptr);
  EXPECT_TRUE(is_gp_load(procedure, referring(1)));
  EXPECT_FALSE(is_gp_load(procedure, referring(0)));
}

TEST(Lookup, FollowsTheUnwindStateThroughABlock) {
  Program program = program_with_blocks({1});
  BasicBlock& block = program.procedures[0].blocks[0];
  EXPECT_EQ(state_at_end(block), kNone);
  block.cfi_state = 4;
  block.instructions.push_back(*program.arena, {.opcode = kFirstMachineOpcode, .immediate = 9});
  EXPECT_EQ(state_at_end(block), 4u);
  for (const int32_t state : {7, -1})
    block.instructions.push_back(*program.arena, {.opcode = kCfiState, .immediate = state});
  EXPECT_EQ(state_at_end(block), kNone);
}

TEST(Lookup, KnowsTheSizeOfPointers) {
  for (const ReferenceKind kind : {ReferenceKind::address64, ReferenceKind::pc_relative64})
    EXPECT_EQ(pointer_size(kind), 8u);
  for (const ReferenceKind kind :
       {ReferenceKind::address32, ReferenceKind::gp_relative32, ReferenceKind::pc_relative32})
    EXPECT_EQ(pointer_size(kind), 4u);
}

}  // namespace
}  // namespace respike

// Code of variable length, on a machine of six instructions: an opcode, then its operand, little
// endian. A branch counts from its own first byte. The machine differs from a machine of words only
// in the places where instructions start, so only lifting is tested here.

#include <gtest/gtest.h>

#include <array>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machine.h"
#include "tests/unit/lift_testing.h"

namespace respike {
namespace {

struct Row {
  unsigned length;  // bytes, with the opcode
  ControlFlow flow = ControlFlow::none;
};

/// nop, return, short conditional branch, branch, call, load of a number of eight bytes.
constexpr std::array<Row, 6> kRows = {{{1},
                                       {1, ControlFlow::return_jump},
                                       {2, ControlFlow::conditional_branch},
                                       {5, ControlFlow::branch},
                                       {5, ControlFlow::call},
                                       {9}}};
enum : uint8_t { kNop, kReturn, kShort, kBranch, kCall, kLoad };

unsigned length(std::span<const uint8_t> code) {
  const unsigned bytes = code[0] < kRows.size() ? kRows[code[0]].length : 1;
  return bytes <= code.size() ? bytes : 1;
}

void decode(std::span<const uint8_t> code, uint32_t origin, Instruction* out) {
  while (!code.empty()) {
    const unsigned size = length(code);
    *out = {.origin = origin};
    if (code[0] < kRows.size() && size == kRows[code[0]].length) {
      out->opcode = static_cast<uint16_t>(kFirstMachineOpcode + code[0]);
      if (size == 2) out->immediate = static_cast<int8_t>(code[1]);
      if (size >= 5) out->immediate = load<int32_t>(&code[1]);
    }
    code = code.subspan(size);
    origin += size;
    ++out;
  }
}

InstructionFacts facts(const Instruction& instruction) {
  InstructionFacts facts;
  if (instruction.opcode < kFirstMachineOpcode) return facts;
  facts.flow = kRows[instruction.opcode - kFirstMachineOpcode].flow;
  facts.falls_through = facts.flow != ControlFlow::return_jump && facts.flow != ControlFlow::branch;
  facts.nop = instruction.opcode - kFirstMachineOpcode == kNop;
  return facts;
}

Machine variable_machine() {
  Machine machine{};
  machine.codec.groups = {.bytes = 0, .slots = 1};
  machine.codec.length = length;
  machine.codec.decode = decode;
  machine.facts = facts;
  machine.operands = [](const Instruction&) { return Operands(); };
  machine.based_operand = [](const Instruction&) { return std::optional<BasedOperand>(); };
  machine.is_signal_return = [](std::span<const Instruction>) { return false; };
  machine.fixups.is_upper_half = [](const Instruction&) { return false; };
  machine.fixups.is_lower_half = [](const Instruction&) { return false; };
  return machine;
}

/// A section of code at 0x1000, with a procedure for each of `sizes`, one after the other.
struct Lifted {
  Lifted(std::vector<uint8_t> bytes, const std::vector<NamedSize>& sizes) : code(std::move(bytes)) {
    image.sections.resize(2);
    image.sections[1].properties = Section::kAllocated | Section::kExecutable;
    image.sections[1].address = 0x1000;
    image.sections[1].size = code.size();
    image.sections[1].contents = code;
    image.index_sections();
    image.relocations.emplace_back().target = 1;
    add_procedures(image, 1, sizes);
    program = lift(image, machine, diagnostics);
  }

  /// Starts of the blocks of a procedure, from its own start on.
  std::vector<uint64_t> blocks(size_t procedure) const {
    std::vector<uint64_t> starts;
    for (const BasicBlock& block : program.procedures[procedure].blocks)
      starts.push_back(program.address_of(block) - program.procedures[procedure].address);
    return starts;
  }

  std::vector<uint8_t> code;
  Image image;
  Machine machine = variable_machine();
  Diagnostics diagnostics;
  Program program;
};

TEST(VariableLength, BlocksStartWhereBranchesLead) {
  const Lifted lifted({kNop,    kShort, 11,                            // f: to the return
                       kLoad,   1,      2,    3,    4,    5, 6, 7, 8,  //
                       kReturn,                                        // f + 12
                       kCall,   0xf3,   0xff, 0xff, 0xff,              // g: calls f
                       kBranch, 0xfb,   0xff, 0xff, 0xff},             // and again
                      {{"f", 13}, {"g", 10}});
  ASSERT_EQ(lifted.program.procedures.size(), 2u);
  const Procedure &f = lifted.program.procedures[0], &g = lifted.program.procedures[1];
  EXPECT_TRUE(f.movable()) << f.reason;
  EXPECT_TRUE(g.movable()) << g.reason;
  EXPECT_EQ(lifted.blocks(0), (std::vector<uint64_t>{0, 3, 12}));
  EXPECT_EQ(f.blocks[0].instructions.size(), 2u);
  EXPECT_EQ(f.blocks[1].instructions.size(), 1u);
  EXPECT_EQ(f.blocks[0].edge(Edge::Kind::taken)->target, 2u);
  EXPECT_EQ(lifted.blocks(1), (std::vector<uint64_t>{0, 5}));
  EXPECT_EQ(g.blocks[1].edge(Edge::Kind::taken)->target, 0u);
  const Reference* call = reference_of(g, g.blocks[0].instructions.back());
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->target.procedure, 0u);
}

TEST(VariableLength, BranchIntoTheMiddleLeavesBothProceduresAlone) {
  const Lifted lifted({kShort, 5, kReturn, kNop, kLoad, 1, 2, 3, 4, 5, 6, 7, 8, kReturn},
                      {{"f", 3}, {"g", 11}});
  ASSERT_EQ(lifted.program.procedures.size(), 2u);
  const Procedure &f = lifted.program.procedures[0], &g = lifted.program.procedures[1];
  EXPECT_FALSE(f.movable());
  EXPECT_EQ(f.reason, "it branches into the middle of an instruction at 0x1000");
  EXPECT_FALSE(g.movable());
  EXPECT_EQ(g.reason, "the branch at 0x1000 leads into the middle of an instruction");
}

TEST(VariableLength, BytesThatDoNotDecodeAreSingle) {
  const Lifted lifted({0x99, kReturn, kLoad, 1}, {{"f", 2}, {"g", 2}});
  const CodeMap& map = lifted.program.map;
  EXPECT_TRUE(map.starts_group(0x1001));
  EXPECT_TRUE(map.starts_group(0x1003));  // the load is cut off by the end of the section
  EXPECT_FALSE(lifted.program.procedures[0].movable());
  EXPECT_FALSE(lifted.program.procedures[1].movable());
}

}  // namespace
}  // namespace respike

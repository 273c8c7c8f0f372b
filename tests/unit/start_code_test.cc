// Checks the start code as the decoder reads it: it depends neither on its address, nor on
// uninitialized registers, nor on memory of its own.

#include "instrument/runtime/start_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/base/error.h"
#include "optimizer/machine/machines.h"
#include "optimizer/machine/x86_64/codec.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike {
namespace {

constexpr Register kStackPointer = 30;
constexpr Register kFirstFloating = 31;

class AlphaStartCode : public testing::Test {
 protected:
  void SetUp() override {
    try {
      start_ = start_code(MachineId::alpha);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    code_.resize(start_.code.size() / 4);
    machine_.codec.decode(start_.code, 0, code_.data());
  }

  std::string text(size_t index) const { return machine_.text.print(code_[index], index * 4); }

  const Machine& machine_ = machine_for(MachineId::alpha);
  StartCode start_;
  std::vector<Instruction> code_;
};

TEST(StartCode, SaysWhichMachinesItLacks) {
  EXPECT_THROW(start_code(static_cast<MachineId>(99)), Error);
}

TEST_F(AlphaStartCode, IsSmallAndAligned) {
  EXPECT_GT(start_.code.size(), 0u);
  EXPECT_LT(start_.code.size(), 4096u);
  EXPECT_EQ(start_.alignment, 16u);
  EXPECT_EQ(start_.code.size() % start_.alignment, 0u);
  EXPECT_EQ(start_.page_size, 8192u);
  EXPECT_LT(start_.program_entry, start_.code.size());
  EXPECT_LT(start_.initializer_entry, start_.code.size());
}

TEST_F(AlphaStartCode, IsAllInstructions) {
  for (size_t i = 0; i < code_.size(); ++i) EXPECT_NE(code_[i].opcode, kInvalid) << i * 4;
}

TEST_F(AlphaStartCode, UsesIntegerRegistersWithoutGp) {
  const Register gp = machine_.global_pointer().value();
  for (size_t i = 0; i < code_.size(); ++i) {
    // For all that the target knows, a system call may use and change anything.
    if (machine_.facts(code_[i]).system_call) continue;
    const Operands operands = machine_.operands(code_[i]);
    for (unsigned k = 0; k < operands.size; ++k) {
      EXPECT_NE(operands.registers[k], gp) << i * 4 << ": " << text(i);
      EXPECT_LT(operands.registers[k], kFirstFloating) << i * 4 << ": " << text(i);
    }
  }
}

/// Windows NT: imports instead of system calls, and registers as its calling standard has them.
TEST(AlphaWindowsStartCode, ImportsAndUsesNoGp) {
  StartCode start;
  try {
    start = start_code(MachineId::alpha, CallingStandard::windows);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(start.library, "KERNEL32.dll");
  EXPECT_EQ(start.imports.size(), 7u);
  EXPECT_EQ(start.code.size() % start.alignment, 0u);
  const Machine& machine = machine_for(MachineId::alpha);
  std::vector<Instruction> code(start.code.size() / 4);
  machine.codec.decode(start.code, 0, code.data());
  const Register gp = machine.global_pointer().value();
  size_t calls = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    EXPECT_NE(code[i].opcode, kInvalid) << i * 4;
    EXPECT_FALSE(machine.facts(code[i]).system_call) << i * 4;
    calls += machine.facts(code[i]).flow == ControlFlow::indirect_call;
    const Operands operands = machine.operands(code[i]);
    for (unsigned k = 0; k < operands.size; ++k) {
      EXPECT_NE(operands.registers[k], gp) << i * 4;
      EXPECT_LT(operands.registers[k], kFirstFloating) << i * 4;
    }
  }
  EXPECT_EQ(calls, 1u);  // of all imports
  EXPECT_THROW(start_code(MachineId::x86_64, CallingStandard::windows), Error);
}

TEST_F(AlphaStartCode, BranchesStayInside) {
  size_t jumps = 0, returns = 0, calls = 0;
  for (size_t i = 0; i < code_.size(); ++i) {
    switch (machine_.facts(code_[i]).flow) {
      case ControlFlow::none:
        break;
      case ControlFlow::call:
        ++calls;
        [[fallthrough]];
      case ControlFlow::branch:
      case ControlFlow::conditional_branch: {
        const int64_t to = static_cast<int64_t>(i * 4) + code_[i].immediate;
        EXPECT_TRUE(to >= 0 && to < static_cast<int64_t>(start_.code.size())) << text(i);
        break;
      }
      case ControlFlow::indirect_jump:
        EXPECT_EQ(text(i).substr(0, 8), "jmp\t(t12") << text(i);  // to the next instruction
        ++jumps;
        break;
      case ControlFlow::return_jump:
        ++returns;
        break;
      default:
        ADD_FAILURE() << i * 4 << ": " << text(i);
    }
  }
  EXPECT_EQ(calls, 1u);  // the entry's call of the C function
  EXPECT_EQ(jumps, 1u);
  EXPECT_EQ(returns, 2u);
}

TEST_F(AlphaStartCode, EntersTheSystemOnlyByCallsys) {
  size_t calls = 0;
  for (size_t i = 0; i < code_.size(); ++i) {
    if (!text(i).starts_with("call")) continue;
    EXPECT_EQ(text(i), "callsys");
    ++calls;
  }
  EXPECT_GT(calls, 10u);
}

TEST_F(AlphaStartCode, NeedsLittleStack) {
  int64_t down = 0, up = 0;
  for (const Instruction& instruction : code_) {
    const Operands operands = machine_.operands(instruction);
    if (machine_.facts(instruction).system_call || operands.size == operands.uses) continue;
    if (operands.registers[operands.uses] != kStackPointer) continue;
    EXPECT_TRUE(machine_.text.print(instruction, 0).starts_with("lda\tsp,"));
    (instruction.immediate < 0 ? down : up) += instruction.immediate;
  }
  EXPECT_GT(down, -1024);
  EXPECT_EQ(down + up, 0);
}

class X8664StartCode : public testing::Test {
 protected:
  struct Step {
    size_t at = 0;
    x86_64::Decoded decoded;
    x86_64::Effects effects;

    size_t end() const { return at + decoded.length; }
    x86_64::Flow flow() const { return form_of(decoded).flow; }
  };

  void SetUp() override {
    try {
      start_ = start_code(MachineId::x86_64);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    for (size_t at = 0; at < start_.code.size();) {
      const x86_64::Decoded decoded = x86_64::decode(start_.code.subspan(at));
      ASSERT_TRUE(decoded.valid()) << at;
      steps_.push_back({at, decoded, x86_64::effects_of(decoded, &start_.code[at])});
      at += decoded.length;
    }
  }

  StartCode start_;
  std::vector<Step> steps_;
};

TEST_F(X8664StartCode, IsSmallAndAligned) {
  EXPECT_GT(start_.code.size(), 0u);
  EXPECT_LT(start_.code.size(), 4096u);
  EXPECT_EQ(start_.code.size() % start_.alignment, 0u);
  EXPECT_EQ(start_.page_size, 4096u);
}

TEST_F(X8664StartCode, FindsCopiesAtItsSecondEntry) {
  const auto step = std::ranges::find(steps_, start_.find_copy, &Step::at);
  ASSERT_NE(step, steps_.end());
  EXPECT_GT(start_.find_copy, start_.program_entry);
  EXPECT_TRUE(form_of(step->decoded).push);
}

TEST_F(X8664StartCode, UsesGeneralRegistersOnly) {
  for (const Step& step : steps_) {
    x86_64::RegisterSet used = step.effects.reads;
    used |= step.effects.writes;
    EXPECT_TRUE(used.vector == 0 && used.mask == 0 && used.mmx == 0 && !step.effects.x87)
        << step.at;
  }
}

TEST_F(X8664StartCode, ReadsAndWritesNoMemoryOfItsOwn) {
  size_t formed = 0, thread_pointers = 0, copies = 0;
  for (const Step& step : steps_)
    for (const x86_64::MemoryOperand& memory : step.effects.memory_list()) {
      if (memory.segment == x86_64::Segment::fs) {
        ++thread_pointers;
        EXPECT_EQ(memory.access, x86_64::kRead) << step.at;
      } else if (memory.segment == x86_64::Segment::gs) {
        ++copies;
        EXPECT_EQ(memory.access, x86_64::kRead) << step.at;
        EXPECT_GE(step.at, start_.find_copy) << step.at;
      } else if (memory.base == x86_64::kRip) {
        const int64_t to = static_cast<int64_t>(step.end()) + memory.displacement;
        EXPECT_EQ(memory.access, x86_64::kNoAccess) << step.at;
        EXPECT_TRUE(to >= 0 && to <= static_cast<int64_t>(start_.code.size())) << step.at;
        ++formed;
      } else if (memory.access != x86_64::kNoAccess) {
        EXPECT_NE(memory.base, x86_64::kNoRegister) << step.at;
      }
    }
  // The parameters, and where the entry returns; the parameters twice where a thread looks for its
  // copy.
  EXPECT_EQ(formed, 4u);
  EXPECT_EQ(thread_pointers, 2u);
  EXPECT_EQ(copies, 1u);
}

TEST_F(X8664StartCode, BranchesStayInside) {
  std::map<x86_64::Flow, size_t> flows;
  for (const Step& step : steps_) {
    ++flows[step.flow()];
    if (step.flow() == x86_64::Flow::none || !is_direct(form_of(step.decoded))) continue;
    const int64_t to =
        static_cast<int64_t>(step.end()) + branch_distance(step.decoded, &start_.code[step.at]);
    EXPECT_TRUE(std::ranges::any_of(steps_, [&](const Step& other) {
      return static_cast<int64_t>(other.at) == to;
    })) << step.at;
  }
  EXPECT_EQ(flows[x86_64::Flow::call], 2u);  // calls of the C functions by the entries
  EXPECT_GE(flows[x86_64::Flow::ret], 4u);
  EXPECT_GT(flows[x86_64::Flow::system], 10u);
  EXPECT_EQ(flows[x86_64::Flow::stop], 0u);
}

}  // namespace
}  // namespace respike

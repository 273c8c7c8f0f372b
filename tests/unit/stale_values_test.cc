// Values are right if StaleFlow does not call them stale: random procedures are optimized and
// executed, and at each instruction of the output the registers and the frame are compared with the
// input's at the instruction's origin.

#include "optimizer/emit/stale_values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "optimizer/transform/hotcold/hot_cold.h"
#include "tests/unit/random_procedure.h"

namespace respike {
namespace {

constexpr size_t kSlots = kFrame / 8;
constexpr Register kTarget = 7;  // of jumps: an address of code, like the return address
constexpr size_t kSaves = 6;     // slots at the frame's lower end in which registers are saved

/// Gives each instruction a place in an image.
class Placed {
 public:
  explicit Placed(Program& program) {
    program.map = CodeMap(program.machine->codec.groups);
    program.origin_base = kCode;
    for (Procedure& procedure : program.procedures)
      for (BasicBlock& block : procedure.blocks) {
        block.origin = static_cast<uint32_t>(bytes_.size());
        std::vector<Instruction> code;
        for (Instruction& i : block.instructions) {
          if (i.is_pseudo()) continue;
          i.origin = static_cast<uint32_t>(bytes_.size() + 4 * code.size());
          code.push_back(i);
          if (!i.has_reference()) continue;
          code.back().flags &= static_cast<uint8_t>(~Instruction::kHasReference);
          code.back().immediate = 0;
        }
        program.machine->codec.encode(code, bytes_);
        block.origin_size =
            static_cast<uint32_t>(bytes_.size() - block.origin) & BasicBlock::kLargest;
      }
    Segment& segment = image.segments.emplace_back();
    segment.kind = Segment::Kind::loaded;
    segment.address = kCode;
    segment.file_size = segment.memory_size = bytes_.size();
    image.file = bytes_;
    program.image = &image;
  }

  Image image;

 private:
  std::vector<uint8_t> bytes_;
};

constexpr size_t kMostMoments = 500;  // of a run

struct Moment {
  BlockId block = kNone;
  uint32_t origin = 0;
  std::array<uint64_t, 32> registers{};
  std::array<uint64_t, kSlots> frame{};
};

std::vector<Moment> moments_of(const Program& program, uint64_t input) {
  std::vector<Moment> moments;
  Loaded loaded(program);
  loaded.observe = [&](BlockId block, uint32_t origin, AlphaMachine& machine) {
    if (moments.size() == kMostMoments) return;
    Moment& moment = moments.emplace_back(Moment{block, origin, machine.registers, {}});
    for (size_t i = 0; i < kSlots; ++i) moment.frame[i] = machine.memory[kStack - kFrame + 8 * i];
  };
  loaded.run(input);
  return moments;
}

TEST(StaleValues, WhatIsNotStaleIsRight) {
  uint64_t compared = 0, stale = 0, different = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    const std::string text = RandomProcedure(seed).text();
    Program original = parse_alpha(text), changed = parse_alpha(text);
    const Placed image(original), same_image(changed);
    if (optimize_hot_cold(changed, {.least_gain = 0}).removed.executed() == 0) continue;
    const StaleFlow flow(same_image.image, changed, kTested);
    std::vector<std::vector<StaleFlow::Step>> steps_of;
    for (BlockId b = 0; b < changed[kTested].blocks.size(); ++b) steps_of.push_back(flow.steps(b));
    for (uint64_t input = 0; input < 4; ++input) {
      const std::vector<Moment> expected = moments_of(original, input);
      size_t at = 0;
      for (const Moment& moment : moments_of(changed, input)) {
        const BasicBlock& block = changed[kTested].blocks[moment.block];
        if (block.has(BasicBlock::kHotCopy) && block.origin_size == 0) continue;  // a stub
        while (at < expected.size() && expected[at].origin != moment.origin) ++at;
        if (at == expected.size()) break;
        const Moment& before = expected[at++];
        const auto& steps = steps_of[moment.block];
        const auto step =
            std::ranges::find(steps, kCode + moment.origin, &StaleFlow::Step::old_address);
        ASSERT_NE(step, steps.end());
        for (Register r = 0; r < 31; ++r) {
          if (r == kRa || r == kTarget) continue;
          ++compared;
          const bool equal = moment.registers[r] == before.registers[r];
          different += equal ? 0 : 1;
          stale += step->before.has(r) ? 1 : 0;
          ASSERT_TRUE(equal || step->before.has(r))
              << "register " << r << " at " << moment.origin << " in block " << moment.block
              << ", seed " << seed << ", input " << input << "\n"
              << text << print(changed);
        }
        if (step->before.has_memory()) continue;
        for (size_t i = kSaves; i < kSlots; ++i)
          ASSERT_EQ(moment.frame[i], before.frame[i])
              << "slot " << 8 * i << " at " << moment.origin << " in block " << moment.block
              << ", seed " << seed << ", input " << input << "\n"
              << text << print(changed);
      }
    }
  }
  EXPECT_GT(compared, 1'000'000u);
  EXPECT_GT(different, compared / 1000);
  EXPECT_LT(stale, compared / 5);
  RecordProperty("compared", std::to_string(compared));
  RecordProperty("different", std::to_string(different));
  RecordProperty("stale", std::to_string(stale));
}

}  // namespace
}  // namespace respike

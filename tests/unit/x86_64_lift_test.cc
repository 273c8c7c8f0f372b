// Code of x86-64 that no linker makes, since a relocation contradicts the bytes that it stands for.
// All other cases of the lifter are assembler text: tests/ir/x86_64_lift_*.s.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/check/same_program.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machines.h"
#include "tests/unit/lift_testing.h"

namespace respike {
namespace {

constexpr uint64_t kCode = 0x1000;

/// f, g and h, 16 bytes each but for h, and a relocation that says that f calls g. The call is
/// behind data and not decoded: clang's -fsanitize=function makes such code.
struct Lifted {
  explicit Lifted(bool changed) {
    constexpr std::array<uint8_t, 16> kF = {0xeb, 0x06, 0x76, 0x00, 0x88, 0x48, 0x01, 0x00,
                                            0x50, 0xe8, 0x02, 0,    0,    0,    0x58, 0xc3};
    constexpr uint8_t kReturn = 0xc3, kHalt = 0xf4, kNop = 0x90;
    code.assign(kF.begin(), kF.end());
    code.resize(64, kNop);
    code[16] = code[32] = code[48] = kReturn;
    code[changed ? 16 : 32] = kHalt;
    image.kind = Image::Kind::pie;
    image.sections.resize(2);
    Section& section = image.sections[1];
    section.name = ".text";
    section.properties = Section::kAllocated | Section::kExecutable;
    section.address = kCode;
    section.size = code.size();
    section.contents = code;
    image.index_sections();
    add_procedures(image, 1, {{"f", 16}, {"g", 16}, {"h", 32}});
    const auto g = static_cast<uint32_t>(image.symbols.size() - 2);
    if (changed) std::swap(image.symbols[g].value, image.symbols[g + 1].value);
    image.relocations.resize(1);
    image.relocations[0].target = 1;
    image.relocations[0].relocations.push_back({.address = kCode + 10,
                                                .addend = -4,
                                                .symbol = g,
                                                .raw = 4,
                                                .role = RelocationRole::branch});
    program = lift(image, x86_64_machine(), diagnostics);
  }

  std::vector<uint8_t> code;
  Image image;
  Diagnostics diagnostics;
  Program program;
};

/// The comparison reads what relocations of f lead to: in the output g and h have changed places,
/// and the call, which nothing decodes, is as it was.
TEST(X8664Lift, CallThatNothingDecodedIsCompared) {
  Lifted before(false);
  const Lifted same(false), after(true);
  for (Procedure& procedure : before.program.procedures)  // as if lift() had not pinned them
    if (procedure.name != "f") procedure.state = Procedure::State::movable;
  EXPECT_EQ(find_difference(before.program, same.program).value_or(""), "");
  const std::string difference = find_difference(before.program, after.program).value_or("");
  EXPECT_TRUE(difference.starts_with("the instructions differ: input 0x1010 in g")) << difference;
}

}  // namespace
}  // namespace respike

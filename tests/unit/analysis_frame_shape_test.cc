// The shape of stack frames.

#include "optimizer/analysis/frame_shape.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

using Role = FrameShape::Role;

const char* const kStates = R"(
cie 0 augmentation="zR" return_register=26
state 0 cie=0 cfa=30+0
state 1 cie=0 cfa=30+48 9=offset:-40 10=offset:-32 26=offset:-48
state 2 cie=0 cfa=15+48 9=offset:-40 15=offset:-32 26=offset:-48
)";

struct Shaped {
  Program program;
  CallGraph calls;
  FrameShape shape;
  explicit Shaped(const std::string& text)
      : program(parse_alpha(kStates + text)),
        calls(program),
        shape(find_frame_shape(program, 0, calls.calls_of(0), calls.entries_of(0))) {}
  std::string restored() const { return names(shape.restored); }
  std::vector<Role> roles() const {
    std::vector<Role> result;
    for (const auto& step : shape.steps) result.push_back(step.role);
    return result;
  }
};

TEST(FrameShape, KnowsTheOrdinaryOne) {
  const Shaped s(R"(
procedure 0 "f"
  block 0 cfi=0 entry
    lda sp,-48(sp)
    stq ra,0(sp)
    stq s0,8(sp)
    .cfi_state 1
    mov a0,s0
    jsr ra,(t12),0
    -> 1 fall_through
  block 1 cfi=1
    mov s0,v0
    ldq ra,0(sp)
    ldq s0,8(sp)
    lda sp,48(sp)
    .cfi_state 0
    ret
)");
  EXPECT_TRUE(s.shape.regular);
  EXPECT_EQ(s.shape.size, 48);
  EXPECT_FALSE(s.shape.frame_pointer);
  EXPECT_FALSE(s.shape.address_escapes);
  EXPECT_EQ(s.restored(), "s0");  // ra is used by the return
  EXPECT_EQ(s.shape.slots, (std::vector<FrameShape::Slot>{{reg("s0"), -40}, {reg("ra"), -48}}));
  EXPECT_EQ(s.roles(), (std::vector{Role::allocate, Role::save, Role::save, Role::restore,
                                    Role::restore, Role::release}));
  EXPECT_EQ(s.shape.steps[2], (FrameShape::Step{0, 2, Role::save, reg("s0"), -40}));
  EXPECT_EQ(names(s.shape.overwritten[1]), "s0 ra");
  EXPECT_EQ(names(saved_in(s.shape, s.program, s.program[0], 1)), "s0 ra");
  EXPECT_EQ(names(saved_in(s.shape, s.program, s.program[0], 0)), "");
}

TEST(FrameShape, IgnoresNoOps) {
  const std::string prolog = R"(
procedure 0 "f"
  block 0 cfi=0 entry
    lda sp,-48(sp)
    stq s0,8(sp)
    .cfi_state 1
    mov a0,s0
    ldq_u zero,8(sp)
    -> 1 fall_through
  block 1 cfi=1
)";
  const Shaped s(prolog + "    ldq s0,8(sp)\n    lda sp,48(sp)\n    ret\n");
  EXPECT_EQ(s.restored(), "s0");  // the no-op between does not write to the slot
  EXPECT_EQ(names(s.shape.overwritten[1]), "s0");
}

/// The body of a procedure between the usual prolog and epilog.
std::string with_body(const std::string& body, const std::string& epilog = "    ldq s0,8(sp)\n") {
  return R"(
procedure 0 "f"
  block 0 cfi=0 entry
    lda sp,-48(sp)
    stq s0,8(sp)
    .cfi_state 1
)" + body +
         R"(
    -> 1 fall_through
  block 1 cfi=1
)" + epilog +
         R"(
    lda sp,48(sp)
    ret
)";
}

TEST(FrameShape, BelievesRestoresOnlyWhenNothingElseHappens) {
  EXPECT_EQ(Shaped(with_body("    mov a0,s0")).restored(), "s0");
  // Read before it is changed.
  EXPECT_EQ(Shaped(with_body("    addq s0,a0,s0")).restored(), "");
  // Not restored, restored to another register, from another place.
  EXPECT_EQ(Shaped(with_body("    mov a0,s0", "    unop\n")).restored(), "");
  EXPECT_EQ(Shaped(with_body("    mov a0,s0", "    ldq s1,8(sp)\n")).restored(), "");
  EXPECT_EQ(Shaped(with_body("    mov a0,s0", "    ldq s0,16(sp)\n")).restored(), "");
  // The slot is overwritten, or another instruction reads it.
  EXPECT_EQ(Shaped(with_body("    mov a0,s0\n    stq a1,8(sp)")).restored(), "");
  EXPECT_EQ(Shaped(with_body("    mov a0,s0\n    stl a1,12(sp)")).restored(), "");
  EXPECT_EQ(Shaped(with_body("    mov a0,s0\n    stq a1,16(sp)")).restored(), "s0");
  EXPECT_EQ(Shaped(with_body("    mov a0,s0\n    ldq t0,8(sp)")).restored(), "");
  // Changed again after the restore.
  EXPECT_EQ(Shaped(with_body("    mov a0,s0", "    ldq s0,8(sp)\n    addq s0,1,s0\n")).restored(),
            "");
}

TEST(FrameShape, NeedsUnwindInformationForSlots) {
  std::string text = with_body("    mov a0,s0");
  for (size_t at; (at = text.find(" cfi=")) != std::string::npos;) text.erase(at, 6);
  text.erase(text.find("    .cfi_state 1"), 17);
  const Shaped s(text);
  EXPECT_TRUE(s.shape.regular);
  EXPECT_EQ(s.restored(), "");
  EXPECT_TRUE(s.shape.slots.empty());
}

TEST(FrameShape, SeesWhatIsSavedOnOnePathOnly) {
  const Shaped s(R"(
procedure 0 "f"
  block 0 cfi=0 entry
    lda sp,-48(sp)
    beq a0,0
    -> 1 fall_through
    -> 2 taken
  block 1 cfi=0
    stq s0,8(sp)
    .cfi_state 1
    mov a0,s0
    ldq s0,8(sp)
    stq s1,16(sp)
    mov a0,s1
    -> 2 fall_through
  block 2 cfi=0
    ldq s1,16(sp)
    lda sp,48(sp)
    ret
)");
  EXPECT_EQ(s.restored(), "s0");  // s1 is loaded although one path has not stored it
}

TEST(FrameShape, FollowsAFramePointer) {
  const Shaped s(R"(
procedure 0 "f"
  block 0 cfi=0 entry
    lda sp,-48(sp)
    stq ra,0(sp)
    stq s0,8(sp)
    stq fp,16(sp)
    mov sp,fp
    .cfi_state 2
    mov a0,s0
    subq sp,a0,sp
    mov sp,a0
    jsr ra,(t12),0
    -> 1 fall_through
  block 1 cfi=2
    mov fp,sp
    ldq ra,0(fp)
    ldq s0,8(fp)
    ldq fp,16(fp)
    lda sp,48(sp)
    ret
)");
  EXPECT_FALSE(s.shape.regular);
  EXPECT_EQ(s.shape.frame_pointer, reg("fp"));
  EXPECT_TRUE(s.shape.address_escapes);
  EXPECT_EQ(s.restored(), "s0 fp");
  EXPECT_EQ(s.roles(), (std::vector{Role::allocate, Role::save, Role::save, Role::save,
                                    Role::set_frame_pointer, Role::release, Role::restore,
                                    Role::restore, Role::restore, Role::release}));
}

TEST(FrameShape, TellsIrregularOnes) {
  // Released on one path only.
  EXPECT_FALSE(Shaped(R"(
procedure 0 "f"
  block 0 entry
    lda sp,-48(sp)
    beq a0,0
    -> 1 fall_through
    -> 2 taken
  block 1
    lda sp,48(sp)
    -> 2 fall_through
  block 2
    ret
)")
                   .shape.regular);
  // In two steps.
  EXPECT_FALSE(Shaped(R"(
procedure 0 "f"
  block 0 entry
    lda sp,-48(sp)
    lda sp,-16(sp)
    lda sp,64(sp)
    ret
)")
                   .shape.regular);
  // In a loop.
  EXPECT_FALSE(Shaped(R"(
procedure 0 "f"
  block 0 entry
    lda sp,-48(sp)
    beq a0,0
    -> 1 fall_through
    -> 0 taken
  block 1
    lda sp,48(sp)
    ret
)")
                   .shape.regular);
  // None at all.
  const Shaped leaf(R"(
procedure 0 "f"
  block 0 entry
    mov a0,v0
    ret
)");
  EXPECT_TRUE(leaf.shape.regular);
  EXPECT_EQ(leaf.shape.size, 0);
}

TEST(FrameShape, KnowsThatAddressesEscape) {
  EXPECT_TRUE(Shaped(with_body("    lda a0,16(sp)")).shape.address_escapes);
  EXPECT_TRUE(Shaped(with_body("    stq sp,16(sp)")).shape.address_escapes);
  EXPECT_TRUE(Shaped(with_body("    addq sp,a0,a0")).shape.address_escapes);
  EXPECT_FALSE(Shaped(with_body("    ldl t0,16(sp)\n    unop")).shape.address_escapes);
}

TEST(FrameShape, LeavesCallsWithRulesOfTheirOwnOut) {
  const auto shape = [](const std::string& before, const std::string& behind) {
    return Shaped(R"(
procedure 0 "f"
  block 0 cfi=0 entry
    lda sp,-48(sp)
    stq s0,8(sp)
    .cfi_state 1
)" + before + R"(
    jsr t9,(t12),0
    -> 1 fall_through
  block 1 cfi=1
)" + behind + R"(
    ldq s0,8(sp)
    lda sp,48(sp)
    ret
)");
  };
  EXPECT_EQ(shape("    mov a0,s0", "").restored(), "s0");
  EXPECT_EQ(shape("", "    mov a0,s0").restored(), "");  // the callee reads the caller's s0
}

}  // namespace
}  // namespace respike

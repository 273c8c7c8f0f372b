// Tests that slots are found to be private if only plain loads and stores can access them, and that
// one other access, a use of the frame's address or a wrong order of accesses prevents this.

#include "optimizer/analysis/private_slots.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

/// The private slots of a procedure with a frame of 64 bytes: `code` in block 0, `behind` in block
/// 1.
PrivateSlots slots_of(const std::string& code, const std::string& behind = "") {
  const Program program = parse_alpha(
      "cie 0 augmentation=\"zR\" return_register=26\nstate 0 cie=0 cfa=30+0\n"
      "state 1 cie=0 cfa=30+64 26=offset:-64\nprocedure 0 \"f\"\n  block 0 cfi=0 entry\n"
      "    lda sp,-64(sp)\n    stq ra,0(sp)\n    .cfi_state 1\n" +
      code + "    -> 1 fall_through\n  block 1 cfi=1\n" + behind +
      "    ldq ra,0(sp)\n    lda sp,64(sp)\n    .cfi_state 0\n    ret\n"
      "procedure 1 \"leaf\"\n  block 0 cfi=0 entry\n    ret\n");
  const CallGraph calls(program);
  const auto entries = calls.entries_of(0);
  const FrameShape shape = find_frame_shape(program, 0, calls.calls_of(0), entries);
  return find_private_slots(program, 0, shape, entries);
}

using Offsets = std::vector<int32_t>;

TEST(PrivateSlots, AreFound) {
  EXPECT_EQ(slots_of("    stq a0,8(sp)\n    stq a1,24(sp)\n    ldq t0,8(sp)\n").offsets,
            (Offsets{-56, -40}));
  EXPECT_EQ(slots_of("    stt $f1,8(sp)\n    ldq t0,8(sp)\n").offsets, Offsets{-56});
  EXPECT_EQ(slots_of("    stq zero,8(sp)\n    stb a0,40(sp)\n").offsets, Offsets{-56});
}

TEST(PrivateSlots, AreNotWhatElseIsInTheFrame) {
  for (const char* code :
       {"    stq a0,8(sp)\n    ldl t0,8(sp)\n", "    stq a0,8(sp)\n    ldl t0,12(sp)\n",
        "    stq a0,8(sp)\n    ldbu t0,15(sp)\n", "    stq a0,8(sp)\n    stq a0,12(sp)\n",
        "    stq a0,8(sp)\n    ldq_u t0,8(sp)\n", "    stq a0,8(sp)\n    lda a1,8(sp)\n",
        "    stq a0,8(sp)\n    mov sp,a1\n", "    stq a0,8(sp)\n    stq sp,0(a0)\n",
        "    stq a0,64(sp)\n", "    stq a0,-8(sp)\n",
        // Read before they are written.
        "    ldq a0,8(sp)\n    stq a0,8(sp)\n", "    ldq a0,8(sp)\n"})
    EXPECT_EQ(slots_of(code).offsets, Offsets{}) << code;
}

TEST(PrivateSlots, AreLiveWhereTheyMayBeRead) {
  EXPECT_EQ(slots_of("    stq a0,8(sp)\n", "    ldq t0,8(sp)\n").live,
            (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(slots_of("    stq a0,8(sp)\n", "    stq a1,8(sp)\n    ldq t0,8(sp)\n").live,
            (std::vector<uint64_t>{0, 0}));
  // A callee uses the slot.
  const PrivateSlots called = slots_of("    stq a0,8(sp)\n    bsr ra,0 !branch(1#0)\n",
                                       "    stq a1,16(sp)\n    ldq t0,8(sp)\n");
  EXPECT_EQ(called.offsets, (Offsets{-56, -48}));
  EXPECT_EQ(called.live, (std::vector<uint64_t>{0, 1}));
}

}  // namespace
}  // namespace respike

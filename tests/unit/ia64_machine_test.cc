// The Itanium as a Machine: packing of runs, fields of references, far stubs.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/text.h"
#include "optimizer/machine/machines.h"

namespace respike::ia64 {
namespace {

const Machine& machine() {
  return ia64_machine();
}

/// Parses one instruction a line; `;;` at the end is a stop after the instruction.
std::vector<Instruction> list(const std::vector<std::string>& lines) {
  std::vector<Instruction> code;
  for (const std::string& line : lines) {
    const Parsed parsed = parse(line, 0);
    if (encoding_of(parsed.instruction).type() == 'X') code.push_back(parsed.high);
    code.push_back(parsed.instruction);
  }
  return code;
}

std::vector<uint32_t> places(const std::vector<Instruction>& code, uint64_t& size) {
  std::vector<uint32_t> result(code.size());
  size = machine().codec.arrange(code, result.data());
  EXPECT_EQ(size, machine().codec.size(code));
  return result;
}

std::vector<Instruction> decoded(const std::vector<uint8_t>& bytes) {
  std::vector<Instruction> result(bytes.size() / 16 * 3);
  machine().codec.decode(bytes, 0, result.data());
  return result;
}

TEST(Ia64Machine, PacksRuns) {
  uint64_t size = 0;
  auto code = list({"nop.m 0", "add r14=r2,r3;;", "nop.i 0", "add r15=r14,r3", "movl r16=5"});
  EXPECT_EQ(places(code, size), (std::vector<uint32_t>{0, 0, 16, 16, 17, 18}));
  EXPECT_EQ(size, 32u);
  EXPECT_EQ(machine().codec.size(list({"nop.m 0", "nop.i 0"})), 0u);

  Instruction state;
  state.opcode = kCfiState;
  code.insert(code.begin() + 3, state);
  EXPECT_EQ(places(code, size), (std::vector<uint32_t>{0, 0, 16, 16, 16, 17, 18}));
}

TEST(Ia64Machine, NothingBehindACallSharesItsBundle) {
  uint64_t size = 0;
  const auto call = list({"br.call.sptk.many b0=0", "br.cond.sptk.few 0"});
  EXPECT_EQ(places(call, size)[1], 18u);
  EXPECT_EQ(size, 32u);
  const auto branches = list({"(p6) br.cond.sptk.few 0", "br.cond.sptk.few 0"});
  places(branches, size);
  EXPECT_EQ(size, 16u);
}

TEST(Ia64Machine, EncodesWhatItArranges) {
  const auto code = list({"add r14=r2,r3;;", "ld8 r15=[r14]", "movl r16=0x123456789a;;",
                          "(p6) br.call.sptk.many b0=0x40", "nop.i 0", "br.cond.sptk.few 0x40"});
  uint64_t size = 0;
  const auto at = places(code, size);
  std::vector<uint8_t> bytes;
  machine().codec.encode(code, bytes);
  ASSERT_EQ(bytes.size(), size);
  const auto again = decoded(bytes);
  for (size_t i = 0; i < code.size(); ++i) {
    if (machine().facts(code[i]).nop) continue;
    const Instruction& other = again[CodeMap(machine().codec.groups).index(at[i])];
    EXPECT_EQ(other.opcode, code[i].opcode) << i;
    EXPECT_EQ(other.immediate, code[i].immediate) << i;
    EXPECT_EQ(other.predicate, code[i].predicate) << i;
    EXPECT_TRUE(std::ranges::equal(other.registers, code[i].registers)) << i;
  }
}

TEST(Ia64Machine, WritesFields) {
  const auto field = [](Instruction instruction, ReferenceKind kind, uint64_t place, uint64_t to,
                        uint64_t gp) -> std::optional<int32_t> {
    if (!machine().fixups.apply(instruction, kind, place, to, gp)) return std::nullopt;
    return instruction.immediate;
  };
  constexpr uint64_t kHere = 0x4000000000001000;
  const Instruction branch = machine().branches.branch, check = list({"chk.s.m r14,0"})[0];
  for (const Instruction& near : {branch, check}) {
    EXPECT_EQ(field(near, ReferenceKind::branch, kHere + 2, kHere + 0x40, 0), 0x40);
    EXPECT_EQ(field(near, ReferenceKind::branch, kHere, kHere - 0x1000000, 0), -0x1000000);
    EXPECT_EQ(field(near, ReferenceKind::branch, kHere, kHere + 0x1000000, 0), std::nullopt);
    EXPECT_EQ(field(near, ReferenceKind::branch, kHere, kHere + 8, 0), std::nullopt);
  }
  const auto far = list({"brl.cond.sptk.few 0"});
  EXPECT_EQ(field(far[0], ReferenceKind::branch, kHere + 1, kHere + 0x12345678ab0, 0), 0x123);
  EXPECT_EQ(field(far[1], ReferenceKind::branch, kHere + 2, kHere + 0x12345678ab0, 0), 0x45678ab0);

  const auto add = list({"addl r14=0,r1"}), move = list({"movl r14=0"});
  EXPECT_EQ(field(add[0], ReferenceKind::gp_offset, 0, kHere, kHere + 0x200000), -0x200000);
  EXPECT_EQ(field(add[0], ReferenceKind::gp_offset, 0, kHere + 0x200000, kHere), std::nullopt);
  EXPECT_EQ(field(move[0], ReferenceKind::gp_offset, 1, kHere, kHere + 0x10), -1);
  EXPECT_EQ(field(move[1], ReferenceKind::gp_offset, 2, kHere, kHere + 0x10), -0x10);
  EXPECT_EQ(machine().gp->offset(list({"addl r14=-8,r1"})), -8);
  EXPECT_EQ(machine().gp->offset(list({"movl r14=0x123456789a"})), 0x123456789a);
  EXPECT_EQ(machine().gp->offset(list({"ld8 r14=[r1]"})), std::nullopt);
}

TEST(Ia64Machine, ReplacesOneSlot) {
  std::vector<uint8_t> bytes;
  machine().codec.encode(list({"add r14=r2,r3", "add r15=r2,r3", "br.call.sptk.many b0=0x40"}),
                         bytes);
  const auto before = decoded(bytes);
  Instruction call = before[2];
  call.immediate = 0x80;
  machine().codec.replace(bytes, 2, call);
  const auto after = decoded(bytes);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);
  EXPECT_EQ(after[2].immediate, 0x80);
}

TEST(Ia64Machine, InvertsByTheCompare) {
  const auto inverted = [](const std::vector<std::string>& lines) {
    auto code = list(lines);
    Instruction branch = code.back();
    code.pop_back();
    if (!machine().branches.invert(branch, code)) return std::string("no");
    Instruction back = branch;
    EXPECT_TRUE(machine().branches.invert(back, code));
    EXPECT_EQ(back, list(lines).back());
    return machine().text.print(branch, 0);
  };
  const std::string on_p6 = "(p6) br.cond.dptk.few 0x40", on_p7 = "(p07) br.cond.dpnt.few 40";
  EXPECT_EQ(inverted({"cmp.eq p6,p7=r14,r15;;", on_p6}), on_p7);
  EXPECT_EQ(inverted({"cmp.eq p7,p6=r14,r15", "add r6=r7,r8;;", on_p6}), on_p7);
  EXPECT_EQ(inverted({"tbit.z p6,p7=r14,3", "cmp.eq p8,p9=r14,r15;;", on_p6}), on_p7);
  EXPECT_EQ(inverted({"fcmp.lt.s0 p6,p7=f8,f9", on_p6}), on_p7);
  EXPECT_EQ(inverted({on_p6}), "no");
  // frcpa writes one predicate.
  EXPECT_EQ(inverted({"cmp.eq p6,p7=r14,r15;;", "frcpa.s0 f8,p6=f9,f10;;", on_p6}), "no");
  EXPECT_EQ(inverted({"cmp.eq p6,p7=r14,r15;;", "frsqrta.s0 f8,p7=f9;;", on_p6}), "no");
  EXPECT_EQ(inverted({"cmp.eq p6,p7=r14,r15;;", "frcpa.s0 f8,p8=f9,f10;;", on_p6}), on_p7);
  EXPECT_EQ(inverted({"cmp.eq p6,p0=r14,r15;;", on_p6}), "no");
  EXPECT_EQ(inverted({"cmp.eq.or p6,p7=r0,r15;;", on_p6}), "no");
  EXPECT_EQ(inverted({"(p8) cmp.eq p6,p7=r14,r15;;", on_p6}), "no");
  EXPECT_EQ(inverted({"(p8) cmp.eq.unc p6,p7=r14,r15;;", on_p6}), "no");
  EXPECT_EQ(inverted({"cmp.eq p6,p7=r14,r15;;", "cmp.eq p7,p8=r14,r15;;", on_p6}), "no");
  EXPECT_EQ(inverted({"cmp.eq p6,p7=r14,r15;;", "mov pr=r14,-2;;", on_p6}), "no");
  EXPECT_EQ(inverted({"cmp.eq p6,p7=r14,r15;;", "br.cloop.sptk.few 0x40"}), "no");
}

TEST(Ia64Machine, FarStubsReachEverything) {
  constexpr uint64_t kPlace = 0x4000000000001000;
  EXPECT_EQ(machine().stubs->landing_size, 0u);
  for (const uint64_t to : {kPlace + 0x1000000, kPlace - 0x7fffffe0, kPlace + 0x10}) {
    const auto bytes = machine().stubs->departure(kPlace, to);
    ASSERT_EQ(bytes.size(), machine().stubs->departure_size);
    EXPECT_EQ(machine().stubs->target(decoded(bytes), kPlace), to);
  }
  std::vector<uint8_t> bytes;
  machine().codec.encode(list({"br.cond.sptk.few 0x40"}), bytes);
  EXPECT_EQ(machine().stubs->target(decoded(bytes), kPlace), std::nullopt);
}

TEST(Ia64Machine, ReadsLongInstructions) {
  const auto bundle = [](const std::string& line) {
    const Parsed parsed = parse(line, 0);
    const Instruction slots[] = {parse("nop.m 0", 0).instruction, parsed.high, parsed.instruction};
    std::vector<uint8_t> bytes(kBundleSize);
    EXPECT_TRUE(encode_bundle(slots, bytes.data()));
    return decoded(bytes);
  };
  const auto none = bundle("nop.x 0x0;;");
  EXPECT_TRUE(machine().facts(none[1]).nop && machine().facts(none[2]).nop);
  EXPECT_FALSE(has_stop(none[1]));
  EXPECT_TRUE(has_stop(none[2]));
  EXPECT_EQ(none[1].origin, 1u);
  EXPECT_EQ(bundle("brl.cond.sptk.few 0x7fffffe0")[2].immediate, 0x7fffffe0);
  EXPECT_EQ(bundle("brl.cond.sptk.few 0x123456780")[2].opcode, kInvalid);
  EXPECT_TRUE(machine().facts(bundle("movl r14=5")[1]).prefix);
}

TEST(Ia64Machine, FillsWithNoOps) {
  std::vector<uint8_t> bytes(48, 0xff);
  machine().codec.fill(bytes);
  for (const Instruction& instruction : decoded(bytes))
    EXPECT_TRUE(machine().facts(instruction).nop);
}

}  // namespace
}  // namespace respike::ia64

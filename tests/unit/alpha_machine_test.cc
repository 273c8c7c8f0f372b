// The answers of Alpha's facets about instructions: registers, control flow, fields, stubs.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/machine/machines.h"

namespace respike {
namespace {

constexpr uint64_t kPlace = 0x120010000;

const Machine& machine() {
  return alpha_machine();
}

Instruction parse(std::string_view text, uint64_t address = kPlace) {
  return machine().text.parse(text, address);
}

std::vector<Instruction> decode(const std::vector<uint8_t>& code) {
  std::vector<Instruction> instructions(code.size() / 4);
  machine().codec.decode(code, 0, instructions.data());
  return instructions;
}

Instruction decode_word(uint32_t word) {
  std::vector<uint8_t> code(4);
  store(code.data(), word);
  return decode(code).front();
}

/// "uses -> defs" by name, in the machine's order.
std::string effect(const Instruction& instruction) {
  const Operands operands = machine().operands(instruction);
  std::string text;
  for (unsigned i = 0; i < operands.size; ++i) {
    if (i == operands.uses) text += "-> ";
    text += machine().text.register_name(operands.registers[i]) + " ";
  }
  if (operands.uses == operands.size) text += "-> ";
  text.pop_back();
  return text;
}

std::string effect(std::string_view text) {
  return effect(parse(text));
}

TEST(AlphaMachine, Factory) {
  EXPECT_EQ(&machine_for(MachineId::alpha), &machine());
  EXPECT_EQ(machine_for(MachineId::ia64).name, "ia64");
  EXPECT_EQ(machine_for(MachineId::x86_64).name, "x86-64");
  EXPECT_EQ(machine().name, "alpha");
}

TEST(AlphaMachine, RegisterNames) {
  EXPECT_EQ(machine().text.register_name(0), "v0");
  EXPECT_EQ(machine().text.register_name(30), "sp");
  EXPECT_EQ(machine().text.register_name(31), "$f0");
  EXPECT_EQ(machine().text.register_name(61), "$f30");
  EXPECT_EQ(machine().text.register_name(62), "fpcr");
  EXPECT_EQ(machine().register_count, 64u);
}

TEST(AlphaMachine, OperandsOfMemoryInstructions) {
  EXPECT_EQ(effect("ldq t0,8(sp)"), "sp -> t0");
  EXPECT_EQ(effect("stq t0,8(sp)"), "t0 sp ->");
  EXPECT_EQ(effect("stq zero,8(sp)"), "sp ->");
  EXPECT_EQ(effect("ldt $f1,0(t0)"), "t0 -> $f1");
  EXPECT_EQ(effect("stt $f1,0(t0)"), "$f1 t0 ->");
  EXPECT_EQ(effect("lda t0,5"), "-> t0");
  EXPECT_EQ(effect("ldl_l t0,0(t1)"), "t1 -> t0 lock");
  EXPECT_EQ(effect("stl_c t0,0(t1)"), "t0 lock t1 -> t0 lock");  // the base is last
  EXPECT_EQ(effect("ldl zero,0(t1)"), "t1 ->");
}

TEST(AlphaMachine, OperandsOfOperations) {
  EXPECT_EQ(effect("addq t0,t1,t2"), "t0 t1 -> t2");
  EXPECT_EQ(effect("addq t0,0x3,t2"), "t0 -> t2");
  EXPECT_EQ(effect("mov t0,t1"), "t0 -> t1");
  EXPECT_EQ(effect("cmoveq t0,t1,t2"), "t0 t1 t2 -> t2");
  EXPECT_EQ(effect("cmovlt t0,0x1,t2"), "t0 t2 -> t2");
  EXPECT_EQ(effect("fcmoveq $f1,$f2,$f3"), "$f1 $f2 $f3 -> $f3");
  EXPECT_EQ(effect("addt/su $f1,$f2,$f3"), "$f1 $f2 fpcr -> $f3");
  EXPECT_EQ(effect("cvttq/c $f1,$f2"), "$f1 fpcr -> $f2");
  EXPECT_EQ(effect("cpys $f1,$f2,$f3"), "$f1 $f2 -> $f3");
  EXPECT_EQ(effect("itoft t0,$f1"), "t0 -> $f1");
  EXPECT_EQ(effect("ftoit $f1,t0"), "$f1 -> t0");
  EXPECT_EQ(effect("mt_fpcr $f1"), "$f1 -> fpcr");
  EXPECT_EQ(effect("mf_fpcr $f1"), "fpcr -> $f1");
  EXPECT_EQ(effect("sextb t0,t1"), "t0 -> t1");
  EXPECT_EQ(effect("implver v0"), "-> v0");
  EXPECT_EQ(effect("rpcc t0"), "-> t0");
  EXPECT_EQ(effect("wh64 (t0)"), "t0 ->");
  EXPECT_EQ(effect("trapb"), "->");
}

TEST(AlphaMachine, OperandsOfBranchesAndPalcode) {
  EXPECT_EQ(effect("beq t0,120010020"), "t0 ->");
  EXPECT_EQ(effect("fbeq $f1,120010020"), "$f1 ->");
  EXPECT_EQ(effect("br 120010020"), "->");
  EXPECT_EQ(effect("bsr ra,120010020"), "-> ra");
  EXPECT_EQ(effect("jsr ra,(t12),120010004"), "t12 -> ra");
  EXPECT_EQ(effect("ret"), "ra ->");
  EXPECT_EQ(effect("callsys"), "v0 a0 a1 a2 a3 a4 a5 -> v0 a3 a4");
  EXPECT_EQ(effect("rduniq"), "-> v0");
  EXPECT_EQ(effect("wruniq"), "a0 ->");
  EXPECT_EQ(effect("imb"), "->");
  EXPECT_EQ(effect("gentrap"), "a0 ->");
  EXPECT_EQ(effect("call_pal 0x3f"), "v0 t0 a0 a1 a2 t8 t9 t10 t11 -> v0 t0 a0 t8 t9 t10 t11");
  EXPECT_EQ(effect(".long 0x4000000"), "->");
}

TEST(AlphaMachine, ControlFlow) {
  const auto flow = [](std::string_view text) { return machine().facts(parse(text)).flow; };
  EXPECT_EQ(flow("beq t0,120010020"), ControlFlow::conditional_branch);
  EXPECT_EQ(flow("fbgt $f0,120010020"), ControlFlow::conditional_branch);
  EXPECT_EQ(flow("blbc t0,120010020"), ControlFlow::conditional_branch);
  EXPECT_EQ(flow("br 120010020"), ControlFlow::branch);
  EXPECT_EQ(flow("br gp,120010020"), ControlFlow::call);
  EXPECT_EQ(flow("br gp,120010004"), ControlFlow::none);  // only reads its own address
  EXPECT_EQ(flow("bsr ra,120010020"), ControlFlow::call);
  EXPECT_EQ(flow("bsr zero,120010020"), ControlFlow::call);
  EXPECT_EQ(flow("jsr ra,(t12),120010004"), ControlFlow::indirect_call);
  EXPECT_EQ(flow("jmp (t0)"), ControlFlow::indirect_jump);
  EXPECT_EQ(flow("jmp ra,(t0),120010004"), ControlFlow::indirect_call);
  EXPECT_EQ(flow("ret"), ControlFlow::return_jump);
  EXPECT_EQ(flow("ret zero,(t9),0x1"), ControlFlow::return_jump);
  EXPECT_EQ(flow("ret t0,(ra),0x1"), ControlFlow::indirect_call);
  EXPECT_EQ(flow("jcr ra,(ra),0x0"), ControlFlow::indirect_call);
  EXPECT_EQ(flow("halt"), ControlFlow::stop);
  for (const char* text :
       {"bpt", "bugchk", "gentrap", "callsys", "addq t0,t1,t2", ".long 0x4000000"}) {
    EXPECT_EQ(flow(text), ControlFlow::none) << text;
  }
}

TEST(AlphaMachine, InvertsExactlyConditionalBranches) {
  const char* pairs[][2] = {{"beq t0", "bne t0"},     {"blt t0", "bge t0"},
                            {"ble t0", "bgt t0"},     {"blbs t0", "blbc t0"},
                            {"fbeq $f1", "fbne $f1"}, {"fblt $f1", "fbge $f1"},
                            {"fble $f1", "fbgt $f1"}};
  for (const auto& [left, right] : pairs) {
    const Instruction a = parse(std::string(left) + ",120010020");
    const Instruction b = parse(std::string(right) + ",120010020");
    Instruction inverted = a;
    EXPECT_TRUE(machine().branches.invert(inverted, {}));
    EXPECT_EQ(inverted, b) << left;
    EXPECT_TRUE(machine().branches.invert(inverted, {}));
    EXPECT_EQ(inverted, a) << right;
  }
  for (const char* text : {"br 120010020", "bsr ra,120010020", "nop", "ret"}) {
    Instruction instruction = parse(text);
    EXPECT_FALSE(machine().branches.invert(instruction, {})) << text;
    EXPECT_EQ(instruction, parse(text));
  }
}

TEST(AlphaMachine, Nops) {
  for (const char* text : {"nop", "unop", "fnop", "lda zero,5(t0)", "ldah zero,0(t0)",
                           "ldq_u zero,8(sp)", "addq t0,t1,zero", "cmoveq t0,t1,zero"}) {
    EXPECT_TRUE(machine().facts(parse(text)).nop) << text;
  }
  for (const char* text : {"ldl zero,0(t0)", "lds $f31,0(t0)", "addq/v t0,t1,zero", "mf_fpcr $f31",
                           "addt $f1,$f2,$f31", "trapb", "mov t0,t0", "stq zero,0(t0)", "halt",
                           ".long 0x4000000", "br 120010004"}) {
    EXPECT_FALSE(machine().facts(parse(text)).nop) << text;
  }
  EXPECT_TRUE(machine().facts(machine().codec.nop).nop);
}

TEST(AlphaMachine, SequenceRoles) {
  const auto role = [](std::string_view text) { return machine().facts(parse(text)).role; };
  EXPECT_EQ(role("ldl_l t0,0(t1)"), SequenceRole::reservation_begin);
  EXPECT_EQ(role("ldq_l t0,0(t1)"), SequenceRole::reservation_begin);
  EXPECT_EQ(role("stl_c t0,0(t1)"), SequenceRole::reservation_end);
  EXPECT_EQ(role("stq_c t0,0(t1)"), SequenceRole::reservation_end);
  for (const char* text :
       {"addt/su $f0,$f1,$f2", "cvttq/svc $f0,$f1", "cvtst/s $f0,$f1", "sqrtt/suid $f0,$f1",
        "addg/s $f0,$f1,$f2", "cvtql/sv $f0,$f1", "cmpteq/su $f0,$f1,$f2"}) {
    EXPECT_EQ(role(text), SequenceRole::shadow_begin) << text;
  }
  EXPECT_EQ(role("trapb"), SequenceRole::shadow_end);
  EXPECT_EQ(role("excb"), SequenceRole::shadow_end);
  for (const char* text : {"addt $f0,$f1,$f2", "addt/u $f0,$f1,$f2", "mb", "nop", "stl t0,0(t1)"}) {
    EXPECT_EQ(role(text), SequenceRole::none) << text;
  }
}

TEST(AlphaMachine, SignalReturn) {
  const std::vector<Instruction> old_style = {parse("nop"), parse("mov sp,a0"), parse("lda v0,103"),
                                              parse("callsys")};
  EXPECT_TRUE(machine().is_signal_return(old_style));
  const std::vector<Instruction> real_time = {parse("mov sp,a0"), parse("lda v0,351"),
                                              parse("callsys")};
  EXPECT_TRUE(machine().is_signal_return(real_time));
  EXPECT_FALSE(machine().is_signal_return(std::span(real_time).first(2)));
  const std::vector<Instruction> other = {parse("mov sp,a0"), parse("lda v0,104"),
                                          parse("callsys")};
  EXPECT_FALSE(machine().is_signal_return(other));
}

TEST(AlphaMachine, Abi) {
  const Abi& abi = machine().abi;
  EXPECT_EQ(abi.stack_pointer, 30);
  EXPECT_EQ(abi.return_address, 26);
  EXPECT_EQ(machine().global_pointer(), 29);
  EXPECT_EQ(abi.procedure_value, 27);
  EXPECT_EQ(abi.arguments.size(), 12u);
  EXPECT_EQ(abi.results, (std::vector<Register>{0, 31, 32}));
  EXPECT_EQ(abi.preserved.size() + abi.scratch.size(), machine().register_count);
  for (Register r : abi.preserved) {
    EXPECT_EQ(std::ranges::count(abi.scratch, r), 0) << r;
  }
}

TEST(AlphaMachine, BranchFields) {
  Instruction branch = machine().branches.branch;
  EXPECT_EQ(machine().facts(branch).flow, ControlFlow::branch);
  const auto reach = static_cast<int64_t>(machine().branches.reach);
  for (int64_t distance : {int64_t{0}, int64_t{4}, int64_t{-4}, reach, -reach}) {
    branch.flags = Instruction::kHasReference;
    const uint64_t destination = kPlace + static_cast<uint64_t>(distance);
    ASSERT_TRUE(machine().fixups.apply(branch, ReferenceKind::branch, kPlace, destination, 0))
        << distance;
    EXPECT_FALSE(branch.has_reference());
    EXPECT_EQ(machine().fixups.field(branch, ReferenceKind::branch), distance);
    std::vector<uint8_t> code;
    machine().codec.encode({&branch, 1}, code);
    EXPECT_EQ(decode(code)[0].immediate, distance);
  }
  const Instruction before = branch;
  for (int64_t distance : {reach + 8, -reach - 4, int64_t{6}, int64_t{1} << 32}) {
    const uint64_t destination = kPlace + static_cast<uint64_t>(distance);
    EXPECT_FALSE(machine().fixups.apply(branch, ReferenceKind::branch, kPlace, destination, 0))
        << distance;
    EXPECT_EQ(branch, before);
  }
}

TEST(AlphaMachine, BranchHints) {
  Instruction call = parse("jsr ra,(t12),120010004");
  EXPECT_TRUE(machine().fixups.apply(call, ReferenceKind::branch_hint, kPlace, kPlace - 0x100, 0));
  EXPECT_EQ(machine().text.print(call, kPlace), "jsr\tra,(t12),12000ff00");
  EXPECT_TRUE(
      machine().fixups.apply(call, ReferenceKind::branch_hint, kPlace, kPlace + 0x10000004, 0));
  EXPECT_EQ(machine().fixups.field(call, ReferenceKind::branch_hint), 0);
}

TEST(AlphaMachine, GpFields) {
  constexpr uint64_t kGp = 0x120100000;
  for (int64_t offset : {int64_t{0}, int64_t{0x7fff}, int64_t{0x8000}, int64_t{-0x8000},
                         int64_t{-0x8001}, int64_t{0x7fff7fff}, -int64_t{0x80008000}}) {
    const uint64_t address = kGp + static_cast<uint64_t>(offset);
    Instruction high = parse("ldah t0,0(gp)");
    Instruction low = parse("ldq t0,0(t0)");
    ASSERT_TRUE(machine().fixups.apply(high, ReferenceKind::gp_high, kPlace, address, kGp))
        << offset;
    ASSERT_TRUE(machine().fixups.apply(low, ReferenceKind::gp_low, kPlace, address, kGp)) << offset;
    EXPECT_EQ(machine().fixups.field(high, ReferenceKind::gp_high) +
                  machine().fixups.field(low, ReferenceKind::gp_low),
              offset);
    // If gp is `address` and the anchor is kGp, gp - anchor is `offset`.
    ASSERT_TRUE(machine().fixups.apply(high, ReferenceKind::gp_load_high, kPlace, kGp, address));
    ASSERT_TRUE(machine().fixups.apply(low, ReferenceKind::gp_load_low, kPlace, kGp, address));
    EXPECT_EQ(machine().fixups.field(high, ReferenceKind::gp_load_high) +
                  machine().fixups.field(low, ReferenceKind::gp_load_low),
              offset);
  }
  EXPECT_TRUE(machine().fixups.is_upper_half(parse("ldah t0,1")));
  EXPECT_FALSE(machine().fixups.is_upper_half(parse("lda t0,1(gp)")));
  Instruction high = parse("ldah t0,0(gp)");
  for (int64_t offset : {int64_t{0x7fff8000}, -int64_t{0x80008001}}) {
    const uint64_t address = kGp + static_cast<uint64_t>(offset);
    EXPECT_FALSE(machine().fixups.apply(high, ReferenceKind::gp_high, kPlace, address, kGp));
  }
  EXPECT_EQ(machine().text.print(high, 0), "ldah\tt0,0(gp)");
}

std::string listing(const std::vector<uint8_t>& code, uint64_t address) {
  std::string text;
  for (const Instruction& instruction : decode(code)) {
    text += machine().text.print(instruction, address) + "\n";
    address += 4;
  }
  return text;
}

TEST(AlphaMachine, FarStubs) {
  const uint64_t landing = kPlace + 0x10008010;
  const auto departure = machine().stubs->departure(kPlace, landing);
  EXPECT_EQ(departure.size(), machine().stubs->departure_size);
  EXPECT_EQ(listing(departure, kPlace),
            "lda\tsp,-16(sp)\nstq\tat,0(sp)\nbr\tat,12001000c\nldah\tat,4097(at)\n"
            "lda\tat,-32764(at)\njmp\t(at)\n");
  EXPECT_EQ(machine().stubs->target(decode(departure), kPlace), landing);

  const auto arrival = machine().stubs->landing(landing, landing + 0x1000);
  EXPECT_EQ(arrival.size(), machine().stubs->landing_size);
  EXPECT_EQ(listing(arrival, landing), "ldq\tat,0(sp)\nlda\tsp,16(sp)\nbr\t130019010\n");
  EXPECT_EQ(machine().stubs->target(decode(arrival), landing), landing + 0x1000);

  auto other = decode(departure);
  other[0] = parse("lda sp,-32(sp)");
  EXPECT_EQ(machine().stubs->target(other, kPlace), std::nullopt);
  EXPECT_EQ(machine().stubs->target(std::span(other).first(2), kPlace), std::nullopt);
  EXPECT_THROW(machine().stubs->departure(kPlace, kPlace + (uint64_t{1} << 32)), Error);
  EXPECT_THROW(machine().stubs->landing(kPlace, kPlace + (uint64_t{1} << 23)), Error);
}

TEST(AlphaMachine, InvalidWordsKeepTheirBits) {
  const Instruction instruction = decode_word(0x0456789a);
  EXPECT_EQ(instruction.opcode, kInvalid);
  EXPECT_EQ(machine().text.print(instruction, 0), ".long 0x456789a");
  EXPECT_EQ(machine().codec.size({&instruction, 1}), 4u);
  Instruction state;
  state.opcode = kCfiState;
  EXPECT_EQ(machine().codec.size({&state, 1}), 0u);
  EXPECT_EQ(machine().operands(state).size, 0u);
  EXPECT_EQ(machine().facts(state).flow, ControlFlow::none);
  EXPECT_FALSE(machine().facts(state).nop);
}

}  // namespace
}  // namespace respike

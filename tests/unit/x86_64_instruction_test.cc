// Instructions of x86-64 in the IR: from bytes and back, here and elsewhere.
//
// Inputs are samples of the code of the system's programs and libraries. Zydis says where operands
// and branches lead; x86_64_codec_test compares the decoder with Zydis about everything else.

#include <Zydis/Zydis.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/machine/machines.h"
#include "optimizer/machine/x86_64/instruction.h"
#include "optimizer/machine/x86_64/listing.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kStart = 0x401000, kElsewhere = 0x7654321;

const Machine& machine() {
  return x86_64_machine();
}

/// Code at kStart in an image that has nothing else.
struct Code {
  explicit Code(Bytes b) : bytes(std::move(b)) {
    image.sections.resize(2);
    image.sections[1].properties = Section::kAllocated | Section::kExecutable;
    image.sections[1].address = kStart;
    image.sections[1].size = bytes.size();
    image.sections[1].contents = bytes;
    image.index_sections();
    size_t count = 0;
    for (size_t at = 0; at < bytes.size(); at += machine().codec.length(from(at))) ++count;
    instructions.resize(count);
    machine().codec.decode(bytes, 0, instructions.data());
  }

  std::span<const uint8_t> from(size_t at) const { return std::span(bytes).subspan(at); }
  Bytes encoded(std::span<const Instruction> run, uint64_t address) const {
    Bytes out;
    machine().codec.encode_at(run, {.address = address, .input = &image, .origin_base = kStart},
                              out);
    return out;
  }
  /// The instruction as emission would write it at another address, its branch target kept.
  Bytes moved(Instruction instruction, uint64_t address) const {
    const uint64_t place = kStart + instruction.origin;
    if (is_direct(machine().facts(instruction).flow)) {
      machine().branches.set_length(instruction, true);
      EXPECT_TRUE(
          machine().fixups.apply(instruction, ReferenceKind::branch, address,
                                 place + static_cast<uint64_t>(int64_t{instruction.immediate}), 0));
    }
    return encoded({&instruction, 1}, address);
  }

  Bytes bytes;
  Image image;
  std::vector<Instruction> instructions;
};

Code samples() {
  constexpr size_t kWindow = 1 << 17, kWindows = 4;
  Bytes bytes;
  for (const char* file :
       {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/bash"}) {
    Image image;
    try {
      image = read_image(file);
    } catch (const Error&) {
      continue;  // not on this system
    }
    for (const Section& section : image.sections) {
      if (!section.executable() || section.contents.empty()) continue;
      const size_t step = std::max(section.contents.size() / kWindows, kWindow);
      for (size_t at = 0; at < section.contents.size(); at += step) {
        const auto part =
            section.contents.subspan(at).first(std::min(kWindow, section.contents.size() - at));
        bytes.insert(bytes.end(), part.begin(), part.end());
      }
    }
  }
  return Code(std::move(bytes));
}

const Code& code_samples() {
  static const Code code = samples();
  return code;
}

/// Where the operands of an instruction lead that are relative to it; not the jump over its lock.
std::set<uint64_t> targets(std::span<const uint8_t> code, uint64_t address) {
  if (x86_64::decode_unit(code).jumps_over_lock) {
    code = code.subspan(2);
    address += 2;
  }
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  std::set<uint64_t> result;
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction, operands)))
    return {~uint64_t{0}};
  for (const ZydisDecodedOperand& operand : std::span(operands, instruction.operand_count)) {
    const bool relative =
        (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative) ||
        (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP);
    ZyanU64 target = 0;
    if (relative &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operand, address, &target)))
      result.insert(target);
  }
  return result;
}

TEST(X8664Instruction, CodeComesBackAsItWas) {
  const Code& code = code_samples();
  ASSERT_GT(code.instructions.size(), 100'000u);
  EXPECT_EQ(code.encoded(code.instructions, kStart), code.bytes);
}

TEST(X8664Instruction, CodeElsewhereLeadsToTheSamePlaces) {
  const Code& code = code_samples();
  size_t relative = 0;
  for (const Instruction& instruction : code.instructions) {
    const InstructionFacts facts = machine().facts(instruction);
    if (instruction.opcode == kInvalid || facts.stays_near) continue;
    const auto before = code.from(instruction.origin);
    const auto wanted = targets(before, kStart + instruction.origin);
    // If a sample begins inside an instruction, displacements may be anything.
    if (!std::ranges::all_of(wanted, [](uint64_t to) { return to < kElsewhere + INT32_MAX; }))
      continue;
    const Bytes moved = code.moved(instruction, kElsewhere);
    ASSERT_EQ(targets(moved, kElsewhere), wanted) << fmt::format("{:#x}", instruction.origin);
    relative += wanted.empty() ? 0 : 1;
    if (!wanted.empty() || is_direct(facts.flow)) continue;
    ASSERT_TRUE(std::equal(moved.begin(), moved.end(), before.begin()));
  }
  EXPECT_GT(relative, 10'000u);
}

std::set<Register> set_of(const Operands& operands, bool uses) {
  const Register* list = operands.registers;
  return uses ? std::set(list, list + operands.uses)
              : std::set(list + operands.uses, list + operands.size);
}

/// The Instruction has the registers and flags of its bytes.
TEST(X8664Instruction, OperandsAreThoseOfTheBytes) {
  using namespace x86_64;
  const Code& code = code_samples();
  for (const Instruction& instruction : code.instructions) {
    if (instruction.opcode == kInvalid) continue;
    const auto bytes = code.from(instruction.origin);
    const Decoded decoded = decode_unit(bytes);
    Effects effects = effects_of(decoded, bytes.data());
    if (!effects.described) continue;
    if (decoded.jumps_over_lock) effects.flags_read |= condition_flags(bytes[0]);
    std::set<Register> uses, defs;
    const auto add = [](std::set<Register>& to, const x86_64::RegisterSet& set, unsigned flags) {
      for (Register r = 0; r < 32; ++r) {
        if (r < 16 && (set.general >> r & 1) != 0) to.insert(register_of(r));
        if ((set.vector >> r & 1) != 0) to.insert(kVectors + r);
        if (r < 8 && (set.mask >> r & 1) != 0) to.insert(kMasks + r);
        if (r < 7 && (flags >> r & 1) != 0) to.insert(kFlags + r);
      }
      if (set.mmx != 0) to.insert(kMmx);
    };
    const unsigned written = effects.flags_written | effects.flags_undefined;
    add(uses, effects.reads, effects.flags_read);
    add(uses, effects.keeps, effects.keeps_flags ? written : 0);
    add(defs, effects.writes, written);
    const Operands operands = machine().operands(instruction);
    ASSERT_EQ(set_of(operands, true), uses) << fmt::format("{:#x}", instruction.origin);
    ASSERT_EQ(set_of(operands, false), defs) << fmt::format("{:#x}", instruction.origin);
  }
}

/// je 1f; lock; 1: cmpxchg %edx,0x10(%rip) is one instruction, whose operand moves along; jumps
/// over other bytes are jumps.
TEST(X8664Instruction, JumpOverALockPrefix) {
  using namespace x86_64;
  const Code code({0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x15, 0x10, 0, 0, 0,  // je 1f; lock; 1: cmpxchg
                   0x74, 0x01, 0x90,                                   // je 1f; nop; 1:
                   0x74, 0x01, 0xf0, 0x90});                           // je 1f; (bad) nop
  ASSERT_EQ(code.instructions.size(), 6u);
  const Instruction& locked = code.instructions[0];
  EXPECT_EQ(length_of(locked), 10u);
  EXPECT_EQ(machine().facts(locked).flow, ControlFlow::none);
  const Operands operands = machine().operands(locked);
  const auto zero = static_cast<Register>(kFlags + std::countr_zero(condition_flags(0x74)));
  EXPECT_TRUE(set_of(operands, true).contains(zero));
  EXPECT_EQ(code.moved(locked, kStart - 0x100),
            Bytes({0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x15, 0x10, 0x01, 0, 0}));
  EXPECT_TRUE(is_direct(machine().facts(code.instructions[1]).flow));
  EXPECT_TRUE(is_direct(machine().facts(code.instructions[3]).flow));
  std::vector<ListedLine> lines;
  x86_64_listing().list(code.from(0), 10, kStart, lines);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].text,
            fmt::format("je\t{:#x} \tlock \tcmpxchgl\t%edx, 0x10(%rip)", kStart + 3));
}

Instruction one(Bytes bytes) {
  const Code code(std::move(bytes));
  EXPECT_EQ(code.instructions.size(), 1u);
  return code.instructions.front();
}

TEST(X8664Instruction, JumpsHaveTwoLengths) {
  const Code code({0x74, 0x10});  // je
  Instruction branch = code.instructions.front();
  const auto leads_to = [&](uint64_t distance) {
    return machine().fixups.apply(branch, ReferenceKind::branch, kStart, kStart + distance, 0);
  };
  EXPECT_TRUE(leads_to(129));
  EXPECT_EQ(code.encoded({&branch, 1}, kStart), (Bytes{0x74, 0x7f}));
  EXPECT_FALSE(leads_to(130));
  EXPECT_TRUE(leads_to(uint64_t(-126)));
  EXPECT_FALSE(leads_to(uint64_t(-127)));
  machine().branches.set_length(branch, true);
  EXPECT_TRUE(leads_to(0x10006));
  EXPECT_TRUE(machine().branches.invert(branch, {}));
  EXPECT_EQ(code.encoded({&branch, 1}, kStart), (Bytes{0x0f, 0x85, 0, 0, 1, 0}));
  EXPECT_FALSE(leads_to(uint64_t{1} << 32));
}

/// A short jump and its long form are one instruction, but for how they stand in memory.
TEST(X8664Instruction, LengthsOfJumpsDoNotMatter) {
  for (const auto& [near, far] : {std::pair(Bytes{0xeb, 0}, Bytes{0xe9, 0, 0, 0, 0}),
                                  std::pair(Bytes{0x7f, 0}, Bytes{0x0f, 0x8f, 0, 0, 0, 0})}) {
    const Instruction a = one(near), b = one(far);
    EXPECT_EQ(a.opcode, b.opcode);
    EXPECT_TRUE(std::ranges::equal(a.registers, b.registers));
    EXPECT_EQ((a.flags ^ b.flags) & ~machine().codec.standing_flags, 0);
  }
}

TEST(X8664Instruction, PrefixedJumpsKeepTheirBytes) {
  const Code code({0xf2, 0xe9, 0, 0, 0, 0});  // bnd jmp
  Instruction jump = code.instructions.front();
  machine().branches.set_length(jump, false);
  EXPECT_TRUE(machine().fixups.apply(jump, ReferenceKind::branch, kStart, kStart + 0x106, 0));
  EXPECT_EQ(code.encoded({&jump, 1}, kStart), (Bytes{0xf2, 0xe9, 0, 1, 0, 0}));
  EXPECT_FALSE(machine().facts(jump).stays_near);
  EXPECT_TRUE(machine().facts(one({0xf2, 0xeb, 0})).stays_near);
}

TEST(X8664Instruction, ReferencesToCode) {
  const Code code({0x48, 0x8d, 0x05, 0, 0, 0, 0,                         // lea 0(%rip),%rax
                   0xc7, 0x05, 0x10, 0, 0, 0, 0x44, 0x33, 0x22, 0x11});  // movl $...,0x10(%rip)
  Instruction lea = code.instructions[0], move = code.instructions[1];
  const auto& fixups = machine().fixups;
  EXPECT_TRUE(fixups.apply(lea, ReferenceKind::pc_relative32, kElsewhere, kElsewhere + 0x1007, 0));
  EXPECT_EQ(code.encoded({&lea, 1}, kElsewhere), (Bytes{0x48, 0x8d, 0x05, 0, 0x10, 0, 0}));
  EXPECT_TRUE(fixups.apply(move, ReferenceKind::address32, kStart + 0x107, 0x401234, 0));
  // 0x100 bytes further on, the operand is nearer by as much.
  EXPECT_EQ(code.encoded({&move, 1}, kStart + 7 + 0x100),
            (Bytes{0xc7, 0x05, 0x10, 0xff, 0xff, 0xff, 0x34, 0x12, 0x40, 0}));
  EXPECT_FALSE(fixups.apply(move, ReferenceKind::address32, kStart, uint64_t{1} << 31, 0));
  EXPECT_FALSE(fixups.apply(lea, ReferenceKind::gp_high, kStart, kStart, 0));
}

TEST(X8664Instruction, Facts) {
  const auto facts = [](Bytes bytes) { return machine().facts(one(std::move(bytes))); };
  EXPECT_EQ(facts({0xe8, 4, 0, 0, 0}).flow, ControlFlow::call);
  EXPECT_FALSE(facts({0xe8, 4, 0, 0, 0}).get_pc);
  EXPECT_TRUE(facts({0xe8, 0, 0, 0, 0}).get_pc);
  EXPECT_EQ(facts({0xff, 0xd0}).flow, ControlFlow::indirect_call);
  EXPECT_EQ(facts({0xff, 0xe0}).flow, ControlFlow::indirect_jump);
  EXPECT_EQ(facts({0x3e, 0xff, 0xe0}).flow, ControlFlow::indirect_jump);  // notrack
  EXPECT_EQ(facts({0xf3, 0xc3}).flow, ControlFlow::return_jump);
  EXPECT_FALSE(facts({0xc3}).falls_through);
  EXPECT_EQ(facts({0x0f, 0x0b}).flow, ControlFlow::stop);
  EXPECT_TRUE(facts({0x0f, 0x05}).system_call);
  EXPECT_TRUE(facts({0xe3, 0}).stays_near);  // jrcxz
  EXPECT_TRUE(facts({0x90}).nop);
  EXPECT_TRUE(facts({0x66, 0x90}).nop);
  EXPECT_TRUE(facts({0x0f, 0x1f, 0x40, 0}).nop);
  EXPECT_FALSE(facts({0xf3, 0x0f, 0x1e, 0xfa}).nop);        // endbr64
  EXPECT_FALSE(facts({0xf3, 0x48, 0x0f, 0x1e, 0xc8}).nop);  // rdsspq
  EXPECT_FALSE(facts({0x0f, 0x18, 0x08}).nop);              // prefetcht0
  EXPECT_FALSE(facts({0xf3, 0x90}).nop);                    // pause
}

TEST(X8664Instruction, SignalReturn) {
  const Code restore({0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05});
  EXPECT_TRUE(machine().is_signal_return(restore.instructions));
  const Code other({0x48, 0xc7, 0xc0, 16, 0, 0, 0, 0x0f, 0x05});
  EXPECT_FALSE(machine().is_signal_return(other.instructions));
}

TEST(X8664Instruction, FieldsOfInstructions) {
  using Field = Codec::Field;
  const auto field = [](const Bytes& bytes, unsigned offset) {
    return machine().codec.field_at(bytes, offset);
  };
  EXPECT_EQ(field({0xe8, 0, 0, 0, 0}, 1), Field::branch);
  const Bytes move = {0xc7, 0x05, 8, 0, 0, 0, 0x44, 0x33, 0x22, 0x11};
  EXPECT_EQ(field(move, 2), Field::distance);
  EXPECT_EQ(field(move, 6), Field::address);
  EXPECT_EQ(field(move, 3), Field::none);
  // The rest of __tls_get_addr: mov %fs:0,%rax
  EXPECT_EQ(field({0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}, 5), Field::thread);
  EXPECT_EQ(field({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, 5), Field::number);
}

TEST(X8664Instruction, WhatIsTheSame) {
  const auto same = [](const Bytes& a, uint64_t at_a, const Bytes& b, uint64_t at_b,
                       std::optional<ReferenceKind> reference = {}) {
    return machine().codec.same({a, at_a}, {b, at_b}, reference);
  };
  const Bytes load = {0x8b, 0x05, 0x10, 0, 0, 0}, nearer = {0x8b, 0x05, 0, 0, 0, 0};
  EXPECT_TRUE(same(load, 0x1000, nearer, 0x1010));
  EXPECT_FALSE(same(load, 0x1000, nearer, 0x1000));
  EXPECT_TRUE(same(load, 0x1000, nearer, 0x1000, ReferenceKind::pc_relative32));
  EXPECT_FALSE(same({0x83, 0xc0, 1}, 0, {0x83, 0xc0, 2}, 0));
  EXPECT_TRUE(same({0xb8, 1, 0, 0, 0}, 0, {0xb8, 2, 0, 0, 0}, 0, ReferenceKind::address32));
}

TEST(X8664Instruction, FollowsTheReturnAddress) {
  using Use = PushedReturns::Use;
  PushedReturns::Depth depth;
  const auto follow = [&](const Bytes& bytes) {
    const Code code(bytes);
    return machine().pushed_returns->follow(code.instructions.front(), code.bytes, depth);
  };
  const auto expect = [&](const Bytes& bytes, PushedReturns::Depth before, Use use, int64_t after) {
    depth = before;
    EXPECT_EQ(follow(bytes), use);
    EXPECT_EQ(depth.bytes, after);
  };
  expect({0x48, 0x83, 0xec, 0x08}, {16, {}}, Use::none, 24);            // sub $8,%rsp
  expect({0x48, 0x81, 0xc4, 0, 1, 0, 0}, {256, {}}, Use::none, 0);      // add $0x100,%rsp
  expect({0x48, 0x81, 0xc4, 0, 1, 0, 0}, {8, {}}, Use::changed, -248);  // the same, too much
  expect({0x48, 0x8d, 0x64, 0x24, 0x08}, {8, {}}, Use::none, 0);        // lea 8(%rsp),%rsp
  expect({0x48, 0x8d, 0x65, 0xf8}, {40, 8}, Use::none, 16);             // lea -8(%rbp),%rsp
  expect({0x48, 0x8d, 0x65, 0xf8}, {40, {}}, Use::unknown, 40);         // the same
  expect({0xc9}, {40, 8}, Use::none, 0);                                // leave
  expect({0x48, 0x89, 0xec}, {40, 8}, Use::none, 8);                    // mov %rbp,%rsp
  expect({0x48, 0x89, 0x74, 0x24, 0x08}, {8, {}}, Use::changed, 8);     // mov %rsi,8(%rsp)
  expect({0x48, 0x89, 0x74, 0x24, 0x08}, {16, {}}, Use::none, 16);      // the same
  expect({0x48, 0x89, 0x75, 0x08}, {24, 8}, Use::changed, 24);          // mov %rsi,8(%rbp)
  expect({0x48, 0x89, 0x75, 0x08}, {24, {}}, Use::none, 24);            // the same
  expect({0x48, 0x8b, 0x74, 0x24, 0x08}, {8, {}}, Use::none, 8);        // mov 8(%rsp),%rsi
  expect({0x48, 0x83, 0xe4, 0xf0}, {8, {}}, Use::unknown, 8);           // and $-16,%rsp
  expect({0x48, 0x01, 0xc4}, {8, {}}, Use::unknown, 8);                 // add %rax,%rsp
  expect({0x48, 0x87, 0x04, 0x24}, {0, {}}, Use::changed, 0);           // xchg %rax,(%rsp)
  expect({0x48, 0x83, 0x04, 0x24, 0x08}, {0, {}}, Use::changed, 0);     // addq $8,(%rsp)
  expect({0x50}, {0, {}}, Use::none, 8);                                // push %rax
  expect({0x59}, {8, {}}, Use::none, 0);                                // pop %rcx
  expect({0x59}, {0, {}}, Use::taken, -8);                              // the same
  depth = {8, {}};
  EXPECT_EQ(follow({0x48, 0x89, 0xe5}), Use::none);  // mov %rsp,%rbp
  EXPECT_EQ(depth.frame, 8);
  EXPECT_EQ(follow({0x5d}), Use::none);  // pop %rbp
  EXPECT_EQ(depth.frame, std::nullopt);
}

}  // namespace
}  // namespace respike

#pragma once
// A machine of twenty instructions for tests that do not depend on a machine: four bytes each, with
// opcode, two registers, and a 16-bit immediate (a displacement in bytes from the branch itself).
// The reach of its branches can be chosen: a test of far branches needs only a dozen instructions.
// The number of a relocation type is the number of its role.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/machine.h"

namespace respike {

struct FakeRow {
  std::string_view name;
  ControlFlow flow = ControlFlow::none;
  SequenceRole role = SequenceRole::none;
};

struct FakeMachine {
  static constexpr std::array<FakeRow, 20> kRows = {{
      {"nop"},
      {"add"},
      {"load"},
      {"store"},
      {"high"},  // upper half of an address
      {"low"},
      {"ll", ControlFlow::none, SequenceRole::reservation_begin},
      {"sc", ControlFlow::none, SequenceRole::reservation_end},
      {"fadd", ControlFlow::none, SequenceRole::shadow_begin},
      {"trapb", ControlFlow::none, SequenceRole::shadow_end},
      {"beq", ControlFlow::conditional_branch},
      {"bne", ControlFlow::conditional_branch},
      {"br", ControlFlow::branch},
      {"bsr", ControlFlow::call},
      {"jsr", ControlFlow::indirect_call},
      {"jmp", ControlFlow::indirect_jump},
      {"ret", ControlFlow::return_jump},
      {"halt", ControlFlow::stop},
      {"blt", ControlFlow::conditional_branch},
      {"sub"},
  }};
  static constexpr uint64_t kReach = 0x8000;
  // Of the machine made last; bytes, either way.
  static inline uint64_t reach = kReach;              // of branches and calls
  static inline uint64_t conditional_reach = kReach;  // of conditional branches

  static uint64_t reach_of(const Instruction& branch) {
    return row(branch).flow == ControlFlow::conditional_branch ? conditional_reach : reach;
  }

  static constexpr uint16_t opcode(std::string_view name) {
    for (uint16_t i = 0; i < kRows.size(); ++i)
      if (kRows[i].name == name) return kFirstMachineOpcode + i;
    return kInvalid;
  }

  static void decode(std::span<const uint8_t> code, uint32_t origin, Instruction* out) {
    for (size_t i = 0; i + 4 <= code.size(); i += 4, ++out, origin += 4) {
      const auto word = load<uint32_t>(&code[i]);
      *out = {};
      out->origin = origin;
      if (word >> 24 >= kRows.size()) {
        out->immediate = static_cast<int32_t>(word);
        continue;
      }
      out->opcode = static_cast<uint16_t>(kFirstMachineOpcode + (word >> 24));
      out->registers[0] = word >> 20 & 15;
      out->registers[1] = word >> 16 & 15;
      out->immediate = static_cast<int16_t>(word);
    }
  }
  static uint64_t arrange(std::span<const Instruction> run, uint32_t* places) {
    uint32_t size = 0;
    for (const Instruction& i : run) {
      if (places != nullptr) *places++ = size;
      size += i.is_pseudo() ? 0 : 4;
    }
    return size;
  }
  static void replace(std::span<uint8_t> group, unsigned, const Instruction& i) {
    std::vector<uint8_t> bytes;
    encode_at({&i, 1}, {}, bytes);
    std::copy(bytes.begin(), bytes.end(), group.begin());
  }
  static void fill(std::span<uint8_t> groups) {
    for (size_t at = 0; at + 4 <= groups.size(); at += 4) replace(groups.subspan(at), 0, of("nop"));
  }
  static void encode_at(std::span<const Instruction> list, const CodePlace&,
                        std::vector<uint8_t>& out) {
    for (const Instruction& i : list) {
      uint32_t word = static_cast<uint32_t>(i.immediate);
      if (i.opcode != kInvalid)
        word = static_cast<uint32_t>(i.opcode - kFirstMachineOpcode) << 24 |
               static_cast<uint32_t>(i.registers[0]) << 20 |
               static_cast<uint32_t>(i.registers[1]) << 16 | static_cast<uint16_t>(i.immediate);
      out.resize(out.size() + 4);
      store(&out[out.size() - 4], word);
    }
  }

  /// "add r1,r2,5"; "beq r1,r2,120000040" with the address branched to.
  static std::string print(const Instruction& i, uint64_t address) {
    const FakeRow& row = kRows[i.opcode - kFirstMachineOpcode];
    const std::string head = fmt::format("{} r{},r{},", row.name, i.registers[0], i.registers[1]);
    if (!is_direct(row.flow)) return head + fmt::format("{}", i.immediate);
    return head + fmt::format("{:x}", address + static_cast<uint64_t>(int64_t{i.immediate}));
  }
  static Instruction parse(std::string_view text, uint64_t address) {
    Instruction i;
    i.opcode = opcode(text.substr(0, text.find(' ')));
    if (i.opcode == kInvalid) throw Error(fmt::format("unknown instruction '{}'", text));
    if (text.find(' ') == std::string_view::npos) return i;
    text.remove_prefix(text.find(' ') + 1);
    for (int k = 0; k < 2; ++k) {
      const auto field = text.substr(0, text.find(','));
      if (field.empty() || field[0] != 'r') throw Error("a register is expected");
      i.registers[k] = static_cast<uint8_t>(number(field.substr(1), 10) & 15);
      text.remove_prefix(std::min(text.size(), field.size() + 1));
    }
    if (is_direct(kRows[i.opcode - kFirstMachineOpcode].flow))
      i.immediate = static_cast<int32_t>(number(text, 16) - address);
    else
      i.immediate = static_cast<int32_t>(text.starts_with("-") ? 0 - number(text.substr(1), 10)
                                                               : number(text, 10));
    return i;
  }
  static std::string register_name(Register r) { return fmt::format("r{}", r); }

  static InstructionFacts facts(const Instruction& i) {
    InstructionFacts facts;
    if (i.opcode < kFirstMachineOpcode) return facts;
    facts.flow = row(i).flow;
    facts.role = row(i).role;
    facts.falls_through = facts.flow == ControlFlow::none ||
                          facts.flow == ControlFlow::conditional_branch || is_call(facts.flow);
    facts.nop = i.opcode == opcode("nop");
    return facts;
  }
  static bool invert(Instruction& i, std::span<const Instruction>) {
    if (i.opcode == opcode("beq"))
      i.opcode = opcode("bne");
    else if (i.opcode == opcode("bne"))
      i.opcode = opcode("beq");
    else
      return false;  // blt has no inverse
    return true;
  }
  static bool is_upper_half(const Instruction& i) { return i.opcode == opcode("high"); }
  static bool is_lower_half(const Instruction& i) { return i.opcode == opcode("low"); }

  /// Halves as Alpha has them: the lower one counts as signed, the upper one makes up for that.
  static bool apply(Instruction& i, ReferenceKind kind, uint64_t place, uint64_t target,
                    uint64_t gp) {
    using Kind = ReferenceKind;
    if (kind == Kind::branch_hint) return true;
    int64_t value = static_cast<int64_t>(target - place);
    if (kind == Kind::gp_high || kind == Kind::gp_low || kind == Kind::gp_offset)
      value = static_cast<int64_t>(target - gp);
    if (kind == Kind::gp_load_high || kind == Kind::gp_load_low)
      value = static_cast<int64_t>(gp - target);
    if (kind == Kind::pc_low) value += 4;
    if (kind == Kind::gp_high || kind == Kind::gp_load_high || kind == Kind::pc_high)
      value = (value + 0x8000) >> 16;
    if (kind == Kind::gp_low || kind == Kind::gp_load_low || kind == Kind::pc_low)
      value = static_cast<int16_t>(value);
    const auto most = static_cast<int64_t>(reach_of(i));
    if (kind == Kind::branch && (value > most || value < -most)) return false;
    if (!fits_signed(value, 16)) return false;
    i.immediate = static_cast<int32_t>(value);
    return true;
  }
  static std::vector<uint8_t> far_departure(uint64_t, uint64_t landing) {
    Instruction address = of("low"), jump = of("jmp");
    address.registers[0] = jump.registers[0] = 15;
    address.immediate = static_cast<int32_t>(landing);
    return bytes_of({address, jump});
  }
  static std::vector<uint8_t> far_landing(uint64_t place, uint64_t target) {
    Instruction branch = of("br");
    branch.immediate = static_cast<int32_t>(target - place);
    return bytes_of({branch});
  }

  static std::vector<uint8_t> bytes_of(const std::vector<Instruction>& code) {
    std::vector<uint8_t> bytes;
    encode_at(code, {}, bytes);
    return bytes;
  }
  static const FakeRow& row(const Instruction& i) { return kRows[i.opcode - kFirstMachineOpcode]; }
  static Instruction of(std::string_view name) {
    Instruction i;
    i.opcode = opcode(name);
    return i;
  }
  static uint64_t number(std::string_view text, int base) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size())
      throw Error(fmt::format("'{}' is not a number", text));
    return value;
  }
};

/// No probes, no facts for rewriting, no global pointer.
inline Machine make_fake_machine(uint64_t reach = FakeMachine::kReach,
                                 uint64_t conditional_reach = FakeMachine::kReach) {
  using Fake = FakeMachine;
  Fake::reach = reach;
  Fake::conditional_reach = std::min(reach, conditional_reach);
  static const Stubs stubs = {
      .departure_size = 8,
      .landing_size = 4,
      .departure = Fake::far_departure,
      .landing = Fake::far_landing,
      .target = [](std::span<const Instruction>, uint64_t) { return std::optional<uint64_t>(); }};
  return {
      .name = "fake",
      .register_count = 16,
      .codec = {.groups = {.bytes = 4, .slots = 1},
                .nop = Fake::of("nop"),
                .decode = Fake::decode,
                .arrange = Fake::arrange,
                .encode_at = Fake::encode_at,
                .replace = Fake::replace,
                .fill = Fake::fill},
      .text = {.print = Fake::print, .parse = Fake::parse, .register_name = Fake::register_name},
      .facts = Fake::facts,
      .operands = [](const Instruction&) { return Operands(); },
      .based_operand = [](const Instruction&) { return std::optional<BasedOperand>(); },
      .is_signal_return = [](std::span<const Instruction>) { return false; },
      .abi = {.jump_table_entry = RelocationRole::gp_relative32},
      .icache = {.line = 16, .sets = 8},
      .costs = {.instruction = 1, .taken = 1},
      .branches = {.branch = Fake::of("br"),
                   .stop = Fake::of("halt"),
                   .reach = Fake::conditional_reach,
                   .reach_of = Fake::reach_of,
                   .invert = Fake::invert},
      .fixups = {.field = [](const Instruction& i, ReferenceKind) { return int64_t{i.immediate}; },
                 .apply = Fake::apply,
                 .is_upper_half = Fake::is_upper_half,
                 .is_lower_half = Fake::is_lower_half},
      .stubs = &stubs};
}

inline const Machine& fake_machine() {
  static const Machine machine = make_fake_machine();
  return machine;
}

}  // namespace respike

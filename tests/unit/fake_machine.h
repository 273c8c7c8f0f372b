#pragma once
// A machine of twenty instructions for tests that are about no machine: four bytes each, opcode,
// two registers, a 16-bit immediate (a displacement in bytes from the branch itself). How far its
// branches reach is chosen, so that a test of far branches needs a dozen instructions. The number
// of a relocation type is that of its role.

#include <fmt/format.h>

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

class FakeMachine final : public Machine {
 public:
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
  explicit FakeMachine(uint64_t reach = 0x8000) : reach_(reach) {}

  static constexpr uint16_t opcode(std::string_view name) {
    for (uint16_t i = 0; i < kRows.size(); ++i)
      if (kRows[i].name == name) return kFirstMachineOpcode + i;
    return kInvalid;
  }

  std::string_view name() const override { return "fake"; }
  MachineId machine() const override { return MachineId::alpha; }
  CodeGrid grid() const override { return {.bytes = 4, .slots = 1}; }

  void decode(std::span<const uint8_t> code, uint32_t origin, Instruction* out) const override {
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
  size_t decoded_count(std::span<const uint8_t> code) const override { return code.size() / 4; }
  uint64_t arrange(std::span<const Instruction> run, uint32_t* places) const override {
    uint32_t size = 0;
    for (const Instruction& i : run) {
      if (places != nullptr) *places++ = size;
      size += i.is_pseudo() ? 0 : 4;
    }
    return size;
  }
  void replace(std::span<uint8_t> group, unsigned, const Instruction& i) const override {
    std::vector<uint8_t> bytes;
    encode({&i, 1}, bytes);
    std::copy(bytes.begin(), bytes.end(), group.begin());
  }
  void fill(std::span<uint8_t> groups) const override {
    for (size_t at = 0; at + 4 <= groups.size(); at += 4) replace(groups.subspan(at), 0, nop());
  }
  bool drops_nops() const override { return false; }
  bool zeros_pad() const override { return false; }
  bool is_prefix(const Instruction&) const override { return false; }
  uint8_t standing_flags() const override { return 0; }
  void encode_before(std::span<const Instruction> list, std::span<const Instruction>,
                     std::vector<uint8_t>& out) const override {
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
  std::string print(const Instruction& i, uint64_t address) const override {
    const FakeRow& row = kRows[i.opcode - kFirstMachineOpcode];
    const std::string head = fmt::format("{} r{},r{},", row.name, i.registers[0], i.registers[1]);
    if (!is_direct(row.flow)) return head + fmt::format("{}", i.immediate);
    return head + fmt::format("{:x}", address + static_cast<uint64_t>(int64_t{i.immediate}));
  }
  Instruction parse(std::string_view text, uint64_t address) const override {
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
  std::string register_name(Register r) const override { return fmt::format("r{}", r); }
  unsigned register_count() const override { return 16; }

  ControlFlow control_flow(const Instruction& i) const override {
    return i.opcode < kFirstMachineOpcode ? ControlFlow::none : row(i).flow;
  }
  bool may_fall_through(const Instruction& i) const override {
    const ControlFlow flow = control_flow(i);
    return flow == ControlFlow::none || flow == ControlFlow::conditional_branch || is_call(flow);
  }
  Operands operands(const Instruction&) const override { return {}; }
  bool is_get_pc(const Instruction&) const override { return false; }
  bool is_nop(const Instruction& i) const override { return i.opcode == opcode("nop"); }
  ValueSource value_source(const Instruction&) const override { return ValueSource::computed; }
  bool uses_as_pointer(const Instruction&, Register) const override { return false; }
  std::optional<RegisterRange> kept_registers(const Instruction&) const override { return {}; }
  SequenceRole sequence_role(const Instruction& i) const override {
    return i.opcode < kFirstMachineOpcode ? SequenceRole::none : row(i).role;
  }
  CacheShape instruction_cache() const override { return {.line = 16, .sets = 8}; }
  ExecutionCosts execution_costs() const override { return {.instruction = 1, .taken = 1}; }
  const Abi& abi() const override {
    static const Abi abi{};
    return abi;
  }
  bool is_signal_return(std::span<const Instruction>) const override { return false; }

  Instruction branch() const override { return of("br"); }
  Instruction stop() const override { return of("halt"); }
  Instruction nop() const override { return of("nop"); }
  bool defers_faults(const Instruction&) const override { return false; }
  bool invert(Instruction& i, std::span<const Instruction>) const override {
    if (i.opcode == opcode("beq"))
      i.opcode = opcode("bne");
    else if (i.opcode == opcode("bne"))
      i.opcode = opcode("beq");
    else
      return false;  // blt has no inverse
    return true;
  }
  uint64_t branch_reach() const override { return reach_; }

  bool is_upper_half(const Instruction& i) const override { return i.opcode == opcode("high"); }
  bool is_lower_half(const Instruction& i) const override { return i.opcode == opcode("low"); }
  int64_t field(const Instruction& i, ReferenceKind) const override { return i.immediate; }
  std::optional<int64_t> gp_offset(std::span<const Instruction>) const override { return {}; }
  RelocationRole jump_table_entry() const override { return RelocationRole::gp_relative32; }
  DescriptorTable descriptors() const override { return {}; }
  /// Halves as Alpha has them: the lower one counts as signed, the upper one makes up for that.
  bool apply(Instruction& i, ReferenceKind kind, uint64_t place, uint64_t target,
             uint64_t gp) const override {
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
    const auto reach = static_cast<int64_t>(reach_);
    if (kind == Kind::branch && (value > reach || value < -reach)) return false;
    if (!fits_signed(value, 16)) return false;
    i.immediate = static_cast<int32_t>(value);
    return true;
  }
  unsigned far_departure_size() const override { return 8; }
  unsigned far_landing_size() const override { return 4; }
  unsigned far_stub_frame() const override { return 0; }
  std::vector<uint8_t> far_departure(uint64_t, uint64_t landing) const override {
    Instruction address = of("low"), jump = of("jmp");
    address.registers[0] = jump.registers[0] = 15;
    address.immediate = static_cast<int32_t>(landing);
    return bytes_of({address, jump});
  }
  std::vector<uint8_t> far_landing(uint64_t place, uint64_t target) const override {
    Instruction branch = of("br");
    branch.immediate = static_cast<int32_t>(target - place);
    return bytes_of({branch});
  }
  bool is_system_call(const Instruction&) const override { return false; }
  const Probes* probes() const override { return nullptr; }
  const RewriteFacts* rewrite_facts() const override { return nullptr; }
  std::optional<uint64_t> far_stub_target(std::span<const Instruction>, uint64_t) const override {
    return std::nullopt;
  }

 private:
  static bool is_direct(ControlFlow flow) {
    return flow == ControlFlow::conditional_branch || flow == ControlFlow::branch ||
           flow == ControlFlow::call;
  }
  std::vector<uint8_t> bytes_of(const std::vector<Instruction>& code) const {
    std::vector<uint8_t> bytes;
    encode(code, bytes);
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

  uint64_t reach_;  // bytes, either way
};

inline const FakeMachine& fake_machine() {
  static const FakeMachine machine;
  return machine;
}

}  // namespace respike

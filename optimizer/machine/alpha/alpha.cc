// The Alpha as a Machine: branches, references and stubs; the rest is in codec, text and meaning.
//
// References. gp offsets are split as the assembler does: ldah adds its displacement shifted by 16,
// the instruction with the lower half adds a signed 16-bit displacement, so the upper half is
// rounded: high = (offset + 0x8000) >> 16. A pair reaches from -2 GB - 32 KB to +2 GB - 32 KB.
//
// Far branches. A direct branch reaches 4 MB. The departure stub saves register 28 (at) on the
// stack, gets its own address by a branch to the next instruction, adds the distance to the landing
// stub and jumps; the landing stub restores the register. The stack pointer is lowered first, as a
// signal may arrive between any two instructions and Alpha has no red zone.
//
// Sources: Alpha Architecture Handbook, version 4, sections 3.3 and 4.3.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "optimizer/base/error.h"
#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/meaning.h"
#include "optimizer/machine/alpha/probes.h"
#include "optimizer/machine/alpha/rewrite_facts.h"
#include "optimizer/machine/alpha/text.h"
#include "optimizer/machine/machines.h"

namespace respike {
namespace {

using namespace alpha;

constexpr uint64_t kBranchReach = (uint64_t{1} << 22) - 4;
constexpr size_t kDepartureLength = 6;
constexpr size_t kLandingLength = 3;

Instruction memory_instruction(uint16_t op, uint8_t ra, int32_t displacement, uint8_t rb) {
  Instruction instruction;
  instruction.opcode = op;
  instruction.registers[0] = ra;
  instruction.registers[1] = rb;
  instruction.immediate = displacement;
  return instruction;
}

Instruction branch_instruction(uint8_t ra, int64_t displacement) {
  Instruction instruction;
  instruction.opcode = opcode("br");
  instruction.registers[0] = ra;
  instruction.immediate = static_cast<int32_t>(displacement);
  return instruction;
}

/// Whether a branch can have a target `distance` bytes from itself.
bool branch_reaches(int64_t distance) {
  return distance % 4 == 0 && fits_signed(distance - 4, 23);
}

/// A 32-bit offset as the displacements of an ldah and an instruction that adds a low half.
struct Halves {
  int32_t high, low;
};

std::optional<Halves> split(uint64_t offset) {
  const int64_t high = static_cast<int64_t>(offset + 0x8000) >> 16;
  if (!fits_signed(high, 16)) return std::nullopt;
  return Halves{static_cast<int32_t>(high), static_cast<int32_t>(sign_extend(offset, 16))};
}

std::optional<std::array<Instruction, kDepartureLength>> departure(uint64_t place,
                                                                   uint64_t landing) {
  const auto halves = split(landing - (place + 12));
  if (!halves) return std::nullopt;
  Instruction jump;
  jump.opcode = opcode("jmp");
  jump.registers[0] = kZero;
  jump.registers[1] = kAt;
  return {{memory_instruction(opcode("lda"), kSp, -16, kSp),
           memory_instruction(opcode("stq"), kAt, 0, kSp), branch_instruction(kAt, 4),
           memory_instruction(opcode("ldah"), kAt, halves->high, kAt),
           memory_instruction(opcode("lda"), kAt, halves->low, kAt), jump}};
}

std::optional<std::array<Instruction, kLandingLength>> landing(uint64_t place, uint64_t target) {
  const int64_t distance = static_cast<int64_t>(target - (place + 8));
  if (!branch_reaches(distance)) return std::nullopt;
  return {{memory_instruction(opcode("ldq"), kAt, 0, kSp),
           memory_instruction(opcode("lda"), kSp, 16, kSp), branch_instruction(kZero, distance)}};
}

std::vector<uint8_t> encode_all(std::span<const Instruction> instructions) {
  std::vector<uint8_t> code(4 * instructions.size());
  encode_words(instructions.data(), instructions.size(), code.data());
  return code;
}

class AlphaMachine final : public Machine {
 public:
  std::string_view name() const override { return "alpha"; }
  MachineId machine() const override { return MachineId::alpha; }
  CodeGrid grid() const override { return {.bytes = 4, .slots = 1}; }

  void decode(std::span<const uint8_t> code, uint32_t origin, Instruction* out) const override {
    decode_words(code.data(), code.size() / 4, origin, out);
  }
  size_t decoded_count(std::span<const uint8_t> code) const override { return code.size() / 4; }
  uint64_t arrange(std::span<const Instruction> run, uint32_t* places) const override {
    uint32_t size = 0;
    for (const Instruction& instruction : run) {
      if (places != nullptr) *places++ = size;
      size += instruction.is_pseudo() ? 0 : 4;
    }
    return size;
  }
  void encode_before(std::span<const Instruction> instructions, std::span<const Instruction>,
                     std::vector<uint8_t>& out) const override {
    const size_t start = out.size();
    out.resize(start + 4 * instructions.size());
    encode_words(instructions.data(), instructions.size(), out.data() + start);
  }
  void replace(std::span<uint8_t> group, unsigned, const Instruction& instruction) const override {
    encode_words(&instruction, 1, group.data());
  }
  void fill(std::span<uint8_t> groups) const override {
    const Instruction none = nop();
    for (size_t at = 0; at + 4 <= groups.size(); at += 4) encode_words(&none, 1, &groups[at]);
  }
  bool drops_nops() const override { return false; }
  bool zeros_pad() const override { return false; }
  bool is_prefix(const Instruction&) const override { return false; }
  uint8_t standing_flags() const override { return 0; }

  std::string print(const Instruction& instruction, uint64_t address) const override {
    return alpha::print(instruction, address);
  }
  Instruction parse(std::string_view text, uint64_t address) const override {
    return alpha::parse(text, address);
  }
  std::string register_name(Register r) const override;
  unsigned register_count() const override { return kRegisterCount; }

  ControlFlow control_flow(const Instruction& instruction) const override {
    return alpha::control_flow(instruction);
  }
  bool may_fall_through(const Instruction& instruction) const override {
    const ControlFlow flow = control_flow(instruction);
    return flow == ControlFlow::none || flow == ControlFlow::conditional_branch || is_call(flow);
  }
  Operands operands(const Instruction& instruction) const override {
    return alpha::operands(instruction);
  }
  bool is_nop(const Instruction& instruction) const override { return alpha::is_nop(instruction); }
  bool is_get_pc(const Instruction& instruction) const override {
    return alpha::is_get_pc(instruction);
  }
  ValueSource value_source(const Instruction& instruction) const override {
    return alpha::value_source(instruction);
  }
  bool uses_as_pointer(const Instruction&, Register) const override { return false; }
  std::optional<RegisterRange> kept_registers(const Instruction&) const override { return {}; }
  SequenceRole sequence_role(const Instruction& instruction) const override {
    return alpha::sequence_role(instruction);
  }
  bool defers_faults(const Instruction&) const override { return false; }
  const Abi& abi() const override { return alpha::abi(); }
  /// Of the 21164: 8 KB (Hardware Reference Manual, 2.1.1).
  CacheShape instruction_cache() const override {
    return {.line = 32, .sets = 256, .prefetched = 4};
  }
  /// Model C (simulator/README.md).
  ExecutionCosts execution_costs() const override {
    return {.instruction = 1.1, .taken = 1.0, .added_branch = 0.25};
  }
  bool is_system_call(const Instruction& instruction) const override {
    return alpha::is_system_call(instruction);
  }
  bool is_signal_return(std::span<const Instruction> instructions) const override {
    return alpha::is_signal_return(instructions);
  }

  Instruction branch() const override { return branch_instruction(kZero, 4); }
  Instruction stop() const override { return decode_word(0); }          // halt
  Instruction nop() const override { return decode_word(0x2ffe0000); }  // unop
  bool invert(Instruction& instruction, std::span<const Instruction>) const override {
    return alpha::invert(instruction);
  }
  uint64_t branch_reach() const override { return kBranchReach; }

  bool is_upper_half(const Instruction& instruction) const override {
    return instruction.opcode == opcode("ldah");
  }
  bool is_lower_half(const Instruction& instruction) const override {
    return encoding_of(instruction).format == Format::memory && !is_upper_half(instruction);
  }
  int64_t field(const Instruction& instruction, ReferenceKind kind) const override;
  std::optional<int64_t> gp_offset(std::span<const Instruction> code) const override {
    return field(code.front(), ReferenceKind::gp_low);
  }
  RelocationRole jump_table_entry() const override { return RelocationRole::gp_relative32; }
  DescriptorTable descriptors() const override { return {}; }
  bool apply(Instruction& instruction, ReferenceKind kind, uint64_t place, uint64_t target,
             uint64_t gp) const override;

  unsigned far_departure_size() const override { return 4 * kDepartureLength; }
  unsigned far_landing_size() const override { return 4 * kLandingLength; }
  unsigned far_stub_frame() const override { return 16; }
  std::vector<uint8_t> far_departure(uint64_t place, uint64_t landing) const override;
  std::vector<uint8_t> far_landing(uint64_t place, uint64_t target) const override;
  std::optional<uint64_t> far_stub_target(std::span<const Instruction> code,
                                          uint64_t place) const override;
  const Probes* probes() const override { return &alpha_probes(); }
  const RewriteFacts* rewrite_facts() const override { return &alpha_rewrite_facts(); }
};

std::string AlphaMachine::register_name(Register r) const {
  assert(r < kRegisterCount);
  if (r == kFpcr) return "fpcr";
  if (r == kLockFlag) return "lock";
  return std::string(field_name(r < kFloating ? r : r + 1u));
}

int64_t AlphaMachine::field(const Instruction& instruction, ReferenceKind kind) const {
  switch (kind) {
    case ReferenceKind::gp_high:
    case ReferenceKind::gp_load_high:
    case ReferenceKind::pc_high:
      return int64_t{instruction.immediate} * 0x10000;
    default:
      return instruction.immediate;
  }
}

bool AlphaMachine::apply(Instruction& instruction, ReferenceKind kind, uint64_t place,
                         uint64_t target, uint64_t gp) const {
  const auto write = [&](int64_t value) {
    instruction.immediate = static_cast<int32_t>(value);
    instruction.flags &= ~Instruction::kHasReference;
    return true;
  };
  const int64_t distance = static_cast<int64_t>(target - place);
  switch (kind) {
    case ReferenceKind::branch:
      return branch_reaches(distance) && write(distance);
    case ReferenceKind::branch_hint:
      return write((distance - 4) >> 2 & 0x3fff);
    case ReferenceKind::gp_high:
    case ReferenceKind::gp_load_high: {
      const auto halves = split(kind == ReferenceKind::gp_high ? target - gp : gp - target);
      return halves && write(halves->high);
    }
    case ReferenceKind::gp_low:
    case ReferenceKind::gp_load_low: {
      const auto halves = split(kind == ReferenceKind::gp_low ? target - gp : gp - target);
      return halves && write(halves->low);
    }
    case ReferenceKind::pc_high: {
      const auto halves = split(target - place);
      return halves && write(halves->high);
    }
    case ReferenceKind::pc_low: {
      const auto halves = split(target - (place - 4));
      return halves && write(halves->low);
    }
    default:  // words of data
      return false;
  }
}

std::vector<uint8_t> AlphaMachine::far_departure(uint64_t place, uint64_t landing) const {
  const auto code = departure(place, landing);
  if (!code) throw Error(fmt::format("code at {:#x} is too far from {:#x}", landing, place));
  return encode_all(*code);
}

std::vector<uint8_t> AlphaMachine::far_landing(uint64_t place, uint64_t target) const {
  const auto code = landing(place, target);
  if (!code) throw Error(fmt::format("{:#x} is out of reach of a branch at {:#x}", target, place));
  return encode_all(*code);
}

/// Reads the target where a stub has it and compares the code with the stub for that target.
std::optional<uint64_t> AlphaMachine::far_stub_target(std::span<const Instruction> code,
                                                      uint64_t place) const {
  const auto equal = [](const Instruction& left, const Instruction& right) {
    return !right.is_pseudo() && !right.has_reference() && encode_word(left) == encode_word(right);
  };
  if (code.size() >= kLandingLength) {
    const uint64_t target = place + 8 + code[2].immediate;
    const auto stub = landing(place, target);
    if (stub && std::ranges::equal(*stub, code.first(kLandingLength), equal)) return target;
  }
  if (code.size() >= kDepartureLength) {
    const uint64_t target = place + 12 + int64_t{code[3].immediate} * 0x10000 + code[4].immediate;
    const auto stub = departure(place, target);
    if (stub && std::ranges::equal(*stub, code.first(kDepartureLength), equal)) return target;
  }
  return std::nullopt;
}

}  // namespace

const Machine& alpha_machine() {
  static const AlphaMachine target;
  return target;
}

}  // namespace respike

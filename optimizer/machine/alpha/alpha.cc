// The Alpha as a Machine. Branches, references and stubs are here; the other facets are in codec,
// text, meaning, probes and rewrite_facts.
//
// References. An offset from gp is split as the assembler splits it: ldah adds its displacement
// times 65536, the instruction with the lower half adds a signed 16-bit displacement. So the upper
// half is rounded: high = (offset + 0x8000) >> 16. A pair reaches from -2 GB - 32 KB to
// +2 GB - 32 KB. Example: 0x18000 is split into 2 and -0x8000.
//
// Far branches. A direct branch reaches 4 MB. The departure stub saves register 28 (at) on the
// stack, gets its own address by a branch to the next instruction, adds the distance to the landing
// stub and jumps; the landing stub restores register 28 and branches to the target. The departure
// lowers the stack pointer before it saves: a signal may arrive between any two instructions, and
// Alpha has no red zone.
//
// Sources: Alpha Architecture Handbook, version 4, sections 3.3 and 4.3.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "optimizer/base/error.h"
#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/issue.h"
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

/// Whether a branch can have a target `distance` bytes from the branch.
bool branch_reaches(int64_t distance) {
  return distance % 4 == 0 && fits_signed(distance - 4, 23);
}

/// A 32-bit offset as the displacements of an ldah and of the instruction with the lower half.
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

// ---- codec ----

void decode(std::span<const uint8_t> code, uint32_t origin, Instruction* out) {
  decode_words(code.data(), code.size() / 4, origin, out);
}

uint64_t arrange(std::span<const Instruction> run, uint32_t* places) {
  uint32_t size = 0;
  for (const Instruction& instruction : run) {
    if (places != nullptr) *places++ = size;
    size += instruction.is_pseudo() ? 0 : 4;
  }
  return size;
}

void encode_at(std::span<const Instruction> instructions, const CodePlace&,
               std::vector<uint8_t>& out) {
  const size_t start = out.size();
  out.resize(start + 4 * instructions.size());
  encode_words(instructions.data(), instructions.size(), out.data() + start);
}

void replace(std::span<uint8_t> group, unsigned, const Instruction& instruction) {
  encode_words(&instruction, 1, group.data());
}

Instruction unop() {
  return decode_word(0x2ffe0000);
}

void fill(std::span<uint8_t> groups) {
  const Instruction nop = unop();
  for (size_t at = 0; at + 4 <= groups.size(); at += 4) encode_words(&nop, 1, &groups[at]);
}

std::string register_name(Register r) {
  assert(r < kRegisterCount);
  if (r == kFpcr) return "fpcr";
  if (r == kLockFlag) return "lock";
  return std::string(field_name(r < kFloating ? r : r + 1u));
}

// ---- branches and references ----

/// Every direct branch or call has a 21-bit displacement in words.
uint64_t reach_of(const Instruction&) {
  return kBranchReach;
}

bool is_upper_half(const Instruction& instruction) {
  return instruction.opcode == opcode("ldah");
}

bool is_lower_half(const Instruction& instruction) {
  return encoding_of(instruction).format == Format::memory && !is_upper_half(instruction);
}

std::optional<BasedOperand> based_operand(const Instruction& i) {
  if (!is_lower_half(i)) return std::nullopt;
  BasedOperand operand{.displacement = i.immediate};
  if (i.opcode == opcode("lda")) return operand;
  const bool reads_value = (encoding_of(i).roles.reads & 1) != 0;
  operand.kind = reads_value ? BasedOperand::Kind::store : BasedOperand::Kind::load;
  for (const uint16_t whole : {opcode("ldq"), opcode("ldt"), opcode("stq"), opcode("stt")})
    operand.whole |= i.opcode == whole;
  if (operand.whole) operand.size = 8;
  return operand;
}

int64_t field(const Instruction& instruction, ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::gp_high:
    case ReferenceKind::gp_load_high:
    case ReferenceKind::pc_high:
    case ReferenceKind::address_high:
      return int64_t{instruction.immediate} * 0x10000;
    default:
      return instruction.immediate;
  }
}

bool apply(Instruction& instruction, ReferenceKind kind, uint64_t place, uint64_t target,
           uint64_t gp) {
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
    case ReferenceKind::address_high: {
      const auto halves = split(target);
      return halves && write(halves->high);
    }
    case ReferenceKind::address_low: {
      const auto halves = split(target);
      return halves && write(halves->low);
    }
    default:  // of data, or of other machines
      return false;
  }
}

std::optional<int64_t> gp_offset(std::span<const Instruction> code) {
  return field(code.front(), ReferenceKind::gp_low);
}

// ---- stubs ----

std::vector<uint8_t> far_departure(uint64_t place, uint64_t landing) {
  const auto code = departure(place, landing);
  if (!code) throw Error(fmt::format("code at {:#x} is too far from {:#x}", landing, place));
  return encode_all(*code);
}

std::vector<uint8_t> far_landing(uint64_t place, uint64_t target) {
  const auto code = landing(place, target);
  if (!code) throw Error(fmt::format("{:#x} is out of reach of a branch at {:#x}", target, place));
  return encode_all(*code);
}

/// Reads the target out of the fields that hold a stub's target, and compares the code with the
/// stub for this target.
std::optional<uint64_t> far_stub_target(std::span<const Instruction> code, uint64_t place) {
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

const GlobalPointer kGlobalPointer = {.base = kGp, .offset = gp_offset};

const Stubs kStubs = {.departure_size = 4 * kDepartureLength,
                      .landing_size = 4 * kLandingLength,
                      .frame = 16,
                      .departure = far_departure,
                      .landing = far_landing,
                      .target = far_stub_target};

const IssueModel kIssue = {.period = 16, .cycles = issue_cycles};

Machine make_machine() {
  return {
      .name = "alpha",
      .register_count = kRegisterCount,
      .codec = {.groups = {.bytes = 4, .slots = 1},
                .nop = unop(),
                .decode = decode,
                .arrange = arrange,
                .encode_at = encode_at,
                .replace = replace,
                .fill = fill},
      .text = {.print = alpha::print, .parse = alpha::parse, .register_name = register_name},
      .facts = alpha::facts,
      .operands = alpha::operands,
      .based_operand = based_operand,
      .is_signal_return = alpha::is_signal_return,
      .abi = make_abi(),
      // The 21164's: 8 KB (Hardware Reference Manual, 2.1.1).
      .icache = {.line = 32, .sets = 256, .prefetched = 4},
      // Model C (models/README.md).
      .costs = {.instruction = 1.1, .taken = 1.0, .added_branch = 0.25},
      .branches = {.branch = branch_instruction(kZero, 4),
                   .stop = decode_word(0),  // halt
                   .reach = kBranchReach,
                   .reach_of = reach_of,
                   .invert = [](Instruction& branch,
                                std::span<const Instruction>) { return alpha::invert(branch); }},
      .fixups = {.field = field,
                 .apply = apply,
                 .is_upper_half = is_upper_half,
                 .is_lower_half = is_lower_half},
      .page_size = 8192,
      .gp = &kGlobalPointer,
      .stubs = &kStubs,
      .issue = &kIssue,
      .probes = &alpha_probes(),
      .rewrite = &alpha_rewrite_facts(),
  };
}

}  // namespace

const Machine& alpha_machine() {
  static const Machine machine = make_machine();
  return machine;
}

/// Windows NT has 32-bit addresses. An ldl loads a whole address.
InstructionFacts windows_facts(const Instruction& instruction) {
  InstructionFacts result = alpha::facts(instruction);
  if (instruction.opcode == opcode("ldl")) result.source = ValueSource::loaded;
  return result;
}

/// Windows NT: no global pointer, no procedure value.
const Machine& alpha_windows_machine() {
  static const Machine machine = [] {
    Machine windows = make_machine();
    windows.abi = make_windows_abi();
    windows.facts = windows_facts;
    windows.gp = nullptr;
    static constexpr Register kStubRegisters[] = {kAt, kPv};
    windows.stub_registers = kStubRegisters;
    windows.probes = &alpha_windows_probes();
    return windows;
  }();
  return machine;
}

}  // namespace respike

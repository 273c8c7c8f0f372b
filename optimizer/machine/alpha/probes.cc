// Probes for Alpha.
//
// A counter is reached from gp where gp is known (ldah, ldq, lda, stq), otherwise from the program
// counter, which a branch to the next instruction leaves in a register: two more instructions. A
// store-conditional fails when another processor wrote the line, or an interrupt came; then a
// branch returns to the load. The branch is predicted taken, which costs little compared with the
// access to locked memory.
//
// A probe of two instructions loads the counter's number and calls a routine. With gp, eight
// instructions run instead of the four of the probe in place, but the probe takes half the space.
//
// On Windows NT nothing can be mapped over a part of an image, so the start code maps the counter
// file elsewhere, and probes load the address of the counters from a word of the image: br, ldah,
// ldl instead of br, ldah, lda. The word serves all counters within the displacement of the next
// instruction.
//
// Example, a counter at gp + 0x18008: ldah t10,2(gp); ldq t9,-0x7ff8(t10); lda t9,1(t9); stq
// t9,-0x7ff8(t10).

#include "optimizer/machine/alpha/probes.h"

#include <cassert>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/meaning.h"
#include "optimizer/machine/alpha/probe_reader.h"

namespace respike {

using namespace alpha;

namespace {

constexpr uint8_t field_of(Register r) {
  return static_cast<uint8_t>(r);
}

Instruction memory(uint16_t op, Register ra, int64_t displacement, Register rb) {
  Instruction instruction;
  instruction.opcode = op;
  instruction.registers[0] = field_of(ra);
  instruction.registers[1] = field_of(rb);
  instruction.immediate = static_cast<int32_t>(displacement);
  return instruction;
}

Instruction operate(uint16_t op, Register ra, Register rb, Register rc) {
  Instruction instruction;
  instruction.opcode = op;
  instruction.registers[0] = field_of(ra);
  instruction.registers[1] = field_of(rb);
  instruction.registers[2] = field_of(rc);
  return instruction;
}

/// Temporaries that compilers use last come first, so that many probes use the same registers.
constexpr Register kUsable[] = {kT10, kT9, kT8, kT11, kAt, 8,   7,   6,  5,  4,  3,  2,  1,  0, 21,
                                20,   19,  18,  17,   16,  kPv, kRa, 15, 14, 13, 12, 11, 10, 9};

/// A word in memory as base register and displacement.
struct Place {
  Register base;
  int64_t displacement;
};

class AlphaProbes final : public Probes {
 public:
  explicit AlphaProbes(bool uses_bases) : uses_bases_(uses_bases) {}

  bool may_start(const Instruction& instruction) const override {
    return may_start_probe(instruction);
  }
  std::optional<FoundProbe> read(ProbeText& text,
                                 const ProbeSurroundings& surroundings) const override {
    return read_probe(text, surroundings);
  }
  std::optional<FoundRoutine> read_routine(ProbeText& text,
                                           const ProbeSurroundings& surroundings) const override {
    return alpha::read_routine(text, surroundings);
  }

  uint64_t base_distance() const override { return uses_bases_ ? kBaseDistance : 0; }
  uint64_t bases_of(uint64_t size) const override {
    // Routines address counters relative to their middle, which may be after all counters.
    constexpr uint64_t kMiddle = 8 * uint64_t{kRoutineMiddle} / kBaseDistance + 1;
    return uses_bases_ ? size / kBaseDistance + 1 + kMiddle : 0;
  }

  unsigned registers(ProbeKind kind, bool, bool) const override {
    return kind == ProbeKind::record_target ? 3 : 2;
  }
  std::span<const Register> usable(ProbeKind, bool) const override { return kUsable; }
  uint64_t page_size() const override { return 8192; }

  std::optional<Register> jump_register(const Instruction& jump) const override {
    return jump.registers[1];
  }
  bool can_record(const IndirectJump&) const override { return true; }

  ProbeCode probe(ProbeKind kind, const ProbeOperands& operands) const override {
    assert(operands.free.size() >= registers(kind, operands.gp.has_value(), false));
    ProbeCode result;
    const Register address = operands.free[0], value = operands.free[1];
    auto& code = result.code;
    switch (kind) {
      case ProbeKind::count: {
        const Place at = reach(operands, address, 8, result);
        code.push_back(memory(opcode("ldq"), value, at.displacement, at.base));
        code.push_back(memory(opcode("lda"), value, 1, value));
        code.push_back(memory(opcode("stq"), value, at.displacement, at.base));
        break;
      }
      case ProbeKind::count_atomic: {
        const Place at = reach(operands, address, 8, result);
        auto& retry = result.retry;
        retry.push_back(memory(opcode("ldq_l"), value, at.displacement, at.base));
        retry.push_back(memory(opcode("lda"), value, 1, value));
        retry.push_back(memory(opcode("stq_c"), value, at.displacement, at.base));
        Instruction again;
        again.opcode = opcode("beq");
        again.registers[0] = field_of(value);
        retry.push_back(again);
        break;
      }
      case ProbeKind::find_copy:  // has_copies() is false
        break;
      case ProbeKind::record_target: {
        const Place at = reach(operands, address, 16, result);
        const Register changes = operands.free[2], target = operands.jump.instruction->registers[1];
        code.push_back(memory(opcode("ldq"), value, at.displacement, at.base));
        code.push_back(memory(opcode("ldq"), changes, at.displacement + 8, at.base));
        code.push_back(memory(opcode("stq"), target, at.displacement, at.base));
        code.push_back(operate(opcode("xor"), value, target, value));
        code.push_back(operate(opcode("cmpult"), kZero, value, value));
        code.push_back(operate(opcode("addq"), changes, value, changes));
        code.push_back(memory(opcode("stq"), changes, at.displacement + 8, at.base));
        break;
      }
    }
    return result;
  }

  bool has_routines() const override { return true; }
  std::vector<Instruction> routine_call(uint32_t number,
                                        std::span<const Register> registers) const override {
    Instruction call;
    call.opcode = opcode("bsr");
    call.registers[0] = field_of(registers[1]);
    return {memory(opcode("lda"), registers[0], int64_t{number} - kRoutineMiddle, kZero), call};
  }

  Routine routine(ProbeKind kind, const ProbeOperands& operands) const override {
    Routine result;
    const Register value = operands.free[0], link = operands.free[1], address = operands.free[2];
    ProbeOperands middle = operands;  // a signed number reaches both ends from there
    middle.counter += 8 * uint64_t{kRoutineMiddle};
    const Place at = reach(middle, address, 8, result);
    Instruction scaled = operate(opcode("s8addq"), value, at.base, address);
    result.code.push_back(scaled);
    const bool atomic = kind == ProbeKind::count_atomic;
    auto& count = atomic ? result.retry : result.code;
    count.push_back(
        memory(atomic ? opcode("ldq_l") : opcode("ldq"), value, at.displacement, address));
    count.push_back(memory(opcode("lda"), value, 1, value));
    count.push_back(
        memory(atomic ? opcode("stq_c") : opcode("stq"), value, at.displacement, address));
    if (atomic) {
      Instruction again;
      again.opcode = opcode("beq");
      again.registers[0] = field_of(value);
      count.push_back(again);
    }
    Instruction back;
    back.opcode = opcode("ret");
    back.registers[0] = kZero;
    back.registers[1] = field_of(link);
    result.after.push_back(back);
    return result;
  }

  unsigned save_frame(size_t registers, bool) const override {
    return static_cast<unsigned>((registers * 8 + 15) / 16 * 16);
  }

  std::vector<Instruction> save(std::span<const Register> registers, bool) const override {
    std::vector<Instruction> code;
    code.push_back(memory(opcode("lda"), kSp, -int64_t{save_frame(registers.size(), false)}, kSp));
    for (size_t i = 0; i < registers.size(); ++i)
      code.push_back(memory(opcode("stq"), registers[i], static_cast<int64_t>(8 * i), kSp));
    return code;
  }

  std::vector<Instruction> restore(std::span<const Register> registers, bool) const override {
    std::vector<Instruction> code;
    for (size_t i = 0; i < registers.size(); ++i)
      code.push_back(memory(opcode("ldq"), registers[i], static_cast<int64_t>(8 * i), kSp));
    code.push_back(memory(opcode("lda"), kSp, save_frame(registers.size(), false), kSp));
    return code;
  }

 private:
  static constexpr uint32_t kRoutineMiddle = kRoutineCounters / 2;
  static constexpr uint64_t kBaseDistance = 0x8000;

  /// Adds instructions that leave an address in `to`: with lda for `low`, the address of a place;
  /// with ldl, the word at that place.
  static void form_address(Register to, uint16_t low, uint64_t address, ProbeCode& result) {
    Instruction get_pc;
    get_pc.opcode = opcode("br");
    get_pc.registers[0] = field_of(to);
    get_pc.immediate = 4;
    result.code.push_back(get_pc);
    for (const auto& [op, kind] : {std::pair(opcode("ldah"), ReferenceKind::pc_high),
                                   std::pair(low, ReferenceKind::pc_low)}) {
      Instruction half = memory(op, to, static_cast<int64_t>(result.references.size()), to);
      half.flags |= Instruction::kHasReference;
      result.code.push_back(half);
      result.references.push_back(
          {kind, {.where = CodeLocation::Where::address, .address = address}});
    }
  }

  /// A register with the address of a place close to the counter.
  static Place reach_by_base(const ProbeOperands& operands, Register scratch, ProbeCode& result) {
    const uint64_t offset = operands.counter - operands.bases->counters;
    const uint64_t word = (offset + kBaseDistance / 2) / kBaseDistance;
    const unsigned size = operands.bases->word_size;
    form_address(scratch, size == 8 ? opcode("ldq") : opcode("ldl"),
                 operands.bases->words + size * word, result);
    return {scratch, static_cast<int64_t>(offset - word * kBaseDistance)};
  }

  /// Adds instructions that make `size` bytes at the counter reachable, perhaps through `scratch`.
  static Place reach(const ProbeOperands& operands, Register scratch, int64_t size,
                     ProbeCode& result) {
    if (operands.bases) return reach_by_base(operands, scratch, result);
    if (operands.gp) {
      const auto offset = static_cast<int64_t>(operands.counter - *operands.gp);
      if (fits_signed(offset, 16) && fits_signed(offset + size - 8, 16)) return {kGp, offset};
      const int64_t high = (offset + size - 8 + 0x8000) >> 16;
      const int64_t low = offset - high * 0x10000;
      if (fits_signed(high, 16) && fits_signed(low, 16)) {
        result.code.push_back(memory(opcode("ldah"), scratch, high, kGp));
        return {scratch, low};
      }
    }
    form_address(scratch, opcode("lda"), operands.counter, result);
    return {scratch, 0};
  }

  bool uses_bases_;
};

}  // namespace

const Probes& alpha_probes() {
  static const AlphaProbes probes(false);
  return probes;
}

const Probes& alpha_windows_probes() {
  static const AlphaProbes probes(true);
  return probes;
}

}  // namespace respike

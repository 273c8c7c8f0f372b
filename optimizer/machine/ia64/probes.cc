// Probes for IA-64.
//
// A counter is reached from gp where gp is known: by addl up to 2 MB away, else by movl and add.
// Where gp is not known, the counter is reached from the instruction pointer: movl loads the
// distance from the bundle of the mov from ip before it. The mov and the movl are in neighbouring
// bundles, since a stop is between them and a long instruction does not fit after an instruction
// for I units.
//
// A probe starts with a stop, since it may overwrite registers that the previous group uses; the
// no-op with the stop disappears when bundles are packed. fetchadd counts exactly without a retry;
// it is also used where exact counts are not required, since a load, an addition and a store are
// three groups. fetchadd leaves the old count in the register of the address, so one register is
// enough.
//
// Example, a counter at gp + 64: nop.m 0;; addl r31=64,r1;; fetchadd8.rel r31=[r31],1;;
//
// Registers are saved through f6. f6 and the registers in it are spilled as floating-point
// registers, in all 82 bits: a NaT becomes a NaTVal and comes back as a NaT, and ar.unat, which
// st8.spill would change, stays as it is.
//
// There are no routines: a call changes ar.pfs and the register frame, and a jump through a branch
// register takes as much space as the probe.
//
// Source: Intel Itanium Architecture Software Developer's Manual, volume 3, chapter 2.

#include "optimizer/machine/ia64/probes.h"

#include <cassert>
#include <span>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/machine/ia64/probe_reader.h"

namespace respike {

using namespace ia64;

namespace {

constexpr Register kGp = 1, kSp = 12;
constexpr Register kSaver = kFloating + 6;
constexpr int64_t kSpilled = 16;  // bytes of a floating-point register in memory

/// Scratch registers: compilers' temporaries come first, results of calls last.
constexpr Register kUsable[] = {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
                                19, 18, 17, 16, 15, 14, 3,  2,  11, 10, 9,  8};

/// registers[3] of a load or store of eight bytes without a hint.
constexpr uint8_t kEightBytes = 3 << 2;

class Code {
 public:
  explicit Code(ProbeCode& out) : code_(out.code) {}

  /// Adds an instruction with the fields a, b, c of its row. A register is given by its number in
  /// its file.
  Instruction& add(Op op, Register a, Register b, Register c, int64_t immediate = 0) {
    Instruction instruction;
    instruction.opcode = opcode(op);
    const auto field = [](Register r) { return static_cast<uint8_t>(r % kFloating); };
    instruction.registers[0] = field(a);
    instruction.registers[1] = field(b);
    instruction.registers[2] = field(c);
    instruction.immediate = static_cast<int32_t>(immediate);
    return code_.emplace_back(instruction);
  }
  void stop() {
    if (code_.empty()) add(Op::nop_m, 0, 0, 0);
    set_stop(code_.back(), true);
  }
  /// Adds both halves of a movl.
  void add_long(Register to, int64_t value) {
    add(Op::long_half, 0, 0, 0, value >> 32);
    add(Op::movl, to, 0, 0, value);
  }
  void load(Register to, Register address) {
    add(Op::ld, to, 0, address).registers[3] = kEightBytes;
  }
  void store(Register address, Register from) {
    add(Op::st, 0, from, address).registers[3] = kEightBytes;
  }

 private:
  std::vector<Instruction>& code_;
};

class Ia64Probes final : public Probes {
 public:
  bool may_start(const Instruction& instruction) const override {
    return may_start_probe(instruction);
  }
  std::optional<FoundProbe> read(ProbeText& text,
                                 const ProbeSurroundings& surroundings) const override {
    return read_probe(text, surroundings);
  }

  unsigned registers(ProbeKind kind, bool gp_known, bool) const override {
    return kind == ProbeKind::record_target ? 3 : gp_known ? 1 : 2;
  }
  std::span<const Register> usable(ProbeKind, bool) const override { return kUsable; }
  /// Kernels have pages of 4 to 64 KB.
  uint64_t page_size() const override { return 65536; }

  std::optional<Register> jump_register(const Instruction& jump) const override {
    return static_cast<Register>(kBranch + jump.registers[1]);
  }
  bool can_record(const IndirectJump&) const override { return true; }

  ProbeCode probe(ProbeKind kind, const ProbeOperands& operands) const override {
    assert(operands.free.size() >= registers(kind, operands.gp.has_value(), false));
    ProbeCode result;
    Code code(result);
    const Register address = operands.free[0];
    code.stop();
    reach(operands, address, result);
    switch (kind) {
      case ProbeKind::count:
      case ProbeKind::count_atomic:
        code.add(Op::fetchadd8_rel, address, 0, address, 1);
        break;
      case ProbeKind::find_copy:  // has_copies() is false
        break;
      case ProbeKind::record_target: {
        // The count of changes grows by (one bits of the difference + 127) / 128.
        const Register value = operands.free[1], target = operands.free[2];
        code.add(Op::mov_from_br, target, operands.jump.instruction->registers[1], 0);
        code.load(value, address);
        code.stop();
        code.store(address, target);
        code.add(Op::xor_, value, target, value);
        code.add(Op::adds, address, 0, address, 8);
        code.stop();
        code.add(Op::popcnt, value, 0, value);
        code.load(target, address);
        code.stop();
        code.add(Op::adds, value, 0, value, 127);
        code.stop();
        code.add(Op::extr_u, value, 0, value, 7).registers[3] = 64 - 7;
        code.stop();
        code.add(Op::add, target, value, target);
        code.stop();
        code.store(address, target);
        break;
      }
    }
    code.stop();
    return result;
  }

  /// f6 is at the lowest address, the registers are above it.
  unsigned save_frame(size_t registers, bool) const override {
    return static_cast<unsigned>(kSpilled * static_cast<int64_t>(registers + 1));
  }

  /// The first register, once its value is in f6, holds the spill address.
  std::vector<Instruction> save(std::span<const Register> registers, bool) const override {
    ProbeCode result;
    Code code(result);
    const Register address = registers[0];
    code.stop();
    code.add(Op::adds, kSp, 0, kSp, -int64_t{save_frame(registers.size(), false)});
    code.stop();
    code.add(Op::stf_spill, 0, kSaver, kSp);
    for (const Register r : registers) {
      code.stop();
      code.add(Op::setf_sig, kSaver, r, 0);
      code.stop();
      if (r == address) {
        code.add(Op::adds, address, 0, kSp, kSpilled);
        code.stop();
      }
      code.add(Op::stf_spill_imm, 0, kSaver, address, kSpilled);
    }
    code.stop();
    return std::move(result.code);
  }

  std::vector<Instruction> restore(std::span<const Register> registers, bool) const override {
    ProbeCode result;
    Code code(result);
    const Register address = registers[0];
    code.add(Op::adds, address, 0, kSp, kSpilled * static_cast<int64_t>(registers.size()));
    for (size_t i = registers.size(); i-- > 0;) {
      code.stop();
      code.add(Op::ldf_fill_imm, kSaver, 0, address, -kSpilled);
      code.stop();
      code.add(Op::getf_sig, registers[i], kSaver, 0);
    }
    code.add(Op::ldf_fill, kSaver, 0, kSp);
    code.stop();
    code.add(Op::adds, kSp, 0, kSp, save_frame(registers.size(), false));
    code.stop();
    return std::move(result.code);
  }

 private:
  /// Puts the counter's address into `address`; without gp it also changes the second free
  /// register.
  static void reach(const ProbeOperands& operands, Register address, ProbeCode& result) {
    Code code(result);
    if (operands.gp) {
      const auto offset = static_cast<int64_t>(operands.counter - *operands.gp);
      if (fits_signed(offset, 22)) {
        code.add(Op::addl, address, 0, kGp, offset);
      } else {
        code.add_long(address, offset);
        code.stop();
        code.add(Op::add, address, address, kGp);
      }
    } else {
      const Register scratch = operands.free[1];
      code.add(Op::mov_ip, scratch, 0, 0);
      code.stop();
      code.add_long(address, 0);
      for (Instruction& half : std::span(result.code).last(2)) {
        half.immediate = static_cast<int32_t>(result.references.size());
        half.flags |= Instruction::kHasReference;
        result.references.push_back(
            {ReferenceKind::pc_low,
             {.where = CodeLocation::Where::address, .address = operands.counter}});
      }
      code.stop();
      code.add(Op::add, address, scratch, address);
    }
    code.stop();
  }
};

}  // namespace

const Probes& ia64_probes() {
  static const Ia64Probes probes;
  return probes;
}

}  // namespace respike

// Probes for x86-64.
//
// One instruction adds one to a counter at a distance from rip: inc, or lock inc where counts have
// to be exact with threads. It changes flags, which are dead nearly everywhere. Where they are
// live, mov, lea and mov count without flags, through a register; a locked instruction always
// changes flags, so lahf and seto keep them in rax meanwhile. (pushf and popf would take longer;
// xadd and cmpxchg also change flags.)
//
// A probe that records a target computes the target as the jump does. With the target in a
// register, it subtracts the old target in the word, adds the difference to the word, and counts a
// change by the carry of the negated difference.
//
// Example, `call *8(%rax)` with r11 free:
//   mov 8(%rax),%r11; sub word(%rip),%r11; add %r11,word(%rip); neg %r11; adc $0,word+8(%rip).
//
// Where each thread has its own copy of the counters, the base of gs holds the distance from the
// counters to the copy: `inc %gs:counter(%rip)`. The base is 0 at first, and stays 0 in the first
// thread; Linux itself, the C library and compilers leave gs to the program.
//
// Procedures may use the red zone, the 128 bytes below the stack pointer, which signal handlers do
// not touch (System V ABI, AMD64 supplement, 3.2.2). So registers are saved in the next 128 bytes,
// which are the red zone while the stack pointer is lower. Before a call, which overwrites the
// bytes below the stack pointer, a push is enough.

#include "optimizer/machine/x86_64/probes.h"

#include <cassert>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/x86_64/added.h"
#include "optimizer/machine/x86_64/instruction.h"
#include "optimizer/machine/x86_64/probe_reader.h"

namespace respike {

using namespace x86_64;

namespace {

/// rcx rdx rsi rdi rax rbx rbp r8 r9 r10 r11 r13 r14 r15: registers with the shortest push come
/// first. r12 would need a longer lea.
constexpr Register kUsable[] = {2, 1, 4, 5, 0, 3, 6, 8, 9, 10, 11, 13, 14, 15};
constexpr Register kRaxOnly[] = {register_of(kRax)};

constexpr int32_t kRedZone = 128;  // bytes

class X8664Probes final : public Probes {
 public:
  bool may_start(const Instruction& instruction) const override {
    return may_start_probe(instruction);
  }
  std::optional<FoundProbe> read(ProbeText& text, const ProbeSurroundings&) const override {
    return read_probe(text);
  }

  unsigned registers(ProbeKind kind, bool, bool keep_flags) const override {
    return kind == ProbeKind::record_target || keep_flags ? 1 : 0;
  }
  std::span<const Register> usable(ProbeKind kind, bool keep_flags) const override {
    if (!keep_flags || kind == ProbeKind::count) return kUsable;
    if (kind == ProbeKind::count_atomic) return kRaxOnly;
    return {};
  }
  uint64_t page_size() const override { return 4096; }
  bool has_copies() const override { return true; }
  bool uses_copy(std::span<const uint8_t> bytes) const override {
    const Decoded d = decode_unit(bytes);
    if (!d.valid()) return false;
    if (d.segment == Segment::gs) return true;
    if (form_of(d).space != Space::legacy) return false;
    // pop %gs; mov to gs, lgs, rdgsbase and wrgsbase. Opcodes of one byte with these numbers have
    // no ModRM, or an immediate.
    if (d.modrm_at == 0) return d.opcode == 0xa9 && d.immediate_size == 0;
    constexpr unsigned kGs = 5;
    return (d.opcode == 0x8e && d.reg() == kGs) || d.opcode == 0xb5 ||
           (d.opcode == 0xae && !d.has_memory() && (d.reg() & 5) == 1);
  }

  std::optional<Register> jump_register(const Instruction&) const override { return std::nullopt; }

  bool can_record(const IndirectJump& jump) const override {
    const Decoded d = decode_unit(jump.bytes);
    // 0xff /2 and /4: not far, and not relative to a segment.
    return d.valid() && d.length == jump.bytes.size() && d.opcode == 0xff &&
           (d.reg() == 2 || d.reg() == 4) && d.segment == Segment::none &&
           (d.prefixes & Decoded::kAddressSize) == 0 && !jump.instruction->has_reference();
  }

  ProbeCode probe(ProbeKind kind, const ProbeOperands& operands) const override {
    assert(operands.free.size() >= registers(kind, false, operands.keep_flags));
    ProbeCode result;
    auto& code = result.code;
    const auto refer = [&](uint64_t address) {
      result.references.push_back({ReferenceKind::pc_relative32,
                                   {.where = CodeLocation::Where::address, .address = address}});
      return static_cast<uint32_t>(result.references.size() - 1);
    };
    const auto word = [&](Added what, uint8_t r = 0, uint64_t offset = 0) {
      code.push_back(make_added(what, r, refer(operands.counter + offset), operands.own_copy));
    };
    switch (kind) {
      case ProbeKind::count:
        if (!operands.keep_flags) {
          word(Added::increment);
        } else {
          const uint8_t r = encoded_of(operands.free[0]);
          word(Added::load, r);
          code.push_back(make_added(Added::load_address, r, {.base = r, .number = 1}));
          word(Added::store, r);
        }
        break;
      case ProbeKind::count_atomic:
        assert(!operands.keep_flags || operands.free[0] == register_of(kRax));
        if (operands.keep_flags) {
          code.push_back(make_added(Added::flags_to_ah));
          code.push_back(make_added(Added::overflow_to_al));
        }
        word(Added::increment_locked);
        if (operands.keep_flags) {
          code.push_back(make_added(Added::overflow_from_al));
          code.push_back(make_added(Added::flags_from_ah));
        }
        break;
      case ProbeKind::record_target: {
        const uint8_t r = encoded_of(operands.free[0]);
        code.push_back(make_added(Added::load, r, target_of(operands.jump, operands.lowered)));
        word(Added::subtract, r);
        word(Added::add_to_memory, r);
        code.push_back(make_added(Added::negate, 0, {.memory = false, .base = r}));
        word(Added::add_carry, 0, 8);
        break;
      }
      case ProbeKind::find_copy:
        code.push_back(call());
        code.back().flags |= Instruction::kHasReference;
        code.back().immediate = static_cast<int32_t>(result.references.size());
        result.references.push_back(
            {ReferenceKind::branch,
             {.where = CodeLocation::Where::address, .address = operands.counter}});
        break;
    }
    return result;
  }

  unsigned save_frame(size_t registers, bool before_call) const override {
    return by_push(registers, before_call) ? 8 : kRedZone;
  }
  std::vector<Instruction> save(std::span<const Register> registers,
                                bool before_call) const override {
    if (by_push(registers.size(), before_call))
      return {make_added(Added::push, encoded_of(registers[0]))};
    std::vector<Instruction> code = {move_stack(-kRedZone)};
    for (size_t i = 0; i < registers.size(); ++i)
      code.push_back(make_added(Added::store, encoded_of(registers[i]), saved(i)));
    return code;
  }
  std::vector<Instruction> restore(std::span<const Register> registers,
                                   bool before_call) const override {
    if (by_push(registers.size(), before_call))
      return {make_added(Added::pop, encoded_of(registers[0]))};
    std::vector<Instruction> code;
    for (size_t i = 0; i < registers.size(); ++i)
      code.push_back(make_added(Added::load, encoded_of(registers[i]), saved(i)));
    code.push_back(move_stack(kRedZone));
    return code;
  }

 private:
  static bool by_push(size_t registers, bool before_call) { return before_call && registers == 1; }
  /// In the red zone below the lowered stack pointer.
  static Place saved(size_t i) {
    return {.base = kRsp, .number = -8 * static_cast<int32_t>(i + 1)};
  }
  /// Keeps flags.
  static Instruction move_stack(int32_t by) {
    return make_added(Added::load_address, kRsp, {.base = kRsp, .number = by});
  }

  /// The operand that holds the target of a jump or call.
  static Place target_of(const IndirectJump& jump, unsigned lowered) {
    const Decoded d = decode_unit(jump.bytes);
    const auto rm = static_cast<uint8_t>(d.rm() | d.b);
    if (!d.has_memory()) return {.memory = false, .base = rm};
    if (d.is_rip_relative()) return {.base = kRip, .number = jump.instruction->immediate};
    const Effects effects = effects_of(d, jump.bytes.data());
    for (const MemoryOperand& memory : effects.memory_list()) {
      if (memory.stack) continue;
      int64_t number = memory.displacement;
      if (memory.base == kRsp) number += lowered;
      return {.base = memory.base,
              .index = memory.index,
              .scale = memory.scale,
              .number = static_cast<int32_t>(number)};
    }
    assert(false);
    return {};
  }
};

}  // namespace

const Probes& x86_64_probes() {
  static const X8664Probes probes;
  return probes;
}

}  // namespace respike

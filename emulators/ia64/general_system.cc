// Application and branch registers, predicates as a whole, the register stack, and the system
// registers that user mode can reach.
//
// Sources: SDM 1, section 3.1; SDM 3, mov ar and others. ar.itc is the host's time-stamp counter.

#include <x86intrin.h>

#include <csignal>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

[[noreturn]] void illegal(Cpu& cpu, int code = ILL_ILLOPC) {
  raise_fault(cpu, {SIGILL, code, 0});
}
[[noreturn]] void nat_consumption(Cpu& cpu) {
  raise_fault(cpu, {SIGILL, ILL_ILLOPN, 0});
}

enum ApplicationRegister : unsigned {
  kRsc = 16,
  kBsp = 17,
  kBspstore = 18,
  kRnat = 19,
  kFcr = 21,
  kEflag = 24,
  kCsd = 25,
  kSsd = 26,
  kCflg = 27,
  kFsr = 28,
  kFir = 29,
  kFdr = 30,
  kCcv = 32,
  kUnat = 36,
  kFpsr = 40,
  kItc = 44,
  kRuc = 45,
  kPfs = 64,
  kLc = 65,
  kEc = 66
};

bool is_ignored(unsigned number) {
  return (number >= 48 && number < 64) || number >= 112;
}

/// Whether a unit reaches a register: some registers belong to M units, others to I units, ignored
/// registers to both (manual, volume 1, table of application registers).
bool on_unit(unsigned number, bool m) {
  if (is_ignored(number)) return true;
  return m == (number < 64);
}

/// The member of Cpu for a register that is only a stored value; null for other registers.
uint64_t Cpu::*place_of(unsigned number) {
  switch (number) {
    case kRsc:
      return &Cpu::rsc;
    case kFcr:
      return &Cpu::fcr;
    case kEflag:
      return &Cpu::eflag;
    case kCsd:
      return &Cpu::csd;
    case kSsd:
      return &Cpu::ssd;
    case kCflg:
      return &Cpu::cflg;
    case kFsr:
      return &Cpu::fsr;
    case kFir:
      return &Cpu::fir;
    case kFdr:
      return &Cpu::fdr;
    case kCcv:
      return &Cpu::ccv;
    case kUnat:
      return &Cpu::unat;
    case kFpsr:
      return &Cpu::fpsr;
    case kPfs:
      return &Cpu::pfs;
    case kLc:
      return &Cpu::lc;
    case kEc:
      return &Cpu::ec;
    default:
      return nullptr;
  }
}

uint64_t read(Cpu& cpu, unsigned number) {
  if (const auto place = place_of(number)) return cpu.*place;
  switch (number) {
    case kBsp:
      return cpu.stack.bsp(cpu);
    case kBspstore:
      if (cpu.rsc & 3) illegal(cpu);
      return cpu.stack.bspstore();
    case kRnat:
      if (cpu.rsc & 3) illegal(cpu);
      return cpu.stack.rnat();
    case kItc:
    case kRuc:
      return cpu.thread->process.options.sandbox_steps != 0 ? 0 : __rdtsc();
    default:
      if (number < 8 || is_ignored(number)) return 0;  // kernel registers are also 0
      illegal(cpu);
  }
}

/// The part of `value` that a register of place_of() keeps.
uint64_t writable(Cpu& cpu, unsigned number, uint64_t value) {
  switch (number) {
    case kRsc:
      if (value & ~kRscValid) illegal(cpu, ILL_ILLOPN);
      return value | kRscPrivilege;
    case kFpsr:
      if (!valid_fpsr(value)) illegal(cpu, ILL_ILLOPN);
      return value;
    case kPfs:
      return writable_pfs(value);
    case kEc:
      return value & 0x3f;
    case kCflg:
      illegal(cpu, ILL_PRVREG);
    default:
      return value;
  }
}

void write(Cpu& cpu, unsigned number, uint64_t value) {
  if (const auto place = place_of(number)) {
    cpu.*place = writable(cpu, number, value);
    return;
  }
  if (is_ignored(number)) return;
  switch (number) {
    case kBspstore:
      if (cpu.rsc & 3) illegal(cpu);
      return cpu.stack.set_bspstore(value);
    case kRnat:
      if (cpu.rsc & 3) illegal(cpu);
      return cpu.stack.set_rnat(value);
    case kItc:
    case kRuc:
      illegal(cpu, ILL_PRVREG);
    default:
      illegal(cpu, number < 8 ? ILL_PRVREG : ILL_ILLOPC);
  }
}

uint64_t source(Cpu& cpu, unsigned number) {
  if (nat_of(cpu, number)) nat_consumption(cpu);
  return general(cpu, number);
}

void result(Cpu& cpu, unsigned number, uint64_t value) {
  general(cpu, number) = value;
  set_nat(cpu, number, false);
}

void allocate(Cpu& cpu, const Slot& s) {
  cpu.stack.make_room(cpu);
  const uint64_t rotation = cpu.cfm & ~uint64_t{0x3ffff};
  const unsigned before = FrameMarker{cpu.cfm}.sof();
  cpu.cfm = FrameMarker::of(s.b, s.c, s.d * 8u).bits | rotation;
  if (cpu.nat_count != 0 && s.b > before) {
    cpu.stack.forget_nats(cpu, cpu.frame + before, cpu.frame + s.b);
  }
  result(cpu, s.a, cpu.pfs);
}

/// cpuid of the second generation of the processor: family 0x1f, no features.
uint64_t processor_id(Cpu& cpu, uint64_t number) {
  switch (number & 0xff) {
    case 0:
      return 0x49656e69756e6547;  // "GenuineI"
    case 1:
      return 0x6c65746e;  // "ntel"
    case 2:
      return 0;
    case 3:
      return 0x000000001f010504;
    case 4:
      return 1;  // brl
    default:
      illegal(cpu, ILL_ILLOPN);
  }
}

void move_application(Cpu& cpu, const Slot& s) {
  const bool m =
      s.op == Op::mov_m_to_ar || s.op == Op::mov_m_to_ar_imm8 || s.op == Op::mov_m_from_ar;
  if (!on_unit(s.c, m)) illegal(cpu);
  switch (s.op) {
    case Op::mov_m_from_ar:
    case Op::mov_i_from_ar:
      return result(cpu, s.a, read(cpu, s.c));
    case Op::mov_m_to_ar:
    case Op::mov_i_to_ar:
      return write(cpu, s.c, source(cpu, s.b));
    default:
      return write(cpu, s.c, static_cast<uint64_t>(s.immediate));
  }
}

/// sum and rum. Big-endian data (PSR.be) is not supported: illegal. PSR.ac is kept without effect,
/// since Linux emulates misaligned accesses regardless of PSR.ac.
void change_user_mask(Cpu& cpu, uint64_t value) {
  constexpr uint64_t kBigEndian = 2;
  if (value & kBigEndian) illegal(cpu, ILL_ILLOPN);
  cpu.user_mask = value & kUserMask;
}

}  // namespace

// mov pr moves all predicates without rotation (SDM 3, mov pr), so physical numbers are right.

uint64_t predicates(const Cpu& cpu) {
  uint64_t result = 0;
  for (unsigned group = 0; group < 8; ++group) {
    uint64_t bytes;
    std::memcpy(&bytes, cpu.pr + group * 8, 8);
    result |= bytes * 0x0102040810204080 >> 56 << group * 8;
  }
  return result;
}

void set_predicates(Cpu& cpu, uint64_t value, uint64_t mask) {
  value = (predicates(cpu) & ~mask) | (value & mask) | 1;
  constexpr uint64_t kEachByte = 0x0101010101010101;
  for (unsigned group = 0; group < 8; ++group) {
    // Byte i gets only bit i; adding 0x7f carries it to the byte's highest bit.
    const uint64_t isolated = (value >> group * 8 & 0xff) * kEachByte & 0x8040201008040201;
    const uint64_t bytes = (isolated + 0x7f * kEachByte) >> 7 & kEachByte;
    std::memcpy(cpu.pr + group * 8, &bytes, 8);
  }
}

void execute_system(Cpu& cpu, const GeneralInstruction& instruction) {
  const Slot& s = instruction.slot;
  switch (s.op) {
    case Op::mov_m_to_ar:
    case Op::mov_i_to_ar:
    case Op::mov_m_to_ar_imm8:
    case Op::mov_i_to_ar_imm8:
    case Op::mov_m_from_ar:
    case Op::mov_i_from_ar:
      return move_application(cpu, s);
    case Op::mov_to_br:
    case Op::mov_to_br_sptk:
    case Op::mov_to_br_dptk:
      cpu.br[s.a] = source(cpu, s.b);
      return;
    case Op::mov_from_br:
      return result(cpu, s.a, cpu.br[s.b]);
    case Op::mov_to_pr:
      return set_predicates(cpu, source(cpu, s.b), static_cast<uint64_t>(s.immediate));
    case Op::mov_to_pr_rot:
      return set_predicates(cpu, static_cast<uint64_t>(s.immediate), ~uint64_t{0xffff});
    case Op::mov_from_pr:
      return result(cpu, s.a, predicates(cpu));
    case Op::mov_ip:
      return result(cpu, s.a, instruction.ip & ~uint64_t{15});
    case Op::alloc:
      return allocate(cpu, s);
    case Op::flushrs:
      return cpu.stack.flush(cpu);
    case Op::loadrs:
      if ((cpu.rsc & 3) || (FrameMarker{cpu.cfm}.sof() != 0 && (cpu.rsc >> 16 & 0x3fff) != 0))
        illegal(cpu);
      return cpu.stack.load(cpu, cpu.rsc >> 16 & 0x3fff);
    case Op::fc:
    case Op::fc_i:
      load_guest<uint8_t>(cpu, source(cpu, s.c));
      cpu.memory->code_changed();
      return;
    case Op::mf:
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      return;
    case Op::sync_i:
    case Op::srlz_d:
    case Op::fwb:
      return;
    case Op::srlz_i:
      return;
    case Op::sum:
      return change_user_mask(cpu, cpu.user_mask | static_cast<uint64_t>(s.immediate));
    case Op::rum:
      return change_user_mask(cpu, cpu.user_mask & ~static_cast<uint64_t>(s.immediate));
    case Op::mov_to_psr_um:
      return change_user_mask(cpu, source(cpu, s.b));
    case Op::mov_from_psr_um:
      return result(cpu, s.a, cpu.user_mask);
    case Op::mov_from_cpuid:
      return result(cpu, s.a, processor_id(cpu, source(cpu, s.c)));
    case Op::mov_from_dahr:
      return result(cpu, s.a, 0);
    case Op::mov_to_dahr:
      return;
    default:
      illegal(cpu, ILL_PRVOPC);
  }
}

}  // namespace respike::emulator::ia64

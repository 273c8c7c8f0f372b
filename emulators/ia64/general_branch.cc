// Branches in full, and the checks that branch to recovery code.
//
// Each function sets cpu.ip to the next instruction to execute, the loop then looks up its block.
// Branches test their predicates here, since loop branches use predicates as operands. Source: SDM
// 3, br, chk; SDM 1, section 4.5.

#include <csignal>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/memory_access.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

bool same_as_loaded(Cpu& cpu, AdvancedLoad& entry, bool clear) {
  const AdvancedLoad before = entry;
  if (clear) entry.size = 0;
  if (before.size == 0 || !cpu.memory->allows(before.address, before.size, PROT_READ)) return false;
  uint64_t low = 0, high = 0;
  const char* host = host_address(cpu, before.address);
  std::memcpy(&low, host, before.size < 8 ? before.size : 8);
  if (before.size > 8) std::memcpy(&high, host + 8, before.size - 8);
  return low == before.low && high == before.high;
}

/// Whether the entry belongs to this frame, not to a register with the same number in another
/// frame.
bool own_entry(const Cpu& cpu, unsigned number) {
  return number < 32 || cpu.alat_general[number].frame == cpu.frame;
}

/// Whether a check branches to its recovery code.
bool check_fails(Cpu& cpu, const Slot& s) {
  switch (s.op) {
    case Op::chk_s_i:
    case Op::chk_s_m:
      return nat_of(cpu, s.b);
    case Op::chk_s_f:
      return is_nat(cpu.fr[s.b]);
    case Op::chk_a_nc:
      return !own_entry(cpu, s.a) || !same_as_loaded(cpu, cpu.alat_general[s.a], false);
    case Op::chk_a_clr:
      return !own_entry(cpu, s.a) || !same_as_loaded(cpu, cpu.alat_general[s.a], true);
    case Op::chk_a_nc_f:
      return !same_as_loaded(cpu, cpu.alat_floating[s.a], false);
    case Op::chk_a_clr_f:
      return !same_as_loaded(cpu, cpu.alat_floating[s.a], true);
    default:
      return fchkf(cpu.fpsr, s.d & 3);
  }
}

void call(Cpu& cpu, const Slot& s, uint64_t target, uint64_t return_address) {
  const FrameMarker marker{cpu.cfm};
  cpu.br[s.a] = return_address;
  cpu.pfs = make_pfs(cpu.cfm, cpu.ec);
  cpu.cfm = marker.called().bits;
  cpu.frame += marker.sol();
  cpu.ip = target;
}

void return_to(Cpu& cpu, uint64_t target) {
  const FrameMarker marker{cpu.pfs & kPfmMask};
  if (!marker.valid()) raise_fault(cpu, {SIGILL, ILL_ILLOPN, 0});
  cpu.stack.fill(cpu, marker.sol());
  cpu.ec = cpu.pfs >> 52 & 0x3f;
  cpu.cfm = marker.bits;
  cpu.frame -= marker.sol();
  cpu.stack.forget_nats_above(cpu, cpu.frame + marker.sof());
  cpu.ip = target;
}

void rotate(Cpu& cpu) {
  cpu.cfm = FrameMarker{cpu.cfm}.rotate().bits;
}

/// A step of br.ctop or br.cexit; returns whether the loop continues.
bool counted_step(Cpu& cpu, uint8_t& p63) {
  const bool goes_on = cpu.lc != 0 || cpu.ec > 1;
  p63 = cpu.lc != 0;
  if (cpu.lc != 0)
    --cpu.lc;
  else if (cpu.ec != 0)
    --cpu.ec;
  else
    return goes_on;
  rotate(cpu);
  return goes_on;
}

/// A step of br.wtop or br.wexit; returns whether the loop continues.
bool while_step(Cpu& cpu, bool condition, uint8_t& p63) {
  const bool goes_on = condition || cpu.ec > 1;
  p63 = 0;
  if (!condition) {
    if (cpu.ec == 0) return goes_on;
    --cpu.ec;
  }
  rotate(cpu);
  return goes_on;
}

}  // namespace

void execute_branch(Cpu& cpu, const GeneralInstruction& instruction) {
  const Slot& s = instruction.slot;
  const uint64_t bundle = instruction.ip & ~uint64_t{15};
  const uint64_t direct = bundle + static_cast<uint64_t>(s.immediate);
  const bool condition = cpu.pr[s.predicate];
  uint8_t& p63 = cpu.pr[FrameMarker{cpu.cfm}.predicate(63)];
  cpu.ip = instruction.next;
  switch (s.op) {
    case Op::br_cloop:
      if (cpu.lc == 0) return;
      --cpu.lc;
      cpu.ip = direct;
      return;
    case Op::br_ctop:
      if (counted_step(cpu, p63)) cpu.ip = direct;
      return;
    case Op::br_cexit:
      if (!counted_step(cpu, p63)) cpu.ip = direct;
      return;
    case Op::br_wtop:
      if (while_step(cpu, condition, p63)) cpu.ip = direct;
      return;
    case Op::br_wexit:
      if (!while_step(cpu, condition, p63)) cpu.ip = direct;
      return;
    case Op::cover: {
      const unsigned sof = FrameMarker{cpu.cfm}.sof();
      cpu.stack.cover(cpu, sof);
      cpu.cfm = 0;
      return;
    }
    case Op::clrrrb:
      cpu.cfm = FrameMarker{cpu.cfm}.with_bases(0, 0, 0).bits;
      return;
    case Op::clrrrb_pr: {
      const FrameMarker marker{cpu.cfm};
      cpu.cfm = marker.with_bases(marker.rrb_gr(), marker.rrb_fr(), 0).bits;
      return;
    }
    default:
      break;
  }
  if (!condition) return;
  switch (s.op) {
    case Op::br_cond:
    case Op::brl_cond:
      cpu.ip = direct;
      return;
    case Op::br_cond_ind:
      cpu.ip = cpu.br[s.b] & ~uint64_t{15};
      return;
    case Op::br_call:
    case Op::brl_call:
      return call(cpu, s, direct, bundle + 16);
    case Op::br_call_ind:
      return call(cpu, s, cpu.br[s.b] & ~uint64_t{15}, bundle + 16);
    case Op::br_ret:
      return return_to(cpu, cpu.br[s.b] & ~uint64_t{15});
    case Op::br_ia:
      cpu.ip = instruction.ip;
      raise_fault(cpu, {SIGILL, ILL_ILLOPC, 0});
    default:
      if (check_fails(cpu, s)) cpu.ip = direct;
  }
}

}  // namespace respike::emulator::ia64

#pragma once
// The registers of one guest thread, laid out for the handlers of micro-operations.
//
// General registers r0-r31 are `gr`; r32 and up are `frame[0]` and up, where `frame` points into
// the linear image of the register stack (register_stack.h). Handlers get `frame` as an argument;
// other code reads the copy here, which is written wherever the frame moves.
//
// Predicates are bytes: a test of a predicate is one comparison with memory. p0 is always 1; writes
// to p0 go to `pr[64]`. Rotation is resolved when instructions are translated, so `pr`, `fr` and
// `frame` are indexed by physical numbers; code outside blocks maps numbers by CFM's rename bases.

#include <cstdint>

#include "emulators/ia64/floating_register.h"
#include "emulators/ia64/floating_status.h"
#include "emulators/ia64/frame_marker.h"
#include "emulators/ia64/register_stack.h"

namespace respike::emulator::ia64 {

class GuestMemory;
class ThreadFeed;
struct MicroOp;
struct Thread;

/// A fault that ends the current instruction, as the kernel would report it.
struct GuestFault {
  int signal = 0;
  int code = 0;
  uint64_t address = 0;  ///< si_addr: of the data, or of the instruction
  uint64_t isr = 0;
  int immediate = 0;  ///< si_imm: the number of a break
};

/// An entry of the advanced load address table. Hardware compares the addresses of stores with the
/// entry. The emulator instead remembers the loaded bytes and compares them with memory at the
/// check: if they are equal, stores in between do not matter.
struct AdvancedLoad {
  uint64_t address = 0;
  uint64_t low = 0, high = 0;
  uint8_t size = 0;                 ///< 0: no entry
  const uint64_t* frame = nullptr;  ///< of a stacked register: its frame
};

/// An entry of the direct-mapped table of blocks for returns and indirect branches.
struct JumpEntry {
  uint64_t ip = 1, key = 0;
  const MicroOp* op = nullptr;
};
constexpr size_t kJumpEntries = 1 << 12;
constexpr size_t jump_index(uint64_t ip, uint64_t key) {
  return (ip >> 4 ^ ip >> 16 ^ key ^ key >> 7) & (kJumpEntries - 1);
}

/// The bits of ar.rsc that exist: all but `be`, a register stack in big-endian memory. The
/// privilege level is always 3.
constexpr uint64_t kRscValid = 0x3fff000f, kRscPrivilege = 0xc;
/// The bits of the user mask that exist: up, ac, mfl, mfh; not `be`.
constexpr uint64_t kUserMask = 0x3c;

struct Cpu {
  uint64_t gr[32] = {};
  uint8_t pr[72] = {1};
  uint64_t br[8] = {};
  uint64_t bias[8] = {};  ///< GuestMemory::bias of each region
  uint64_t cfm = 0;       ///< the current frame marker
  uint64_t* frame = nullptr;
  const MicroOp* op = nullptr;  ///< the last operation that may fault, or the next to execute
  uint64_t ip = 0;              ///< the next bundle if `op` is null, with the slot in bits 1:0
  MicroOp* link = nullptr;      ///< a branch that waits for the block at `ip`
  JumpEntry* jumps = nullptr;   ///< kJumpEntries
  uint32_t interrupt = 0;       ///< not 0: leave at the next branch
  uint32_t nat_count = 0;       ///< how many registers hold a NaT

  uint64_t lc = 0, ec = 0, pfs = 0, unat = 0, fpsr = kInitialFpsr, ccv = 0, csd = 0, ssd = 0;
  uint64_t rsc = 0xf, fcr = 0, eflag = 0, cflg = 0, fsr = 0, fir = 0, fdr = 0;
  uint64_t user_mask = 0;  ///< within kUserMask
  uint8_t nat[32] = {};

  alignas(16) FloatingRegister fr[128] = {};
  RegisterStack stack;
  AdvancedLoad alat_general[32 + 96] = {};
  AdvancedLoad alat_floating[128] = {};

  GuestMemory* memory = nullptr;
  Thread* thread = nullptr;
  ThreadFeed* feed = nullptr;  ///< of the driven model, if any
};

/// A static register, or a register of the current frame, by physical number.
inline uint64_t& general(Cpu& cpu, unsigned number) {
  return number < 32 ? cpu.gr[number] : cpu.frame[number - 32];
}
inline uint8_t& nat_of(Cpu& cpu, unsigned number) {
  return number < 32 ? cpu.nat[number] : *cpu.stack.nat(cpu.frame + number - 32);
}
inline void set_nat(Cpu& cpu, unsigned number, bool value) {
  uint8_t& nat = nat_of(cpu, number);
  cpu.nat_count += static_cast<uint32_t>(value) - nat;
  nat = value;
}

/// All predicates, in the form that `mov r = pr` reads.
uint64_t predicates(const Cpu& cpu);
void set_predicates(Cpu& cpu, uint64_t value, uint64_t mask);

/// Ends the current instruction without effects and reports a fault to the thread's loop.
/// Destructors do not run: the caller must hold no resources.
[[noreturn]] void raise_fault(Cpu& cpu, const GuestFault& fault);

}  // namespace respike::emulator::ia64

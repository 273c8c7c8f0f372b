// Branches between blocks, and operations that hold blocks together.
//
// A direct branch needs no search: it is linked to its block when it is first executed. Returns and
// indirect branches use a table of 4096 entries. Every taken branch tests whether an event, such as
// a signal, needs the thread's attention.

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/memory_access.h"

namespace respike::emulator::ia64 {

namespace {

inline bool wanted(const Cpu* cpu) {
  return __builtin_expect(__atomic_load_n(&cpu->interrupt, __ATOMIC_RELAXED) != 0, 0);
}

#define RESPIKE_TAKE(target, frame)            \
  do {                                         \
    const MicroOp* const taken = (target);     \
    if (wanted(cpu)) return leave(cpu, taken); \
    RESPIKE_GO(taken, frame);                  \
  } while (0)

/// Leaves the translated code at a branch without target.
const MicroOp* unresolved(const MicroOp* op, Cpu* cpu) {
  cpu->link = const_cast<MicroOp*>(op);
  cpu->ip = static_cast<const Link*>(op->data)->ip;
  return leave(cpu, nullptr);
}

#define RESPIKE_TAKE_INDIRECT(address, frame)                           \
  do {                                                                  \
    const uint64_t to = (address) & ~uint64_t{15};                      \
    const JumpEntry& entry = cpu->jumps[jump_index(to, cpu->cfm)];      \
    if (__builtin_expect(entry.ip == to && entry.key == cpu->cfm, 1)) { \
      RESPIKE_TAKE(entry.op, frame);                                    \
    }                                                                   \
    cpu->ip = to;                                                       \
    return leave(cpu, nullptr);                                         \
  } while (0)

/// The effects of br.call on registers.
inline uint64_t* enter(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->br[op->a] = static_cast<uint64_t>(op[1].immediate);
  cpu->pfs = make_pfs(cpu->cfm, cpu->ec);
  cpu->cfm = op->c;
  return cpu->frame = frame + op->b;
}

}  // namespace

const MicroOp* op_guard(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  if (cpu->pr[op->a]) RESPIKE_NEXT;
  RESPIKE_GO(op + op->size, frame);
}

const MicroOp* op_count(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  ++static_cast<Count*>(const_cast<void*>(op->data))->count;
  RESPIKE_NEXT;
}

const MicroOp* op_model(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->feed->begin(*static_cast<Stretch*>(const_cast<void*>(op->data)));
  RESPIKE_NEXT;
}

const MicroOp* op_jump_unresolved(const MicroOp* op, Cpu* cpu, uint64_t*) {
  return unresolved(op, cpu);
}
const MicroOp* op_jump(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  RESPIKE_TAKE(op->target, frame);
}
const MicroOp* op_continue(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  RESPIKE_GO(op->target, frame);
}

const MicroOp* op_branch_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  if (cpu->pr[op->a]) return unresolved(op, cpu);
  RESPIKE_NEXT;
}
const MicroOp* op_branch(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  if (cpu->pr[op->a]) RESPIKE_TAKE(op->target, frame);
  RESPIKE_NEXT;
}

const MicroOp* op_call_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  enter(op, cpu, frame);
  return unresolved(op, cpu);
}
const MicroOp* op_call(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  frame = enter(op, cpu, frame);
  RESPIKE_TAKE(op->target, frame);
}
const MicroOp* op_call_indirect(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  const uint64_t target = cpu->br[op->d];
  frame = enter(op, cpu, frame);
  RESPIKE_TAKE_INDIRECT(target, frame);
}

const MicroOp* op_branch_indirect(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  RESPIKE_TAKE_INDIRECT(cpu->br[op->d], frame);
}

/// Executes a return whose frame is not in the array, whose block is unknown, or whose ar.pfs is
/// damaged.
[[gnu::noinline]] static const MicroOp* slow_return(const MicroOp* op, Cpu* cpu, uint64_t*) {
  cpu->op = op;
  const FrameMarker marker{cpu->pfs & kPfmMask};
  if (!marker.valid()) raise_fault(*cpu, {SIGILL, ILL_ILLOPN, 0});
  cpu->stack.fill(*cpu, marker.sol());
  cpu->ip = cpu->br[op->d] & ~uint64_t{15};
  cpu->ec = cpu->pfs >> 52 & 0x3f;
  cpu->cfm = marker.bits;
  cpu->frame -= marker.sol();
  return leave(cpu, nullptr);
}

const MicroOp* op_return(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  const uint64_t pfs = cpu->pfs;
  const uint64_t marker = pfs & kPfmMask;
  uint64_t* const caller = frame - (marker >> 7 & 0x7f);
  if (__builtin_expect(caller < cpu->stack.dirty(), 0)) return slow_return(op, cpu, frame);
  // The table has entries only for valid frame markers.
  const uint64_t to = cpu->br[op->d] & ~uint64_t{15};
  const JumpEntry& entry = cpu->jumps[jump_index(to, marker)];
  if (__builtin_expect(entry.ip != to || entry.key != marker, 0))
    return slow_return(op, cpu, frame);
  cpu->ec = pfs >> 52 & 0x3f;
  cpu->cfm = marker;
  cpu->frame = caller;
  RESPIKE_TAKE(entry.op, caller);
}

const MicroOp* op_cloop_unresolved(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  if (cpu->lc == 0) RESPIKE_NEXT;
  --cpu->lc;
  return unresolved(op, cpu);
}
const MicroOp* op_cloop(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  if (cpu->lc == 0) RESPIKE_NEXT;
  --cpu->lc;
  RESPIKE_TAKE(op->target, frame);
}

/// The effects of br.ctop on ar.lc, ar.ec and p63, whose physical number is in a. Returns whether
/// the branch is taken. The caller rotates.
static inline bool step(const MicroOp* op, Cpu* cpu) {
  bool taken = true;
  uint8_t stage = 0;
  if (cpu->lc != 0) {
    --cpu->lc;
    stage = 1;
  } else if (cpu->ec > 1) {
    --cpu->ec;
  } else {
    taken = false;
    if (cpu->ec == 0) {
      cpu->pr[op->a] = 0;
      return false;  // br.ctop does not rotate here
    }
    cpu->ec = 0;
  }
  cpu->pr[op->a] = stage;
  return taken;
}

const MicroOp* op_ctop_unresolved(const MicroOp* op, Cpu* cpu, uint64_t*) {
  if (cpu->lc == 0 && cpu->ec == 0) {  // neither counts nor rotates
    cpu->pr[op->a] = 0;
    cpu->ip = static_cast<const Link*>(op[1].data)->ip;
    return leave(cpu, nullptr);
  }
  const bool taken = step(op, cpu);
  cpu->cfm = FrameMarker{cpu->cfm}.rotate().bits;
  if (taken) return unresolved(op, cpu);
  cpu->ip = static_cast<const Link*>(op[1].data)->ip;
  return leave(cpu, nullptr);
}

/// Only the jump back to the loop's start is direct; the exit is always looked up.
const MicroOp* op_ctop(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  if (cpu->lc == 0 && cpu->ec <= 1) {
    if (cpu->ec != 0) cpu->cfm = FrameMarker{cpu->cfm}.rotate().bits;
    cpu->ec = 0;
    cpu->pr[op->a] = 0;
    cpu->ip = static_cast<const Link*>(op[1].data)->ip;
    return leave(cpu, nullptr);
  }
  step(op, cpu);
  cpu->cfm = FrameMarker{cpu->cfm}.rotate().bits;
  RESPIKE_TAKE(op->target, frame);
}

const MicroOp* op_alloc(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  if (__builtin_expect(frame > cpu->stack.limit(), 0)) {
    cpu->op = op;
    cpu->stack.make_room(*cpu);
    frame = cpu->frame;
  }
  const uint64_t rotation = cpu->cfm & ~uint64_t{0x3ffff};
  cpu->cfm = rotation | op->b | uint64_t{op->c} << 7 | uint64_t{op->d} << 14;
  frame[op->a] = cpu->pfs;
  RESPIKE_NEXT;
}

const MicroOp* op_illegal(const MicroOp* op, Cpu* cpu, uint64_t*) {
  cpu->op = op;
  raise_fault(*cpu, {SIGILL, static_cast<int>(op->immediate), 0});
}

const MicroOp* op_no_code(const MicroOp* op, Cpu* cpu, uint64_t*) {
  cpu->op = op;
  const uint64_t address = static_cast<const GeneralInstruction*>(op->data)->ip & ~uint64_t{15};
  const bool mapped = cpu->memory->find(address).has_value();
  raise_fault(*cpu, {SIGSEGV, mapped ? SEGV_ACCERR : SEGV_MAPERR, address});
}

const MicroOp* op_break(const MicroOp* op, Cpu* cpu, uint64_t*) {
  cpu->op = op;
  const auto& instruction = *static_cast<const GeneralInstruction*>(op->data);
  GuestFault fault;
  fault.signal = -1;  // the loop chooses the signal, by the number
  fault.immediate = static_cast<int>(instruction.slot.immediate);
  raise_fault(*cpu, fault);
}

}  // namespace respike::emulator::ia64

#pragma once
// Micro-operations: the translation of guest instructions, and how one operation leads to the next.
//
// A micro-operation is a handler and its operands, 24 bytes. The last act of a handler is the call
// of the next operation's handler, which the compiler turns into a jump: the whole guest runs in
// one frame of the host's stack, and every handler has its own branch prediction on the host. Where
// the compiler does not make such jumps (no optimization, AddressSanitizer), handlers return the
// next operation to a loop instead.
//
// Registers in operands are physical. In specialised handlers, a general register is a number in
// one of two arrays, static or stacked; a template parameter of the handler says which array.

#include <cstdint>

#include "emulators/ia64/cpu.h"

namespace respike::emulator::ia64 {

/// Returns the next operation; null leaves to the thread's loop.
using Handler = const MicroOp* (*)(const MicroOp* op, Cpu* cpu, uint64_t* frame);

struct MicroOp {
  Handler run = nullptr;
  uint8_t a = 0, b = 0, c = 0, d = 0;
  uint8_t size = 1;  ///< of a guard: number of skipped operations
  uint8_t reserved[3] = {};
  union {
    int64_t immediate = 0;
    const MicroOp* target;
    const void* data;
  };
};
static_assert(sizeof(MicroOp) == 24);

/// The data of a branch until it is first executed. Then the branch leaves to the loop, which makes
/// `resolved` the branch's handler and the block at `ip` its target.
struct Link {
  uint64_t ip = 0;
  Handler resolved = nullptr;
};

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(RESPIKE_FUZZERS)
#define RESPIKE_GO(next, frame)             \
  do {                                      \
    const MicroOp* const go_to = (next);    \
    return go_to->run(go_to, cpu, (frame)); \
  } while (0)
inline void execute(const MicroOp* op, Cpu* cpu) {
  op->run(op, cpu, cpu->frame);
}
#else
#define RESPIKE_GO(next, frame) return (next)
inline void execute(const MicroOp* op, Cpu* cpu) {
  while (op != nullptr) op = op->run(op, cpu, cpu->frame);
}
#endif
#define RESPIKE_NEXT RESPIKE_GO(op + 1, frame)

/// Leaves to the loop, which continues at `next` or, if `next` is null, at cpu->ip.
inline const MicroOp* leave(Cpu* cpu, const MicroOp* next) {
  cpu->op = next;
  return nullptr;
}

template <bool stacked>
inline uint64_t& reg(Cpu* cpu, uint64_t* frame, uint8_t number) {
  if constexpr (stacked)
    return frame[number];
  else
    return cpu->gr[number];
}

/// Number of p0 as a target: written, never read.
constexpr uint8_t kNoPredicate = 64;

}  // namespace respike::emulator::ia64

// Checks unwinding by stops: compares the unwinder's result with the actual calls.
//
// Before the program starts, every instruction of its code becomes a breakpoint, and so does the
// code of a library opened later, before any call of it. When control first reaches an instruction,
// the program stops there, all frames are unwound, and the instruction is restored. Calls and
// returns stay breakpoints: each call is executed here, and records its return address, the stack
// pointer and the registers that callees preserve; each return removes this record. So at each stop
// the true callers and their registers are known:
//
//   stop at f + 8: unwound are pc 0x402010, sp 0x207fff00, r9 ... f9: are they those of the call
//                  at 0x40200c?
//
// A comparison ends at frames of the C library, which calls back into images: there the newest
// record is of a deeper stack. A jump to the C library removes the record of its call, since the
// library's return is not seen. Stacks that longjmp() has cut off are recognized by the stack
// pointer.
//
// The report has lines "KEY NUMBER" and one line for each fault. Stops between a call that returns
// by another register than ra, as calls of division do, and its jump to the library are left out.

#define _GNU_SOURCE
#include "stops.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind.h"

enum { kMostCalls = 1 << 16, kMostFaults = 1 << 16, kMostRanges = 64, kSavedRegisters = 16 };
#define BREAKPOINT 0x00000080u

struct call {
  struct registers registers;  // registers of the caller; pc is the return address
};

static __thread struct call* calls;
static __thread int depth;
static __thread bool odd_link;  // a call that returns by another register than ra

static struct {
  uint64_t begin;
  uint64_t end;  // 0: the place is free
  uint32_t* code;
} ranges[kMostRanges];

static const char* report_path;
static unsigned long stop_count, frame_count, prolog_count, fault_count, deepest;
static char faults[kMostFaults][160];

static uint32_t* code_at(uint64_t address) {
  for (int i = 0; i < kMostRanges; ++i)
    if (address < __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE) && address >= ranges[i].begin)
      return &ranges[i].code[(address - ranges[i].begin) / 4];
  return NULL;
}

static uint32_t original_code(uint64_t address) {
  const uint32_t* code = code_at(address);
  return code != NULL ? *code : *(const uint32_t*)address;
}

static void note_fault(uint64_t stop, int frame, const char* what, uint64_t found,
                       uint64_t expected) {
  if (fault_count < kMostFaults)
    snprintf(faults[fault_count], sizeof faults[0], "%#lx frame %d: %s is %#lx, not %#lx", stop,
             frame, what, found, expected);
  ++fault_count;
}

static void write_report(void) {
  FILE* file = fopen(report_path, "w");
  if (file == NULL) return;
  fprintf(file, "stops %lu\nframes %lu\nprologs %lu\nepilogs %lu\ndeepest %lu\nfaults %lu\n",
          stop_count, frame_count, prolog_count, unwind_epilog_count, deepest, fault_count);
  for (unsigned long i = 0; i < fault_count && i < kMostFaults; ++i)
    fprintf(file, "fault %s\n", faults[i]);
  fclose(file);
}

/// Whether the unwound registers are those that the call recorded.
static bool same(const struct registers* found, const struct registers* expected, uint64_t stop,
                 int frame) {
  static const char* const kNames[] = {"r9", "r10", "r11", "r12", "r13", "r14", "r15", "f2",
                                       "f3", "f4",  "f5",  "f6",  "f7",  "f8",  "f9"};
  if (found->pc != expected->pc)
    return note_fault(stop, frame, "pc", found->pc, expected->pc), false;
  if (found->integer[kStackPointer] != expected->integer[kStackPointer])
    return note_fault(stop, frame, "sp", found->integer[kStackPointer],
                      expected->integer[kStackPointer]),
           false;
  for (int i = kFirstSaved; i <= kFramePointer; ++i)
    if (found->integer[i] != expected->integer[i])
      return note_fault(stop, frame, kNames[i - kFirstSaved], found->integer[i],
                        expected->integer[i]),
             false;
  for (int i = kFirstSavedFloat; i <= kLastSavedFloat; ++i)
    if (found->floating[i] != expected->floating[i])
      return note_fault(stop, frame, kNames[7 + i - kFirstSavedFloat], found->floating[i],
                        expected->floating[i]),
             false;
  return true;
}

static void check(const struct registers* stop) {
  struct registers now = *stop;
  ++stop_count;
  const struct function_entry* entry = unwind_entry_at(stop->pc);
  if (entry != NULL && stop->pc < entry->prolog_end) ++prolog_count;
  int note = depth;
  for (int frame = 0;; ++frame) {
    if (!unwind_frame(&now, frame != 0))
      return note_fault(stop->pc, frame, "an instruction of the prolog", unwind_code_at(now.pc), 0);
    ++frame_count;
    if ((unsigned long)frame > deepest) deepest = frame;
    const struct registers* expected = note == 0 ? NULL : &calls[note - 1].registers;
    if (expected == NULL ||
        expected->integer[kStackPointer] > now.integer[kStackPointer]) {  // called by a library
      Dl_info where;
      if (code_at(now.pc) != NULL || dladdr((void*)now.pc, &where) == 0)
        note_fault(stop->pc, frame, "pc behind the last known caller", now.pc, 0);
      return;
    }
    if (!same(&now, expected, stop->pc, frame)) return;
    --note;
  }
}

static void forget_dead(uint64_t stack_pointer) {
  while (depth != 0 && calls[depth - 1].registers.integer[kStackPointer] < stack_pointer) --depth;
}

static void from_context(struct registers* r, const mcontext_t* context) {
  r->pc = context->sc_pc;
  for (int i = 0; i < 32; ++i) {
    r->integer[i] = i == 31 ? 0 : (uint64_t)context->sc_regs[i];
    r->floating[i] = i == 31 ? 0 : (uint64_t)context->sc_fpregs[i];
  }
}

/// Executes a call, return or jump.
static void jump(struct registers* r, mcontext_t* context, uint32_t word, uint32_t* place) {
  const unsigned a = word >> 21 & 31, b = word >> 16 & 31, kind = word >> 14 & 3;
  const bool direct = word >> 26 == 0x34;
  const uint64_t back = r->pc + 4;
  const uint64_t target =
      direct ? back + (int64_t)(int32_t)(word << 11) / 0x800 * 4 : r->integer[b] & ~(uint64_t)3;
  const bool inside = code_at(target) != NULL;
  if (a != 31) context->sc_regs[a] = (long)back;
  context->sc_pc = (long)target;
  if (direct || kind == 1) {
    if (a != kReturnAddress) {
      odd_link = inside;
    } else if (inside && depth < kMostCalls) {
      calls[depth].registers = *r;
      calls[depth++].registers.pc = back;
    }
    return;
  }
  if (kind == 2) {
    if (depth != 0 && calls[depth - 1].registers.pc == target) --depth;
    return;
  }
  if (inside) {
    *place = word;
    return;
  }
  if (!odd_link && depth != 0 && calls[depth - 1].registers.pc == r->integer[kReturnAddress])
    --depth;
  odd_link = false;
}

static void on_breakpoint(int signal, siginfo_t* info, void* user) {
  (void)signal;
  (void)info;
  mcontext_t* context = &((ucontext_t*)user)->uc_mcontext;
  const uint64_t pc = (uint64_t)context->sc_pc - 4;  // the breakpoint has run
  const uint32_t* code = code_at(pc);
  if (code == NULL) abort();
  context->sc_pc = (long)pc;
  if (calls == NULL) {
    calls = mmap(NULL, kMostCalls * sizeof *calls, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (calls == MAP_FAILED) abort();
  }
  struct registers registers;
  from_context(&registers, context);
  forget_dead(registers.integer[kStackPointer]);
  uint32_t* place = (uint32_t*)pc;
  const uint32_t word = *code;
  const bool jumps = word >> 26 == 0x34 || word >> 26 == 0x1a;
  static uint64_t seen[1 << 16];  // bits, by address: jumps whose first stop is over
  const uint64_t bit = pc / 4 % (64 << 16);
  const bool fresh = !jumps || (seen[bit / 64] >> bit % 64 & 1) == 0;
  seen[bit / 64] |= (uint64_t)1 << bit % 64;
  if (fresh && !odd_link) check(&registers);
  if (jumps)
    jump(&registers, context, word, place);
  else
    *place = word;
}

void stops_unwound(uint64_t stack_pointer) {
  forget_dead(stack_pointer + 1);
  odd_link = false;
}

static void set_breakpoints(int range) {
  for (uint64_t at = ranges[range].begin; at < ranges[range].end; at += 4)
    *(uint32_t*)at = BREAKPOINT;
}

void stops_add_code(uint64_t begin, uint64_t end) {
  int range = 0;
  while (range != kMostRanges && ranges[range].end != 0) ++range;
  if (range == kMostRanges || begin >= end) return;
  uint32_t* code = malloc(end - begin);
  if (code == NULL) return;
  memcpy(code, (void*)begin, end - begin);
  ranges[range].begin = begin;
  ranges[range].code = code;
  __atomic_store_n(&ranges[range].end, end, __ATOMIC_RELEASE);
  if (report_path != NULL) set_breakpoints(range);
}

void stops_remove_code(uint64_t begin, uint64_t end) {
  for (int i = 0; i < kMostRanges; ++i) {
    if (ranges[i].end == 0 || ranges[i].begin < begin || ranges[i].end > end) continue;
    __atomic_store_n(&ranges[i].end, 0, __ATOMIC_RELEASE);
    free(ranges[i].code);
  }
}

void stops_begin(const char* report) {
  report_path = report;
  unwind_code_at = original_code;
  struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGTRAP, &action, NULL);
  atexit(write_report);
  for (int i = 0; i < kMostRanges; ++i)
    if (ranges[i].end != 0) set_breakpoints(i);
}

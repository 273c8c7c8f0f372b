// Structured exceptions: finds the handler of a fault or of a call of RaiseException().
//
// A search goes up the frames and asks the handler of each procedure that has one. The usual
// handler reads the procedure's scope table: records {begin, end, handler, jump target} of
// addresses. A record with a jump target belongs to __try with __except: its handler is the filter,
// which decides whether execution continues there. A record without a jump target belongs to __try
// with __finally: its handler runs when the frame is removed. Once a filter accepts, a second walk
// runs the __finally handlers, and the program continues at the jump target with the registers of
// that frame.
//
// Example: f calls g in __try, g writes to address 0. g has no handler; f's filter returns 1; f
// continues at its __except with the registers 9 to 15 that g had saved.
//
// Sources: the PE/COFF specification for the function table; Windows NT's documented interface of
// RaiseException and of filters. The layout of scope tables is known from the same compilers for
// other machines; none of their programs for Alpha was available. Filters and __finally handlers
// get the stack pointer of the frame as second argument.
//
// Limits: addresses have 32 bits in records. Frames of the C library end a search. No
// floating-point exceptions.

#define _GNU_SOURCE
#include "exceptions.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "stops.h"
#include "unwind.h"

enum { kContinueExecution = 0, kContinueSearch = 1 };
enum { kUnwinding = 2, kTargetUnwind = 0x20, kMostParameters = 15 };
#define ACCESS_VIOLATION 0xc0000005u
#define ILLEGAL_INSTRUCTION 0xc000001du

struct exception_record {
  uint32_t code;
  uint32_t flags;
  uint32_t next;
  uint32_t address;
  uint32_t count;
  uint32_t parameters[kMostParameters];
};

struct exception_pointers {
  uint32_t record;
  uint32_t context;
};

struct dispatcher {
  uint64_t pc;
  uint64_t frame;
  const struct function_entry* entry;
  const struct registers* first;  // registers where the exception was raised
  bool first_is_call;
  uint32_t target;  // for an unwinding: where the frame continues
};

struct scope {
  uint32_t begin;
  uint32_t end;
  uint32_t handler;
  uint32_t jump_target;
};

typedef unsigned (*exception_handler)(void*, unsigned long, void*, void*);
typedef int (*filter)(struct exception_pointers*, unsigned long);
typedef void (*finally)(int, unsigned long);

static void* in_image(uint32_t address) {
  return (void*)(uintptr_t)address;
}

void resume_at(const struct registers* registers);  // registers.S

/// Walks the frames from the place where the exception was raised; returns false when no handler
/// accepts it. With a target, ends by continuing in the frame `frame`.
static bool walk(struct exception_record* record, const struct registers* first, bool first_is_call,
                 uint64_t frame, uint32_t target) {
  struct registers r = *first;
  bool is_call = first_is_call;
  for (;; is_call = true) {
    const uint64_t place = is_call ? r.pc - 4 : r.pc;
    uint64_t size;
    if (unwind_image_at(place, &size) == NULL) return false;
    const struct function_entry* entry = unwind_entry_at(place);
    const uint64_t stack = r.integer[kStackPointer];
    if (entry != NULL && entry->handler != 0 && place >= entry->prolog_end) {
      struct dispatcher dispatcher = {place, stack, entry, first, first_is_call, target};
      record->flags &= ~kTargetUnwind;
      if (target != 0 && stack == frame) record->flags |= kTargetUnwind;
      const exception_handler handler = (exception_handler)in_image(entry->handler);
      if (handler(record, stack, (void*)first, &dispatcher) == kContinueExecution && target == 0)
        return true;
    }
    if (target != 0 && stack == frame) {
      r.pc = target;
      r.integer[0] = record->code;
      stops_unwound(stack);
      resume_at(&r);
    }
    if (!unwind_frame(&r, is_call)) return false;
  }
}

static void unwind_to(struct exception_record* record, const struct dispatcher* from,
                      uint32_t target) {
  record->flags |= kUnwinding;
  walk(record, from->first, from->first_is_call, from->frame, target);
  fprintf(stderr, "respike-nt: the frame of a handler was not found again\n");
  exit(125);
}

static bool is_in(uint64_t address, const struct scope* scope) {
  return address >= scope->begin && address < scope->end;
}

unsigned c_specific_handler(void* record_, unsigned long frame, void* context, void* dispatcher_) {
  struct exception_record* record = record_;
  const struct dispatcher* dispatcher = dispatcher_;
  const uint32_t* table = in_image(dispatcher->entry->handler_data);
  const struct scope* scopes = (const struct scope*)(table + 1);
  struct exception_pointers pointers = {(uint32_t)(uintptr_t)record, (uint32_t)(uintptr_t)context};
  for (uint32_t i = 0; table != NULL && i < table[0]; ++i) {
    const struct scope* scope = &scopes[i];
    if (!is_in(dispatcher->pc, scope)) continue;
    if ((record->flags & kUnwinding) != 0) {
      // The handler itself is in the scopes around the one that continues.
      if ((record->flags & kTargetUnwind) != 0 &&
          (is_in(dispatcher->target, scope) || scope->jump_target == dispatcher->target))
        return kContinueSearch;
      if (scope->jump_target == 0) ((finally)in_image(scope->handler))(1, frame);
      continue;
    }
    if (scope->jump_target == 0) continue;
    const int wanted =
        scope->handler == 1 ? 1 : ((filter)in_image(scope->handler))(&pointers, frame);
    if (wanted < 0) return kContinueExecution;
    if (wanted > 0) unwind_to(record, dispatcher, scope->jump_target);
  }
  return kContinueSearch;
}

/// An unhandled exception ends the process with its code, as on Windows NT.
static void dispatch(struct exception_record* record, const struct registers* registers,
                     bool is_call) {
  if (walk(record, registers, is_call, 0, 0)) return;
  fflush(NULL);
  fprintf(stderr, "respike-nt: unhandled exception %#x at %#x\n", record->code, record->address);
  exit((int)(record->code & 0xff));
}

void raise_here(uint64_t code, uint64_t flags, uint64_t count, const uint64_t* parameters,
                struct registers* registers) {
  struct exception_record record = {
      .code = (uint32_t)code, .flags = (uint32_t)flags & 1, .address = (uint32_t)registers->pc};
  for (uint64_t i = 0; i < count && i < kMostParameters && parameters != NULL; ++i)
    record.parameters[record.count++] = (uint32_t)parameters[i];
  dispatch(&record, registers, true);
}

static void on_fault(int number, siginfo_t* info, void* user) {
  const mcontext_t* context = &((ucontext_t*)user)->uc_mcontext;
  struct registers registers = {.pc = (uint64_t)context->sc_pc};
  for (int i = 0; i < 31; ++i) {
    registers.integer[i] = (uint64_t)context->sc_regs[i];
    registers.floating[i] = (uint64_t)context->sc_fpregs[i];
  }
  uint64_t size;
  if (unwind_image_at(registers.pc, &size) == NULL) {  // in the C library
    signal(number, SIG_DFL);
    return;
  }
  struct exception_record record = {
      .code = number == SIGILL ? ILLEGAL_INSTRUCTION : ACCESS_VIOLATION,
      .address = (uint32_t)registers.pc,
      .count = 2,
      .parameters = {0, (uint32_t)(uintptr_t)info->si_addr}};
  dispatch(&record, &registers, false);
}

void exceptions_begin(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGILL, &action, NULL);
}

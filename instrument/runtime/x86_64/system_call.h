#pragma once
/* System calls of Linux on x86-64: the number in rax, arguments in rdi, rsi, rdx, r10, r8 and r9.
   rax becomes the result, or an error number negated; the kernel changes rcx and r11 and keeps all
   other registers (System V ABI, AMD64 supplement, A.2.1). */

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <stdint.h>

static inline __attribute__((always_inline)) long system_call(long number, long first, long second,
                                                              long third, long fourth, long fifth,
                                                              long sixth) {
  register long r10 __asm__("r10") = fourth;
  register long r8 __asm__("r8") = fifth;
  register long r9 __asm__("r9") = sixth;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return number;
}

/* Threads may have copies of the counters: counting code is relative to the base of gs, which is 0
   in a new process, is inherited by threads, and belongs to the program (arch_prctl(2)). */
#define RESPIKE_HAS_COPIES

/* The address of the thread's control block, which starts with its own address (System V ABI, AMD64
   supplement; ELF Handling For Thread-Local Storage, 3.4.6). */
static inline __attribute__((always_inline)) uint64_t thread_pointer(void) {
  uint64_t thread;
  __asm__("movq %%fs:0,%0" : "=r"(thread));
  return thread;
}

/* Lets the thread count at `distance` from the counters. */
static inline __attribute__((always_inline)) void use_copy(uint64_t distance) {
  system_call(__NR_arch_prctl, ARCH_SET_GS, distance, 0, 0, 0, 0);
}

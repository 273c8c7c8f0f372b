#pragma once
/* System calls of Linux on x86-64: the number in rax, arguments in rdi, rsi, rdx, r10, r8 and r9.
   rax becomes the result, or an error number negated; the kernel changes rcx and r11 and keeps all
   other registers (System V ABI, AMD64 supplement, A.2.1). */

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

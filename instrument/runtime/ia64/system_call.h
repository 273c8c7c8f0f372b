#pragma once
/* System calls of Linux on IA-64: the number in r15, arguments in the output registers. On return
   r10 is 0 and r8 the result, or r10 is -1 and r8 is the error number. The kernel may change
   what a call may change (linux: arch/ia64/kernel/entry.S, glibc: sysdeps/unix/sysv/linux/ia64). */

/* The result, or an error number negated: the convention of most other machines. */
static inline __attribute__((always_inline)) long system_call(long number, long first, long second,
                                                              long third, long fourth, long fifth,
                                                              long sixth) {
  register long r15 __asm__("r15") = number;
  register long out0 __asm__("out0") = first;
  register long out1 __asm__("out1") = second;
  register long out2 __asm__("out2") = third;
  register long out3 __asm__("out3") = fourth;
  register long out4 __asm__("out4") = fifth;
  register long out5 __asm__("out5") = sixth;
  register long r8 __asm__("r8");
  register long r10 __asm__("r10");
  __asm__ volatile("break 0x100000;;"
                   : "=r"(r8), "=r"(r10), "+r"(r15), "+r"(out0), "+r"(out1), "+r"(out2), "+r"(out3),
                     "+r"(out4), "+r"(out5)
                   :
                   : "out6", "out7", "r2", "r3", "r9", "r11", "r14", "r16", "r17", "r18", "r19",
                     "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30",
                     "r31", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "f6",
                     "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", "b6", "b7",
                     "memory");
  return r10 == -1 ? -r8 : r8;
}

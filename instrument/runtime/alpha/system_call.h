#pragma once
/* System calls of Linux on Alpha: the number in v0, arguments in a0 to a5. On return a3 is 0 and v0
   the result, or a3 is not 0 and v0 is the error number. The kernel keeps all other registers, but
   its interface promises no more than glibc's sysdeps/unix/sysv/linux/alpha/syscall.S relies on. */

/* The result, or an error number negated: the convention of most other machines. */
static inline __attribute__((always_inline)) long system_call(long number, long first, long second,
                                                              long third, long fourth, long fifth,
                                                              long sixth) {
  register long v0 __asm__("$0") = number;
  register long a0 __asm__("$16") = first;
  register long a1 __asm__("$17") = second;
  register long a2 __asm__("$18") = third;
  register long a3 __asm__("$19") = fourth;
  register long a4 __asm__("$20") = fifth;
  register long a5 __asm__("$21") = sixth;
  __asm__ volatile("callsys"
                   : "+r"(v0), "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5)
                   :
                   : "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$22", "$23", "$24", "$25",
                     "$27", "$28", "memory");
  return a3 != 0 ? -v0 : v0;
}

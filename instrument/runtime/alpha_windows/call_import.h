#pragma once
/* Calls of imported functions by the calling standard of Windows NT for Alpha: six arguments in a0
   to a5, the seventh on the stack, the result in v0. The call itself is in the entry's file, so
   that the frame of the calling code stays as its prolog made it. */

/* `function` is the address in the slot of an import. The seventh argument is 0. */
static inline __attribute__((always_inline)) long call_import(long function, long first,
                                                              long second, long third, long fourth,
                                                              long fifth, long sixth) {
  register long v0 __asm__("$0");
  register long a0 __asm__("$16") = first;
  register long a1 __asm__("$17") = second;
  register long a2 __asm__("$18") = third;
  register long a3 __asm__("$19") = fourth;
  register long a4 __asm__("$20") = fifth;
  register long a5 __asm__("$21") = sixth;
  register long t12 __asm__("$27") = function;
  __asm__ volatile("bsr $26,respike_call_import"
                   : "=r"(v0), "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(t12)
                   :
                   : "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$22", "$23", "$24", "$25",
                     "$26", "$28", "memory");
  return v0;
}

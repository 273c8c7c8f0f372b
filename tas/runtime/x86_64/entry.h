#pragma once
/* Where a program without libraries begins on x86-64: the arguments are on the stack, and the stack
   of a C function is aligned to 16 bytes (System V ABI, AMD64 supplement, 3.2.2 and 3.4.1). */

#define RESPIKE_ENTRY(function)     \
  __asm__(                          \
      ".globl _start\n"             \
      "_start:\n"                   \
      "  xorl %ebp, %ebp\n"         \
      "  movq %rsp, %rdi\n"         \
      "  andq $-16, %rsp\n"         \
      "  call " #function "\n"      \
      "  hlt\n");

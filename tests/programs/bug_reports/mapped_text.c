/* Maps the text anew, with the same contents, by code in a section of its own, as Node.js does to have the text on large
   pages: that code must not be a part of the text. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

__asm__(".section .lpstub,\"ax\",@progbits\n.p2align 12\n.text\n");

static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = -1;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
}

__attribute__((section(".lpstub"), noinline)) static int map_again(char* text, const char* copy, long size) {
  const long at = call(SYS_mmap, (long)text, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
  if (at != (long)text) return 1;
  for (long i = 0; i < size; i++) ((volatile char*)text)[i] = copy[i];
  return (int)call(SYS_mprotect, (long)text, size, PROT_READ | PROT_EXEC, 0);
}

__attribute__((noinline)) int work(int x) {
  if (x % 3 == 0) return x * 7;
  if (x % 3 == 1) return x - 4;
  return x;
}

int main(int count, char** words) {
  char* text = (char*)((uintptr_t)work & -4096);
  const long size = 4096;
  if ((uintptr_t)map_again >> 12 == (uintptr_t)work >> 12) puts("one page");
  char* copy = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(copy, text, size);
  if (map_again(text, copy, size) != 0) return 1;
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += work(i);
  printf("%d\n", sum);
  return words == 0 || count < 0;
}

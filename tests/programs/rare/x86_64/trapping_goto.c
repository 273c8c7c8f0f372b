/* A switch and a computed goto in one loop, whose cases trap, fault or call the kernel: int3, cli, out, in, syscall. None
   of these changes the register that holds the table of the switch all the time.
   rewritten: run */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

static volatile int traps, faults;

static void count_trap(int number) {
  (void)number;
  traps++;
}

/* Skips an instruction of one byte. */
static void skip(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP]++;
  faults++;
}

static inline int process(void) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(39 /* getpid */) : "rcx", "r11", "memory");
  return result > 0;
}

__attribute__((noinline)) static long run(const unsigned char* code, int n) {
  static void* const labels[] = {&&trap, &&clear, &&twice, &&write, &&call};
  long sum = 0;
  int i = 0;
next:
  if (i >= n) return sum;
  switch (code[i] & 7) {
    case 0: sum += 1; __asm__ volatile("int3" ::: "memory"); break;
    case 1: sum += 3; __asm__ volatile("cli" ::: "memory"); break;
    case 2: sum += process(); break;
    case 3: sum ^= 9; __asm__ volatile("outb %%al,%%dx" ::: "memory"); break;
    case 4: sum *= 3; __asm__ volatile("inb %%dx,%%al" ::: "rax", "memory"); break;
    case 5: sum -= 2; break;
    default: sum += 7; break;
  }
  goto* labels[code[i++] % 5];
trap: sum += 1; __asm__ volatile("int3" ::: "memory"); goto next;
clear: sum += 2; __asm__ volatile("sti" ::: "memory"); goto next;
twice: sum *= 2; goto next;
write: sum += 5; __asm__ volatile("outb %%al,%%dx" ::: "memory"); goto next;
call: sum ^= 3; sum += process(); goto next;
}

int tested(int x) {
  struct sigaction action = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
  signal(SIGTRAP, count_trap);
  unsigned char code[500];
  unsigned state = 1 + x;
  for (int i = 0; i < 500; i++) code[i] = (state = state * 1103515245 + 12345) >> 16;
  const long sum = run(code, 500);
  return (int)(sum ^ sum >> 32) + traps * 1000 + faults;
}

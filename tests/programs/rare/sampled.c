/* build: -O2 STATIC
   build: -O2
   A signal handler walks the stack from wherever the program is: every instruction, those put in for
   counting included, must be described by unwind tables. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unwind.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long seen, lost;
static volatile unsigned long frame_of_work;  /* 0: it does not run */

static _Unwind_Reason_Code visit(struct _Unwind_Context* context, void* found) {
  if (_Unwind_GetCFA(context) == frame_of_work) *(int*)found = 1;
  return _URC_NO_REASON;
}

static void sample(int number) {
  int found = 0;
  (void)number;
  if (!frame_of_work) return;
  _Unwind_Backtrace(visit, &found);
  if (found)
    ++seen;
  else
    ++lost;
}

NOINLINE int leaf(int n) {
  switch (n & 7) {
    case 0: return n + 1;
    case 1: return n & 16 ? n * 3 : n + 7;
    case 2: return n ^ 5;
    case 3: return n & 32 ? n / 3 : n;
    default: return n * 2;
  }
}

NOINLINE int middle(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (leaf(i) & 1)
      sum += leaf(sum);
    else
      sum ^= i;
  }
  return sum;
}

NOINLINE int work(int n) {
  int sum = 0;
  frame_of_work = (unsigned long)__builtin_dwarf_cfa();
  while (seen + lost < 300 && n-- > 0) sum += middle(20 + (sum & 7));
  frame_of_work = 0;
  return sum;
}

int main(void) {
  struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, sample);
  setitimer(ITIMER_REAL, &often, 0);
  volatile int result = work(2000000);
  (void)result;
  setitimer(ITIMER_REAL, &never, 0);
  printf("%s\n", lost == 0 && seen != 0 ? "every sample found its way" : "lost");
  return 0;
}

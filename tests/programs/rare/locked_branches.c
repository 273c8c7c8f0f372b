/* build: -O2
   build: -O2 STATIC
   A locked sequence with a way around some of its instructions: which code lies between the load and
   the store takes following branches. A probe there would break the lock for ever. */
#include <stdio.h>

static inline long saturating_increment(long* counter, long most) {
  long value, ok;
  __asm__ __volatile__(
      "1: ldq_l %0,%2\n"
      "   cmplt %0,%3,%1\n"
      "   bne %1,2f\n"
      "   bis %3,%3,%0\n"
      "   br $31,3f\n"
      "2: addq %0,1,%0\n"
      "3: bis %0,%0,%1\n"
      "   stq_c %1,%2\n"
      "   beq %1,1b\n"
      : "=&r"(value), "=&r"(ok), "+m"(*counter)
      : "r"(most));
  return value;
}

static inline long increment_even(long* counter) {
  long value, ok;
  __asm__ __volatile__(
      "1: ldq_l %0,%2\n"
      "   blbs %0,2f\n"
      "   addq %0,1,%0\n"
      "2: addq %0,1,%0\n"
      "   bis %0,%0,%1\n"
      "   stq_c %1,%2\n"
      "   beq %1,1b\n"
      : "=&r"(value), "=&r"(ok), "+m"(*counter));
  return value;
}

int main(void) {
  long a = 0, b = 1;
  for (int i = 0; i < 100; i++) {
    saturating_increment(&a, 50);
    increment_even(&b);
    if (i % 7 == 0) b += 1;
  }
  printf("%ld %ld\n", a, b);
  return 0;
}

/* Variables of many kinds for debuggers: in registers, on the stack, split, optimized out, in nested scopes, of inlined
   and recursive procedures, of calls with many arguments; breakpoints in loops, switches and cold code. */
#include "variables.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const names[] = {"zero", "one", "two", "three", "four"};
static struct Item pool[16];
static jmp_buf back;

static struct Item* make_list(int length) {
  struct Item* head = NULL;
  for (int i = 0; i < length; i++) {
    struct Item* item = &pool[i];
    item->key = (long)i * i - 7;
    item->weight = i / 3.0;
    item->small = (unsigned)i;
    item->large = (unsigned)i * 1001u;
    item->pair = (struct Pair){i, -i};
    item->action = i % 2 ? add : multiply;
    snprintf(item->name, sizeof item->name, "item %d", i);
    item->next = head;
    head = item;
  }
  return head;
}

__attribute__((noinline)) static int apply(const struct Item* item, int depth) {
  int value = item->action((int)item->key, item->pair.first);
  if (item->next && depth < 12) {
    int rest = apply(item->next, depth + 1);
    value += rest / 2;
  }
  return value;
}

__attribute__((noinline)) static int classify(int code, int other) {
  int kind = code & 15, extra = 0;
  switch (kind) {
    case 0:
      extra = other * 3;
      break;
    case 1:
      extra = other - code;
      /* fall through */
    case 2:
      extra ^= 5;
      break;
    case 3:
      for (int turn = 0; turn < 3; turn++) extra += clamp(other + turn, 2, 9);
      break;
    case 4:
      return -code;
    case 7:
      extra = (int)strlen(names[code % 5]);
      break;
    case 9: {
      union Word word = {.number = (float)code};
      extra = (int)(word.bits >> 20);
      break;
    }
    default:
      if (__builtin_expect(other == 77, 0)) {
        fprintf(stderr, "rare\n");
        extra = 1;
      }
      extra += kind;
  }
  return extra * 2 + other;
}

__attribute__((noinline)) static long many(int a, long b, short c, char d, unsigned e, float f, double g, int h, long i, int j) {
  long total = a + b * 2 + c * 3 + d;
  total += (long)(f * 8) + (long)(g * 16);
  total ^= (long)e << 3;
  return total + h - i + j;
}

__attribute__((noinline)) static int sized(int length) {
  int values[length], total = 0;
  for (int i = 0; i < length; i++) values[i] = clamp(i * 7 % 11, 1, 8);
  for (int i = 0; i < length; i++) {
    int value = values[length - 1 - i];
    total = total * 3 + value;
    total &= 0xffff;
  }
  return total;
}

__attribute__((noinline)) static double float_work(double start, int turns) {
  double value = start, slope = 0.5;
  while (turns-- > 0) {
    double next = value - (value * value - 2) * slope / (value + 1);
    slope = next > value ? slope * 0.9 : slope * 0.99;
    value = next;
  }
  return sqrt(value) + slope;
}

static void leave(int status) {
  if (status > 2) longjmp(back, status);
}

__attribute__((noinline)) static int guarded(int status) {
  volatile int kept = status * 2;
  int code = setjmp(back);
  if (code != 0) return kept + code;
  leave(status);
  return kept;
}

static unsigned collatz(unsigned long number) {
  unsigned steps = 0;
  while (number != 1) {
    number = number % 2 ? 3 * number + 1 : number / 2;
    steps++;
  }
  return steps;
}

int main(int argc, char** argv) {
  struct Item* list = make_list(12);
  int total = apply(list, 0);
  printf("applied %d\n", total);
  for (int code = 0; code < 24; code++) total += classify(code, code * 5 - 11);
  printf("classified %d\n", total);
  printf("many %ld\n", many(argc, 2, 3, 'd', 5, 6.5f, 7.25, 8, 9, total & 7));
  printf("sized %d\n", sized(10) + sized(3));
  printf("floats %.6f\n", float_work(1.25, 20));
  for (int status = 0; status < 5; status++) printf("guarded %d\n", guarded(status));
  printf("sum %ld %ld\n", sum_of(3, 10L, 20L, 30L), sum_of(7, 1L, 2L, 3L, 4L, 5L, 6L, 7L));
  printf("average %.4f %.4f\n", average(list, RED), average(list, BLUE));
  struct Pair pair = swap((struct Pair){total & 3, 4});
  printf("pair %d %d, %d calls\n", pair.first, pair.second, calls);
  unsigned longest = 0, which = 0;
  for (unsigned n = 1; n < 60; n++) {
    unsigned steps = collatz(n);
    if (steps > longest) {
      longest = steps;
      which = n;
    }
  }
  printf("longest %u of %u\n", longest, which);
  (void)argv;
  return 0;
}

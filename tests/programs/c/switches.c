/* Dense, sparse, nested and duplicated switches: dozens of jump tables, with and without a default,
   inside loops, as state machines and in static functions that get cloned and inlined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long digest = 14695981039346656037UL;

static void mix(unsigned long v) {
  digest = (digest ^ v) * 1099511628211UL;
}

#define CASE1(n)       \
  case (n):            \
    r = r * 3 + (n)*7; \
    break;
#define CASE2(n)              \
  case (n):                   \
    r ^= r >> ((n) % 13 + 1); \
    r += (n);                 \
    break;
#define CASE3(n)                      \
  case (n):                           \
    r = (r << 3) - r + (unsigned)(n); \
    if (r & 1) goto odd;              \
    break;
#define EIGHT(M, n) \
  M((n)) M((n) + 1) M((n) + 2) M((n) + 3) M((n) + 4) M((n) + 5) M((n) + 6) M((n) + 7)
#define SIXTYFOUR(M, n)                                                                         \
  EIGHT(M, (n))                                                                                 \
  EIGHT(M, (n) + 8) EIGHT(M, (n) + 16) EIGHT(M, (n) + 24) EIGHT(M, (n) + 32) EIGHT(M, (n) + 40) \
      EIGHT(M, (n) + 48) EIGHT(M, (n) + 56)

/* A table of 64 entries with a default. */
__attribute__((noinline)) static unsigned dense(unsigned op, unsigned r) {
  switch (op) {
    SIXTYFOUR(CASE1, 0)
    default:
      r = 1;
  }
  return r;
}

/* Two clusters far apart: two tables in one procedure. */
__attribute__((noinline)) static unsigned clustered(unsigned op, unsigned r) {
  switch (op) {
    EIGHT(CASE2, 10) EIGHT(CASE2, 18) EIGHT(CASE1, 1000) EIGHT(CASE1, 1008) case 500000 : r = 99;
    break;
    default:
      r += 5;
  }
  return r;
}

/* Gotos out of the table's cases into a shared tail. */
__attribute__((noinline)) static unsigned with_goto(int op, unsigned r) {
  switch (op) { EIGHT(CASE3, -8) EIGHT(CASE3, 0) EIGHT(CASE3, 8) default : return r + 11; }
  return r;
odd:
  return ~r;
}

/* No default and an unreachable rest: the compiler may drop the bounds check. */
__attribute__((noinline)) static unsigned without_check(unsigned op, unsigned r) {
  switch (op & 7) {
    EIGHT(CASE2, 0)
    default:
      __builtin_unreachable();
  }
  return r;
}

enum State {
  START,
  SIGN,
  INTEGER,
  POINT,
  FRACTION,
  EXPONENT,
  EXP_SIGN,
  EXP_DIGITS,
  WORD,
  SPACE,
  BAD
};

static enum State next_state(enum State s, int c) {
  int kind = c >= '0' && c <= '9'   ? 0
             : c == '+' || c == '-' ? 1
             : c == '.'             ? 2
             : c == 'e' || c == 'E' ? 3
             : c == ' '             ? 4
                                    : 5;
  switch (s) {
    case START:
    case SPACE:
      switch (kind) {
        case 0:
          return INTEGER;
        case 1:
          return SIGN;
        case 2:
          return POINT;
        case 4:
          return SPACE;
        case 3:
        case 5:
          return WORD;
      }
      return BAD;
    case SIGN:
      return kind == 0 ? INTEGER : kind == 2 ? POINT : BAD;
    case INTEGER:
      switch (kind) {
        case 0:
          return INTEGER;
        case 2:
          return FRACTION;
        case 3:
          return EXPONENT;
        case 4:
          return SPACE;
        case 1:
        case 5:
          return BAD;
      }
      return BAD;
    case POINT:
      return kind == 0 ? FRACTION : BAD;
    case FRACTION:
      return kind == 0 ? FRACTION : kind == 3 ? EXPONENT : kind == 4 ? SPACE : BAD;
    case EXPONENT:
      return kind == 0 ? EXP_DIGITS : kind == 1 ? EXP_SIGN : BAD;
    case EXP_SIGN:
      return kind == 0 ? EXP_DIGITS : BAD;
    case EXP_DIGITS:
      return kind == 0 ? EXP_DIGITS : kind == 4 ? SPACE : BAD;
    case WORD:
      return kind == 4 ? SPACE : WORD;
    case BAD:
      return kind == 4 ? SPACE : BAD;
  }
  return BAD;
}

static const char* state_name(enum State s) {
  switch (s) {
    case START:
      return "start";
    case SIGN:
      return "sign";
    case INTEGER:
      return "integer";
    case POINT:
      return "point";
    case FRACTION:
      return "fraction";
    case EXPONENT:
      return "exponent";
    case EXP_SIGN:
      return "exp-sign";
    case EXP_DIGITS:
      return "exp-digits";
    case WORD:
      return "word";
    case SPACE:
      return "space";
    case BAD:
      return "bad";
  }
  return "?";
}

/* Duff's device: cases in the middle of a loop. */
__attribute__((noinline)) static void duff_copy(char* to, const char* from, int count) {
  int n = (count + 7) / 8;
  switch (count % 8) {
    case 0:
      do {
        *to++ = *from++; /* fall through */
        case 7:
          *to++ = *from++; /* fall through */
        case 6:
          *to++ = *from++; /* fall through */
        case 5:
          *to++ = *from++; /* fall through */
        case 4:
          *to++ = *from++; /* fall through */
        case 3:
          *to++ = *from++; /* fall through */
        case 2:
          *to++ = *from++; /* fall through */
        case 1:
          *to++ = *from++;
      } while (--n > 0);
  }
}

/* Calls in every case, some of them tail calls. */
__attribute__((noinline)) static unsigned dispatch(unsigned op, unsigned a) {
  switch (op % 9) {
    case 0:
      return dense(a % 70, a);
    case 1:
      return clustered(a % 30, a);
    case 2:
      return clustered(995 + a % 25, a);
    case 3:
      return with_goto((int)(a % 40) - 12, a);
    case 4:
      return without_check(a, a);
    case 5:
      return dense(a % 9, clustered(500000, a));
    case 6:
      a ^= 0x5555;
      break;
    case 7:
      a += dense(3, 4);
      break;
    default:
      a = a << 1 | a >> 31;
  }
  return a * 2654435761u;
}

int main(void) {
  unsigned a = 12345;
  for (unsigned i = 0; i < 200000; i++) {
    a = dispatch(a >> 7, a + i);
    if (i % 1000 == 0) mix(a);
  }
  for (int i = -20; i < 80; i++)
    mix(with_goto(i, 17)), mix(dense((unsigned)i, 3)), mix(clustered((unsigned)i, 3));

  static const char text[] = "12 -3.5e+7 .5 abc 1e 7x 42 +9. 6.02e23 -x .. 8";
  enum State s = START;
  for (const char* p = text; *p; p++) {
    enum State n = next_state(s, *p);
    if (n == SPACE || p[1] == 0) printf("%s ", state_name(s));
    s = n;
  }
  printf("%s\n", state_name(s));

  char copy[sizeof text + 8];
  for (int n = 1; n <= (int)sizeof text; n++) {
    memset(copy, 0, sizeof copy);
    duff_copy(copy, text, n);
    mix(strlen(copy));
    if (memcmp(copy, text, (size_t)n)) printf("duff_copy is wrong at %d\n", n);
  }
  printf("digest %016lx\n", digest);
  return (int)(digest % 64);
}

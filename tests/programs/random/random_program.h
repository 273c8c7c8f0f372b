#pragma once
// The common part of the random C++ programs of random_program.py: state that every procedure reads
// and writes, exceptions, objects, rare events.
//
// With -DTHREADS every thread has a state of its own, so the threads' results do not depend on
// their order; without it the state is in plain static data, and there are signals, output from
// inside procedures, and ends in the middle of procedures.

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef THREADS
#define OWN static thread_local
#else
#define OWN static
#endif
#define NOINLINE __attribute__((noinline))

struct Record {
  uint8_t a;
  int16_t b;
  uint32_t c;
  uint64_t d;
  int8_t e;
};

struct Pair {
  uint64_t first, second;
};

struct Wide {
  uint64_t words[5];
  double real;
};

OWN uint64_t table[64], state = 1, fuel;
OWN Record records[16];
OWN unsigned char bytes[128];
OWN double number;
OWN uint64_t complaints, caught, handled;

// ---- Arithmetic ----

static double absolute(double x) {
  return x < 0 ? -x : x;
}
static double tame(double x) {
  return x > 1e15 || x < -1e15 ? x / 1e18 : x;
}
static double root(double x) {
  return __builtin_sqrt(absolute(x));
}
static uint64_t plus(uint64_t a, uint64_t b) {
  return a + b;
}
static uint64_t swap(uint64_t a, uint64_t b) {
  return b - a;
}
static uint64_t turn(uint64_t a, uint64_t b) {
  return a << (b & 63) | a >> ((64 - (b & 63)) & 63);
}
static uint64_t mix(uint64_t a, uint64_t b) {
  return (a ^ b) * 0x9e3779b97f4a7c15ull;
}
static uint64_t (*const operations[4])(uint64_t, uint64_t) = {plus, swap, turn, mix};

/// True for one x of `one_of`, a power of two.
static inline bool rare(uint64_t x, uint64_t one_of) {
  return __builtin_expect(((x * 0x9e3779b97f4a7c15ull) >> 23 & (one_of - 1)) == 0, 0);
}

// ---- Objects ----

/// Leaves a trace when its scope is left, even by an exception.
struct Guard {
  uint64_t& sum;
  uint64_t value;
  ~Guard() { sum = sum * 3 + value; }
};

struct Shape {
  uint64_t size;
  explicit Shape(uint64_t s) : size(s) {}
  virtual ~Shape() {}
  virtual uint64_t measure(uint64_t a, uint64_t b) const { return a + b * size; }
};

struct Named {
  uint64_t name;
  explicit Named(uint64_t n) : name(n) {}
  virtual ~Named() {}
  virtual uint64_t spell(uint64_t a) const { return a ^ name; }
};

struct Square : Shape {
  using Shape::Shape;
  uint64_t measure(uint64_t a, uint64_t b) const override { return a * b + size * size; }
};

/// Its measure() is reached through a thunk.
struct Badge : Named, Shape {
  Badge(uint64_t n, uint64_t s) : Named(n), Shape(s) {}
  uint64_t measure(uint64_t a, uint64_t b) const override { return mix(a, b) + name; }
  uint64_t spell(uint64_t a) const override { return a * 7 + size; }
};

static uint64_t made_at_start(uint64_t x) {
  return mix(x, 77);
}
static const Shape shape(made_at_start(1));
static const Square square(made_at_start(2));
static const Badge badge(made_at_start(3), 9), other_badge(5, made_at_start(4));
static const Shape* const shapes[4] = {&shape, &square, &badge, &other_badge};
static const Named* const names[2] = {&badge, &other_badge};

// ---- Rare events ----

struct Trouble {
  uint64_t code;
};

struct Special : Trouble {
  uint64_t more[3];
};

struct Counted {
  uint64_t code;
  explicit Counted(uint64_t c) : code(c) {}
  Counted(const Counted& other) : code(other.code + 1) { caught += 3; }
  ~Counted() { caught = caught * 5 + code % 3; }
};

/// The checksum of all state.
static uint64_t sum_of_state() {
  uint64_t sum = state;
  for (uint64_t word : table) sum = sum * 31 + word;
  for (const Record& r : records)
    sum = sum * 31 + r.a + (uint64_t)r.b * 3 + r.c + r.d + (uint64_t)r.e;
  for (unsigned char byte : bytes) sum = sum * 31 + byte;
  return sum * 31 + complaints * 7 + caught * 5 + handled;
}

__attribute__((noinline, cold)) static void complain(uint64_t x) {
  complaints = complaints * 31 + x;
#ifndef THREADS
  static int lines = 0;
  if (++lines < 9) printf("complaint %016llx\n", (unsigned long long)x);
#endif
}

[[noreturn]] NOINLINE static void fail(uint64_t x) {
#ifndef THREADS
  static int failures = 0;
  if (++failures == LAST_FAILURE) {
    printf("failed %016llx %016llx %.17g\n", (unsigned long long)x,
           (unsigned long long)sum_of_state(), number);
    exit(3);
  }
#endif
  throw Trouble{x};
}

static void handle(int) {
  handled = handled * 3 + 1;
}

NOINLINE static void interrupt(uint64_t x) {
#ifndef THREADS
  static int times = 0;
  if (++times < 20) raise(SIGUSR1);
#endif
  handled += x & 3;
}

/// Reads and changes memory of its caller.
NOINLINE static uint64_t touch(uint64_t* words, uint64_t count, uint64_t stride) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    sum = sum * 31 + words[i * stride];
    words[i * stride] ^= sum;
  }
  return sum;
}

static int compare(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

/* Floating point: all conversions and comparisons, rounding modes, infinities and NaNs, long double
   (software quad on Alpha), libm, division by zero and overflow. Built with and without -mieee; the
   plain build skips what would trap. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_IEEE
static const int ieee = 1;
#else
static const int ieee = 0;
#endif

static unsigned long bits(double d) {
  unsigned long u;
  memcpy(&u, &d, sizeof u);
  return u;
}

static void show(const char* name, double d) {
  printf("%-12s %016lx\n", name, bits(d));
}

__attribute__((noinline)) static double divide(double a, double b) {
  return a / b;
}
__attribute__((noinline)) static double times(double a, double b) {
  return a * b;
}
__attribute__((noinline)) static float fdivide(float a, float b) {
  return a / b;
}
__attribute__((noinline)) static int compare(double a, double b) {
  return (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | (a >= b) << 5 |
         !!isunordered(a, b) << 6 | !!isless(a, b) << 7;
}
__attribute__((noinline)) static long to_long(double d) {
  return (long)d;
}
__attribute__((noinline)) static int to_int(double d) {
  return (int)d;
}
__attribute__((noinline)) static unsigned long to_ulong(double d) {
  return (unsigned long)d;
}
__attribute__((noinline)) static double choose(double a, double b, double c) {
  return a > b ? b : c;
}

static void specials(void) {
  double zero = 0.0, one = 1.0, inf = divide(one, zero), nan = divide(zero, zero);
  show("1/0", inf);
  show("-1/0", divide(-one, zero));
  printf("0/0 is nan %d\n", isnan(nan) != 0);
  show("overflow", times(DBL_MAX, 2));
  show("underflow", times(DBL_MIN, 0.25));
  show("denormal", divide(DBL_MIN, 1024));
  printf("compare nan %x inf %x\n", compare(nan, one), compare(inf, one));
  printf("float denormal %a\n", (double)fdivide(FLT_MIN, 16));
  double sum = 0, term = DBL_MIN;
  for (int i = 0; i < 200; i++) sum += term, term = divide(term, 2);
  show("denormals", sum);
}

static void rounding(void) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  for (int i = 0; i < 4; i++) {
    if (fesetround(modes[i])) continue;
    printf("mode %d: %016lx %ld %ld\n", i, bits(divide(1, 3)), lrint(2.5), lrint(-3.5));
  }
  fesetround(FE_TONEAREST);
}

static void nbody(void) {
  double x[4] = {0, 1, 0, 2.5}, y[4] = {0, 0, 1.5, 1}, vx[4] = {0, 0, 1, 0},
         vy[4] = {0, 1, 0, -0.5};
  static const double mass[4] = {10, 1, 0.5, 0.25};
  for (int step = 0; step < 3000; step++) {
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        if (i == j) continue;
        double dx = x[j] - x[i], dy = y[j] - y[i], d2 = dx * dx + dy * dy + 0.01;
        double f = mass[j] / (d2 * sqrt(d2)) * 0.001;
        vx[i] += f * dx, vy[i] += f * dy;
      }
    for (int i = 0; i < 4; i++) x[i] += vx[i] * 0.001, y[i] += vy[i] * 0.001;
  }
  for (int i = 0; i < 4; i++) printf("body %d: %.12g %.12g\n", i, x[i], y[i]);
}

int main(void) {
  if (ieee) specials();
  rounding();
  nbody();
  for (double d = -3.75; d < 4; d += 1.25)
    printf("%g: %ld %d %g %g %g %d\n", d, to_long(d), to_int(d), floor(d), ceil(d), choose(d, 0, 7),
           compare(d, 0));
  printf("ulong %lu %lu\n", to_ulong(1e19), to_ulong(123.9));
  printf("libm %.15g %.15g %.15g %.15g %.15g\n", sin(1.25), exp(2.5), log(3.5), pow(2.2, 3.3),
         atan2(1, -2));
  printf("libm %.9g %.9g %.9g %.9g\n", (double)sinf(1.25f), (double)expf(2.5f), cbrt(10),
         tgamma(5.5));
  long double q = 1.0L;
  for (int i = 1; i < 20; i++)
    q = q * 1.0625L / (1.0L + 1.0L / (long double)i) + sqrtl((long double)i);
  printf("quad %.30Lg %d %d\n", q, q > 12.0L, (int)q);
  printf("parse %.17g %.17g %a\n", strtod("3.14159265358979323846", 0), strtod("1e-300", 0),
         strtod("0x1.8p3", 0));
  char text[64];
  snprintf(text, sizeof text, "%.10e|%g|%.3f|%Lg", 12345.678901, 1e100, -0.0005, 1.5L);
  puts(text);
  unsigned long h = 0;
  float f = 1;
  for (int i = 1; i < 20000; i++) {
    f = fdivide(f * (float)(i % 17 + 1), (float)(i % 13 + 1)) + 0.5f;
    if (f > 1e6f) f = 1;
    h = h * 31 + (unsigned long)(long)(f * 8);
  }
  printf("hash %016lx\n", h);
  return ieee ? 2 : 1;
}

// Division, square roots and conversions, which IA-64 does in software around frcpa, frsqrta and xma; long double has
// the same format on both machines. Prints the same as on x86-64.
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

__attribute__((noinline)) static int64_t sdiv(int64_t a, int64_t b) { return a / b; }
__attribute__((noinline)) static int64_t smod(int64_t a, int64_t b) { return a % b; }
__attribute__((noinline)) static uint64_t udiv(uint64_t a, uint64_t b) { return a / b; }
__attribute__((noinline)) static uint64_t umod(uint64_t a, uint64_t b) { return a % b; }
__attribute__((noinline)) static int32_t sdiv4(int32_t a, int32_t b) { return a / b; }
__attribute__((noinline)) static uint32_t umod4(uint32_t a, uint32_t b) { return a % b; }

static void integers(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 20000; i++) {
    uint64_t a = next() >> (next() % 64), b = next() >> (next() % 64);
    if (b == 0) b = 3;
    if ((int64_t)b == -1) b = 5;
    sum = sum * 31 + (uint64_t)sdiv((int64_t)a, (int64_t)b);
    sum = sum * 31 + (uint64_t)smod((int64_t)a, (int64_t)b);
    sum = sum * 31 + udiv(a, b);
    sum = sum * 31 + umod(a, b);
    int32_t c = (int32_t)b;
    if (c == 0 || c == -1) c = 7;
    sum = sum * 31 + (uint32_t)sdiv4((int32_t)a, c);
    sum = sum * 31 + umod4((uint32_t)a, (uint32_t)c);
    sum = sum * 31 + (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64);
    sum = sum * 31 + (uint64_t)(((unsigned __int128)a << 64 | b) / (b | 1));
  }
  printf("integers %016llx\n", (unsigned long long)sum);
  printf("%lld %lld %llu\n", (long long)sdiv(INT64_MIN, 3), (long long)smod(INT64_MIN, 10), (unsigned long long)udiv(UINT64_MAX, 3));
}

static double random_double(void) {
  union { uint64_t u; double d; } x;
  do x.u = next(); while (!isfinite(x.d));
  return x.d;
}
static float random_float(void) {
  union { uint32_t u; float f; } x;
  do x.u = (uint32_t)next(); while (!isfinite(x.f));
  return x.f;
}

static void add(uint64_t *sum, double value) {
  union { double d; uint64_t u; } x = {value};
  *sum = *sum * 31 + (isnan(value) ? 1 : x.u);
}
static void addl(uint64_t *sum, long double value) {
  union { long double d; struct { uint64_t low; uint16_t high; } u; } x = {value};
  *sum = *sum * 31 + (isnan(value) ? 1 : x.u.low ^ x.u.high);
}

static void floats(void) {
  uint64_t doubles = 0, singles = 0, longs = 0, conversions = 0;
  for (int i = 0; i < 20000; i++) {
    volatile double a = random_double(), b = random_double();
    add(&doubles, a / b);
    add(&doubles, sqrt(fabs(a)));
    add(&doubles, a * b);
    add(&doubles, a + b);
    add(&doubles, a - b * 1e-3);
    volatile float c = random_float(), d = random_float();
    add(&singles, c / d);
    add(&singles, sqrtf(fabsf(c)));
    add(&singles, c * d);
    add(&singles, c + d);
    volatile long double e = (long double)a * 3, f = (long double)b / 7;
    addl(&longs, e / f);
    addl(&longs, sqrtl(fabsl(e)));
    addl(&longs, e * f);
    addl(&longs, e - f);
    volatile int64_t n = (int64_t)next();
    volatile uint64_t u = next();
    add(&conversions, (double)n);
    add(&conversions, (double)u);
    add(&conversions, (float)n);
    addl(&conversions, (long double)n);
    volatile double small = (double)n / 1e5;
    conversions = conversions * 31 + (uint64_t)(int64_t)small;
    conversions = conversions * 31 + (uint64_t)(int32_t)(small / 1e6);
    conversions = conversions * 31 + (uint64_t)fabs(small);
    conversions += (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * isgreater(a, b);
  }
  printf("floats %016llx %016llx %016llx %016llx\n", (unsigned long long)doubles, (unsigned long long)singles,
         (unsigned long long)longs, (unsigned long long)conversions);
}

static void special(void) {
  volatile double zero = 0, one = 1, inf = INFINITY, nan = NAN, tiny = 4.9e-324, big = 1.7976931348623157e308;
  printf("%g %g %g %g\n", one / zero, -one / zero, fabs(zero / zero), inf - inf == 0 ? 1.0 : 2.0);
  printf("%d %d %d %d %d\n", nan < one, nan == nan, nan != nan, isunordered(nan, one), !(nan > one));
  printf("%a %a %a %a\n", tiny * 0.5, tiny * 3, tiny / 2, big * 2);
  printf("%.17g %.17g %.17g\n", big / 3, tiny * 1e300, sqrt(2.0) * one);
  volatile long double third = 1.0L / 3;
  printf("%.21Lg %La\n", third, third);
  printf("%d %d %d\n", (int)signbit(-zero), (int)signbit(zero * -one), fpclassify(tiny) == FP_SUBNORMAL);
  printf("%.15g %.15g %.15g %.15g\n", sin(one), exp(one), pow(one + 1, 0.5), atan2(one, 3));
  printf("%.15g %.15g %.15g\n", fmod(10.5, 3), remainder(10.5, 3), cbrt(27.0));
  printf("%ld %ld %.1f %.1f\n", lrint(2.5), lround(2.5), floor(-2.5), trunc(-2.5));
}

static void rounding(void) {
  static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  for (int i = 0; i < 4; i++) {
    fesetround(modes[i]);
    volatile double a = 1, b = 3, c = -1;
    volatile float f = 1, g = 3;
    printf("%a %a %a %.1f\n", a / b, c / b, (double)(f / g), rint(2.5 * a));
  }
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  volatile double a = 1, b = 3, zero = 0;
  volatile double r = a / b;
  printf("%d ", fetestexcept(FE_ALL_EXCEPT) == FE_INEXACT);
  r = a / zero;
  printf("%d ", fetestexcept(FE_DIVBYZERO) != 0);
  r = zero / zero;
  printf("%d\n", fetestexcept(FE_INVALID) != 0);
  (void)r;
}

int main(void) {
  integers();
  floats();
  special();
  rounding();
  return 0;
}

// Floating-point loops: matrices, series, roots, conversions. Prints bits.
#include "runtime.h"

static double a[20][20], b[20][20], c[20][20];
static float single[64];

static double newton(double x) {
  double r = x > 1 ? x : 1;
  for (int i = 0; i < 40; i++) r = 0.5 * (r + x / r);
  return r;
}

int program(void) {
  put("floats\n");
  for (int i = 0; i < 20; i++) {
    for (int j = 0; j < 20; j++) {
      a[i][j] = 1.0 / (i + j + 1);
      b[i][j] = i * 0.25 - j * j * 0.125;
    }
  }
  for (int i = 0; i < 20; i++) {
    for (int j = 0; j < 20; j++) {
      double sum = 0;
      for (int k = 0; k < 20; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
  double trace = 0;
  for (int i = 0; i < 20; i++) trace += c[i][i];
  put_double(trace);
  put_double(newton(2));
  put_double(newton(1e-10));
  double e = 1, term = 1;
  for (int i = 1; i < 25; i++) {
    term /= i;
    e += term;
  }
  put_double(e);
  for (int i = 0; i < 64; i++) single[i] = (float)i / 7.0f - (float)(i * i) * 0.01f;
  float sum = 0;
  for (int i = 0; i < 64; i++) sum += single[i] * single[63 - i];
  put_double(sum);
  uint64_t integers = 0;
  for (int i = 0; i < 100; i++) {
    volatile double x = (i - 50) * 1234567.891;
    integers = integers * 31 + (uint64_t)(int64_t)x + (uint64_t)(int32_t)(x / 1000);
    integers += (uint64_t)((double)(int64_t)(integers >> 3) * 0.5);
  }
  put_hex(integers);
  volatile double zero = 0, huge = 1e308;
  put_double(huge * 10);
  put_double(-1 / (zero + 1e-320));
  put_hex((uint64_t)((zero / zero) != (zero / zero)));
  return 11;
}

// What one IA-64 floating-point instruction costs the emulator, in nanoseconds.
//
// Each benchmark runs over 256 operand triples that stay in the cache; results are independent,
// as they mostly are in programs, so this is throughput. `latency` feeds results back instead.
//
// usage: build/bench/bench_ia64_arithmetic [--benchmark_filter=REGEX]

#include <benchmark/benchmark.h>

#include <bit>
#include <random>
#include <vector>

#include "simulator/ia64/floating_arithmetic.h"
#include "simulator/ia64/floating_parallel.h"
#include "simulator/ia64/integer_arithmetic.h"

namespace respike::simulator::ia64 {
namespace {

struct Triple {
  FloatingRegister a, b, c, result;
};

/// Doubles of both signs between 1/16 and 16, or the same with all 64 significand bits.
std::vector<Triple> triples(bool doubles) {
  std::mt19937_64 random(1);
  const auto number = [&] {
    const uint64_t mask = doubles ? ~uint64_t{0x7ff} : ~uint64_t{0};
    return FloatingRegister::of(random() & 1, static_cast<uint32_t>(0xfffb + random() % 8),
                                (random() | kIntegerBit) & mask);
  };
  std::vector<Triple> result(256);
  for (Triple& t : result) t = {number(), number(), number(), {}};
  return result;
}

template <typename Operation>
void run(benchmark::State& state, std::vector<Triple> operands, Operation operation) {
  uint64_t fpsr = kInitialFpsr;
  for (auto _ : state) {
    for (Triple& t : operands) benchmark::DoNotOptimize(operation(t, fpsr));
    benchmark::DoNotOptimize(operands.data());
  }
  const double count = static_cast<double>(state.iterations()) * 256;
  state.counters["ns"] =
      benchmark::Counter(count * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

#define FLOATING_BENCHMARK(name, doubles, expression)                                            \
  void name(benchmark::State& state) {                                                           \
    run(                                                                                         \
        state, triples(doubles), [](Triple & t, uint64_t & fpsr) -> auto{ return expression; }); \
  }                                                                                              \
  BENCHMARK(name)

FLOATING_BENCHMARK(fma_d, true, fma(t.result, Precision::double_precision, 0, t.a, t.b, t.c, fpsr));
FLOATING_BENCHMARK(fma_s, true, fma(t.result, Precision::single_precision, 0, t.a, t.b, t.c, fpsr));
FLOATING_BENCHMARK(fma_extended, false, fma(t.result, Precision::dynamic, 0, t.a, t.b, t.c, fpsr));
FLOATING_BENCHMARK(fma_widest, false, fma(t.result, Precision::dynamic, 1, t.a, t.b, t.c, fpsr));
FLOATING_BENCHMARK(fadd_d, true,
                   fma(t.result, Precision::double_precision, 0, t.a, kOne, t.c, fpsr));
FLOATING_BENCHMARK(fadd_zero_d, true,
                   fma(t.result, Precision::double_precision, 0, t.a, kOne, kZero, fpsr));
FLOATING_BENCHMARK(fmpy_d, true, fmpy(t.result, Precision::double_precision, 0, t.a, t.b, fpsr));
FLOATING_BENCHMARK(fnorm_d, true, fnorm(t.result, Precision::double_precision, 0, t.a, fpsr));
FLOATING_BENCHMARK(fnorm_s, true, fnorm(t.result, Precision::single_precision, 0, t.a, fpsr));
FLOATING_BENCHMARK(fcvt_fx_trunc, true, fcvt_fx(t.result, false, true, 0, t.a, fpsr));
FLOATING_BENCHMARK(fcmp_lt, true,
                   fcmp(reinterpret_cast<bool&>(t.result), FloatingRelation::lt, 0, t.a, t.b,
                        fpsr));
FLOATING_BENCHMARK(famax_f, true, famax(t.result, 0, t.a, t.b, fpsr));
FLOATING_BENCHMARK(frcpa_f, true, frcpa(t.result, reinterpret_cast<bool&>(t.c), 0, t.a, t.b, fpsr));
FLOATING_BENCHMARK(fpma_f, false, fpma(t.result, 0, t.a, t.b, t.c, fpsr));
FLOATING_BENCHMARK(load_double, true, (t.result = from_double(t.a.significand), 0));
FLOATING_BENCHMARK(store_double, true, to_double(t.a));
FLOATING_BENCHMARK(fcvt_xf_f, true, (t.result = fcvt_xf(t.a), 0));
FLOATING_BENCHMARK(xma_l_f, true, (t.result = xma_l(t.a, t.b, t.c), 0));
FLOATING_BENCHMARK(padd1_sss, true, padd1(t.a.significand, t.b.significand, Saturation::sss));
FLOATING_BENCHMARK(czx1, true, czx1_r(t.a.significand));
FLOATING_BENCHMARK(mix1, true, mix1_l(t.a.significand, t.b.significand));

/// x = x * a + b, each step waiting for the one before.
void fma_d_latency(benchmark::State& state) {
  uint64_t fpsr = kInitialFpsr;
  const FloatingRegister a = from_double(std::bit_cast<uint64_t>(0.7));
  const FloatingRegister b = from_double(std::bit_cast<uint64_t>(1.3));
  FloatingRegister x = a;
  for (auto _ : state) {
    fma(x, Precision::double_precision, 0, x, a, b, fpsr);
    benchmark::DoNotOptimize(x);
  }
}
BENCHMARK(fma_d_latency);

}  // namespace
}  // namespace respike::simulator::ia64

BENCHMARK_MAIN();

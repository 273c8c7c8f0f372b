// Measures the cost of the arithmetic of one IA-64 instruction in the emulator, in nanoseconds.
//
// Each benchmark runs over 256 operand triples, which stay in the first-level cache. Results are
// independent, as they mostly are in programs, so this is throughput; only `latency` feeds results
// back. "first" measures a program that has not seen an inexact result yet: flags are cleared each
// time.
//
// usage: build/bench/bench_ia64_arithmetic [--benchmark_filter=REGEX]

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "emulators/ia64/floating_arithmetic.h"
#include "emulators/ia64/floating_parallel.h"
#include "emulators/ia64/integer_arithmetic.h"

namespace respike::emulator::ia64 {
namespace {

struct Triple {
  FloatingRegister a, b, c, result;
  bool predicate;
};

/// Numbers of both signs between 1/16 and 16 with `bits` significand bits.
std::vector<Triple> triples(int bits) {
  std::mt19937_64 random(1);
  const auto number = [&] {
    const uint64_t significand = (random() | kIntegerBit) & ~uint64_t{0} << (64 - bits);
    return FloatingRegister::of(random() & 1, static_cast<uint32_t>(0xfffb + random() % 8),
                                significand);
  };
  std::vector<Triple> result(256);
  for (Triple& t : result) t = {number(), number(), number(), {}, false};
  return result;
}

template <typename Operation>
void add(const char* name, int bits, Operation operation) {
  benchmark::RegisterBenchmark(name, [bits, operation](benchmark::State& state) mutable {
    std::vector<Triple> operands = triples(bits);
    uint64_t fpsr = kInitialFpsr;
    size_t i = 0;
    for (auto _ : state) {
      benchmark::DoNotOptimize(operation(operands[i], fpsr));
      i = (i + 1) % operands.size();
    }
  });
}

void add_all() {
  using enum Precision;
  using T = Triple;
  add("fma.d", 53,
      [](T& t, uint64_t& fpsr) { return fma(t.result, double_precision, 0, t.a, t.b, t.c, fpsr); });
  add("fma.d/first", 53, [](T& t, uint64_t& fpsr) {
    fpsr = kInitialFpsr;
    return fma(t.result, double_precision, 0, t.a, t.b, t.c, fpsr);
  });
  add("fma.d/latency", 53, [x = kOne](T& t, uint64_t& fpsr) mutable {
    return fma(x, double_precision, 0, x, kOne, t.c, fpsr);
  });
  add("fma.s", 24,
      [](T& t, uint64_t& fpsr) { return fma(t.result, single_precision, 0, t.a, t.b, t.c, fpsr); });
  add("fma/widest", 64,
      [](T& t, uint64_t& fpsr) { return fma(t.result, dynamic, 1, t.a, t.b, t.c, fpsr); });
  add("fma.d/zero", 53, [](T& t, uint64_t& fpsr) {
    return fma(t.result, double_precision, 0, t.a, t.b, kZero, fpsr);
  });
  add("fmpy.d", 53,
      [](T& t, uint64_t& fpsr) { return fmpy(t.result, double_precision, 0, t.a, t.b, fpsr); });
  add("fnorm.d", 53,
      [](T& t, uint64_t& fpsr) { return fnorm(t.result, double_precision, 0, t.a, fpsr); });
  add("fnorm.s/rounds", 53,
      [](T& t, uint64_t& fpsr) { return fnorm(t.result, single_precision, 0, t.a, fpsr); });
  add("fcmp.lt", 53, [](T& t, uint64_t& fpsr) {
    return fcmp(t.predicate, FloatingRelation::lt, 0, t.a, t.b, fpsr);
  });
  add("famax", 53, [](T& t, uint64_t& fpsr) { return famax(t.result, 0, t.a, t.b, fpsr); });
  add("fcvt.fx.trunc", 53,
      [](T& t, uint64_t& fpsr) { return fcvt_fx(t.result, false, true, 0, t.a, fpsr); });
  add("frcpa", 53,
      [](T& t, uint64_t& fpsr) { return frcpa(t.result, t.predicate, 0, t.a, t.b, fpsr); });
  add("fpma", 64, [](T& t, uint64_t& fpsr) { return fpma(t.result, 0, t.a, t.b, t.c, fpsr); });
  add("fcvt.xf", 53, [](T& t, uint64_t&) { return (t.result = fcvt_xf(t.a)).significand; });
  add("xma.l", 64, [](T& t, uint64_t&) { return (t.result = xma_l(t.a, t.b, t.c)).significand; });
  add("ldfd", 64, [](T& t, uint64_t&) { return (t.result = from_double(t.a.significand)).sign(); });
  add("stfd", 53, [](T& t, uint64_t&) { return to_double(t.a); });
  add("padd1.sss", 64,
      [](T& t, uint64_t&) { return padd1(t.a.significand, t.b.significand, Saturation::sss); });
  add("pmpy2.l", 64, [](T& t, uint64_t&) { return pmpy2_l(t.a.significand, t.b.significand); });
  add("mix1.l", 64, [](T& t, uint64_t&) { return mix1_l(t.a.significand, t.b.significand); });
  add("czx1.r", 64, [](T& t, uint64_t&) { return czx1_r(t.a.significand); });
}

}  // namespace
}  // namespace respike::emulator::ia64

int main(int argc, char** argv) {
  respike::emulator::ia64::add_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

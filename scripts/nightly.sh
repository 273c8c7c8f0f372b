#!/usr/bin/env bash
# What takes too long for every change: 20 seeds on all programs, more damaged inputs, all programs with atomic
# counters, 500 random programs that no night before had, a million operands for each operation of IA-64, the speed
# of its emulator, 500 random programs for it, GCC's execution tests (16,000 cases, some three hours on two processors) and
# GMP's, the whole suite under AddressSanitizer and UndefinedBehaviorSanitizer, and the fuzzers.
#
# usage: scripts/nightly.sh [FUZZ-SECONDS]     for each of the eleven fuzzers, default 3600
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzz_seconds=${1:-3600}

scripts/install-packages.sh

echo "== all tests, 20 seeds"
cmake -S . -B build -G Ninja
cmake --build build
RESPIKE_SEEDS=20 RESPIKE_HEAVY_SEEDS=20 RESPIKE_PROFILE_SEEDS=20 RESPIKE_HEAVY_PROFILE_SEEDS=20 RESPIKE_FLIPS=200 \
  ctest --test-dir build --parallel 2 --output-on-failure

echo "== all programs with atomic counters"
RESPIKE=$PWD/build/respike RESPIKE_PROGRAMS=$PWD/build/programs RESPIKE_COUNTERS=atomic \
  python3 tests/e2e/instrument_test.py

echo "== 500 random C++ programs"
RESPIKE=$PWD/build/respike RESPIKE_PROGRAMS=$PWD/build/programs \
  python3 tests/e2e/random_programs_test.py --programs 500 --seed "$(($(date +%s) / 86400 * 500))"

echo "== IA-64 arithmetic, a million operands for each operation"
for test in floating floating_register parallel_floating division integer; do
  RESPIKE_FLOATING_OPERANDS=1000000 "build/tests/ia64_${test}_test" --gtest_brief=1
done

echo "== IA-64: at least 100 million instructions a second, no-ops left out"
bench/ia64_speed.py --least 100

echo "== IA-64: 500 random C programs at three levels, 200,000 random pieces of code"
RESPIKE=$PWD/build/respike RESPIKE_PROGRAMS=$PWD/build/programs RESPIKE_IA64_SEEDS=500 \
  python3 tests/e2e/ia64_run_test.py --filter '^random'
RESPIKE_EMULATION_RUNS=200000 build/tests/fuzz/emulation_smoke_test --gtest_brief=1

echo "== GCC's execution tests for both machines: another set of options for each test every night"
RESPIKE=$PWD/build/respike RESPIKE_PROGRAMS=$PWD/build/programs \
  tests/peers/gcc_tests.py --seed "$(date +%Y%m%d)" --fresh
echo "== GMP's tests for both machines"
RESPIKE=$PWD/build/respike RESPIKE_PROGRAMS=$PWD/build/programs tests/peers/gmp_tests.py --fresh

echo "== all tests under the sanitizers"
cmake -S . -B build-sanitize -G Ninja -DRESPIKE_SANITIZE=ON
cmake --build build-sanitize
if [[ -d build/programs/sources && ! -e build-sanitize/programs/sources ]]; then
  mkdir -p build-sanitize/programs
  cp -a build/programs/sources build-sanitize/programs/
fi
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 RESPIKE_SEEDS=5 RESPIKE_HEAVY_SEEDS=2 \
  ctest --test-dir build-sanitize --parallel 2 --output-on-failure

echo "== fuzzers, $fuzz_seconds s each"
for target in reader lifter rewrite instrument ia64_lifter ia64_rewrite ia64_instrument unwind counting ir_text emulation; do
  tests/fuzz/run.sh "$target" "$fuzz_seconds"
done

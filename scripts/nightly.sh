#!/usr/bin/env bash
# Runs checks that take too long for every change, in parts:
#
#   cases        all cases of all tests; the usual run has a part of them
#   seeds        the tests that draw layouts, profiles or damage, with 20 seeds and more damage
#   debug        debug information: SQLite, too, and 500 stops of gdb for each program and layout
#   atomic       all programs with atomic counters
#   random       500 random C++ programs that no night before had
#   arithmetic   a million operands for each operation of IA-64
#   speed        the speed of the IA-64 emulator
#   pe           60,000 damaged images of Windows NT, in four ways; every field of two images
#   emulator     500 random C programs and 200,000 random pieces of code for that emulator
#   gcc          GCC's execution tests: 16,000 cases, some seven hours on two processors
#   gmp          GMP's tests
#   lief         LIEF about PE images and their DLLs
#   capstone     Capstone about the registers and flags of all x86-64 code at hand
#   packages     the work of Duktape, zlib, bzip2, tcc and libstdc++ on x86-64, an hour
#   suites       the tests of CPython, zstd, GMP, OpenSSL, coreutils and SQLite with rewritten images, some hours
#   exec         suites below `respike exec`, which counts and optimizes their programs, some hours
#   sanitizers   the whole suite under AddressSanitizer and UndefinedBehaviorSanitizer
#   fuzz         the fuzzers
#
# usage: scripts/nightly.sh [--only PART[,PART...]] [FUZZ-SECONDS]
#
# Each of the twenty-one fuzzers gets FUZZ-SECONDS, default 3600. A part prints its name and the time
# that it took; the first part that fails ends the run. Example:
# `scripts/nightly.sh --only gcc,fuzz 60`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

parts=(cases seeds debug atomic random arithmetic speed pe emulator gcc gmp lief capstone packages suites exec sanitizers fuzz)
wanted=("${parts[@]}")
if [[ ${1:-} == --only ]]; then
  IFS=, read -ra wanted <<<"${2:?--only needs the names of parts}"
  shift 2
fi
fuzz_seconds=${1:-3600}
for part in "${wanted[@]}"; do
  if [[ " ${parts[*]} " != *" $part "* ]]; then
    echo "nightly: there is no part \"$part\"; parts are: ${parts[*]}" >&2
    exit 2
  fi
done

run_cases() {
  ctest --test-dir build --parallel 2 --output-on-failure
}

# Those that read these variables; the others do the same as in every run of the tests.
run_seeds() {
  RESPIKE_SEEDS=20 RESPIKE_HEAVY_SEEDS=20 RESPIKE_PROFILE_SEEDS=20 RESPIKE_HEAVY_PROFILE_SEEDS=20 RESPIKE_FLIPS=200 \
    RESPIKE_WINDOW_KILLS=20 RESPIKE_KILLS=200 RESPIKE_STARTS=1000 ctest --test-dir build --parallel 2 --output-on-failure --tests-regex \
    '^e2e.(layouts|profiled|second_round|hot_cold|never_slower|bad_input|profile|gui_robust|exec|on_the_fly|session_work|live_session|pe)_test(\.x86_64)?$|^DatabaseModel'
}

run_debug() {
  RESPIKE_DEBUG_LARGE=1 python3 tests/e2e/debug_lines_test.py
  RESPIKE_DEBUG_LARGE=1 python3 tests/e2e/debug_scopes_test.py
  RESPIKE_STOPS=500 python3 tests/e2e/debug_stops_test.py
}

run_atomic() {
  RESPIKE_COUNTERS=atomic python3 tests/e2e/instrument_test.py
  for counters in atomic threads; do
    RESPIKE_COUNTERS=$counters RESPIKE_PROGRAMS=$PWD/build/programs/x86_64 python3 tests/e2e/instrument_test.py
  done
}

run_random() {
  python3 tests/e2e/random_programs_test.py --programs 500 --seed "$(($(date +%s) / 86400 * 500))"
}

run_arithmetic() {
  for test in floating floating_register parallel_floating division integer; do
    RESPIKE_FLOATING_OPERANDS=1000000 "build/tests/ia64_${test}_test" --gtest_brief=1
  done
}

# At least 100 million instructions a second, without no-ops.
run_speed() {
  bench/ia64_speed.py --least 100
}

run_pe() {
  RESPIKE_PE_MUTATIONS=60000 build/tests/fuzz/fuzz_smoke_test --gtest_filter='FuzzSmoke.Pe*' --gtest_brief=1
  RESPIKE_PE_FLIPS=1000 RESPIKE_PE_SHARE=1 python3 tests/e2e/pe_damaged_test.py
}

run_emulator() {
  RESPIKE_IA64_SEEDS=500 python3 tests/e2e/ia64_run_test.py --filter '^random'
  RESPIKE_EMULATION_RUNS=200000 build/tests/fuzz/emulation_smoke_test --gtest_brief=1
}

# Each test gets another set of options every night.
run_gcc() {
  tests/peers/gcc_tests.py --seed "$(date +%Y%m%d)" --fresh
}

run_capstone() {
  [[ -d build/capstone ]] || python3 -m pip install --quiet --target build/capstone 'capstone==5.*'
  tests/peers/capstone_oracle.py
}

run_lief() {
  [[ -d build/lief ]] || python3 -m pip install --quiet --target build/lief 'lief==1.0.*'
  python3 tests/e2e/pe_dll_test.py --filter LIEF
}

run_gmp() {
  tests/peers/gmp_tests.py --fresh
}

run_packages() {
  tests/peers/package_tests.py --fresh
}

run_suites() {
  tests/peers/suite_tests.py --fresh
}

run_exec() {
  tests/peers/exec_tests.py
}

run_sanitizers() {
  # Without precompiled headers, which would hide that a file lacks an #include.
  cmake -S . -B build-sanitize -G Ninja -DRESPIKE_SANITIZE=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  cmake --build build-sanitize
  if [[ -d build/programs/sources && ! -e build-sanitize/programs/sources ]]; then
    mkdir -p build-sanitize/programs
    cp -a build/programs/sources build-sanitize/programs/
  fi
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 RESPIKE_SEEDS=2 RESPIKE_HEAVY_SEEDS=1 \
    RESPIKE_PROFILE_SEEDS=1 RESPIKE_HEAVY_PROFILE_SEEDS=1 \
    ctest --test-dir build-sanitize --parallel 2 --output-on-failure
}

run_fuzz() {
  for target in reader lifter rewrite instrument ia64_lifter ia64_rewrite ia64_instrument x86_64_lifter x86_64_rewrite \
    x86_64_instrument pe_reader pe_lifter pe_rewrite ecoff_reader ecoff_lifter \
    ecoff_rewrite unwind counting ir_text emulation debug; do
    tests/fuzz/run.sh "$target" "$fuzz_seconds"
  done
}

scripts/install-packages.sh
cmake -S . -B build -G Ninja -DRESPIKE_ALL_CASES=ON
cmake --build build
ctest --test-dir build --output-on-failure --tests-regex '^programs$'
export RESPIKE=$PWD/build/respike RESPIKE_PROGRAMS=$PWD/build/programs PYTHONDONTWRITEBYTECODE=1
tests/source_tree.py before build/source_tree.nightly
for part in "${wanted[@]}"; do
  echo "== $part"
  SECONDS=0
  "run_$part"
  echo "== $part passed in $SECONDS s"
done
tests/source_tree.py after build/source_tree.nightly

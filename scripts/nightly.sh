#!/usr/bin/env bash
# What takes too long for every change: 20 seeds on all programs, more damaged inputs, the whole suite under
# AddressSanitizer and UndefinedBehaviorSanitizer, and the fuzzers.
#
# usage: scripts/nightly.sh [FUZZ-SECONDS]     per fuzzer, default 3600
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzz_seconds=${1:-3600}

scripts/install-packages.sh

echo "== all tests, 20 seeds"
cmake -S . -B build -G Ninja
cmake --build build
RESPIKE_SEEDS=20 RESPIKE_HEAVY_SEEDS=20 RESPIKE_FLIPS=200 ctest --test-dir build --parallel 2 --output-on-failure

echo "== all tests under the sanitizers"
cmake -S . -B build-sanitize -G Ninja -DRESPIKE_SANITIZE=ON
cmake --build build-sanitize
mkdir -p build-sanitize
if [[ -d build/programs/sources && ! -e build-sanitize/programs/sources ]]; then
  mkdir -p build-sanitize/programs
  cp -a build/programs/sources build-sanitize/programs/
fi
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 RESPIKE_SEEDS=5 RESPIKE_HEAVY_SEEDS=2 \
  ctest --test-dir build-sanitize --parallel 2 --output-on-failure

echo "== fuzzers, $fuzz_seconds s each"
CC=clang CXX=clang++ cmake -S . -B build-fuzz -G Ninja -DRESPIKE_FUZZERS=ON
cmake --build build-fuzz
found=0
for fuzzer in $(find build-fuzz -type f -executable -name 'fuzz_*' -o -type f -executable -name '*_fuzzer'); do
  name=$(basename "$fuzzer")
  corpus=build-fuzz/corpus/$name
  mkdir -p "$corpus"
  if ! ls "$corpus"/* >/dev/null 2>&1; then
    find build/programs/images -maxdepth 1 -type f -executable -size -256k -exec cp {} "$corpus" \;
  fi
  found=1
  "$fuzzer" -max_total_time="$fuzz_seconds" -timeout=20 -rss_limit_mb=3000 -artifact_prefix="$corpus-" "$corpus"
done
[[ $found -eq 1 ]] || { echo "nightly: no fuzzers were built" >&2; exit 1; }

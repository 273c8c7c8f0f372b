#!/usr/bin/env bash
# Builds a fuzzer, makes its seeds, runs it and prints a summary. Status 1 if the fuzzer found a
# fault.
#
# usage: tests/fuzz/run.sh TARGET SECONDS [BUILD]
#   SECONDS: 0 only builds the fuzzer and the makers of its seeds
#   TARGET: reader, lifter, rewrite, instrument, ir_text, counting, unwind, debug or emulation; ia64_lifter, ia64_rewrite and
#   ia64_instrument start from programs for Itanium only, x86_64_lifter and so on from programs for x86-64 only,
#   pe_reader, pe_lifter and pe_rewrite from images of Windows NT only, ecoff_reader and so on from programs in ECOFF. BUILD: build directory, default build-fuzz
# The corpus grows in BUILD/corpus/TARGET from run to run; findings are in BUILD/findings/TARGET. Several fuzzers may run
# at a time; they build one after the other.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${1:?usage: run.sh TARGET SECONDS [BUILD]}
seconds=${2:?usage: run.sh TARGET SECONDS [BUILD]}
build=${3:-$root/build-fuzz}

mkdir -p "$build"
exec 9> "$build/run.lock"
flock 9
[[ -f $build/build.ninja ]] ||
  CC=clang CXX=clang++ cmake -S "$root" -B "$build" -G Ninja -DRESPIKE_FUZZERS=ON >/dev/null
fuzzer=${target#ia64_}
fuzzer=${fuzzer#pe_}
fuzzer=${fuzzer#ecoff_}
fuzzer=${fuzzer#x86_64_}_fuzzer
build() {
  ninja -C "$build" --quiet "$@"  # prints errors only
}
build "$fuzzer"

seeds=$build/seeds
[[ ! $target =~ ^(counting|unwind|debug|emulation)$ ]] || build "${target}_seeds"
if [[ $target != emulation ]]; then
  build respike
  [[ -e $seeds/done ]] || { "$root/tests/fuzz/make-seeds.sh" "$seeds" "$build/respike"; touch "$seeds/done"; }
fi
flock -u 9
[[ $seconds != 0 ]] || exit 0
corpus=$build/corpus/$target findings=$build/findings/$target log=$build/$target.log
mkdir -p "$corpus" "$findings"
exec 8> "$corpus.lock"
flock --nonblock 8 || log=$build/$target.$$.log  # beside another run of the same fuzzer
options=()
if [[ $target == ir_text ]]; then
  for image in tiny program.static throws; do
    "$build/respike" image disasm --ir "$seeds/$image" > "$corpus/seed-$image.ir"
  done
  cp "$root"/tests/ir/alpha*.ir "$corpus"
  options=(-dict="$root/tests/fuzz/ir_text.dict" -max_len=65536)
elif [[ $target == counting ]]; then
  "$build/tests/fuzz/counting_seeds" "$corpus"
  options=(-max_len=65536)
elif [[ $target == unwind ]]; then
  "$build/tests/fuzz/unwind_seeds" "$corpus" "$seeds"/ia64.*
  options=(-max_len=2048)
elif [[ $target == debug ]]; then
  "$build/tests/fuzz/debug_seeds" "$corpus" "$seeds"/debug/*
  options=(-max_len=65536)
elif [[ $target == emulation ]]; then
  "$build/tests/fuzz/emulation_seeds" "$corpus"
  options=(-max_len=4096)
else
  only=
  [[ $target != ia64_* ]] || only=ia64.
  [[ $target != x86_64_* ]] || only=x86_64.
  [[ $target != pe_* ]] || only=pe.
  [[ $target != ecoff_* ]] || only=ecoff.
  for seed in "$seeds/$only"*; do
    [[ $seed == */done || -d $seed ]] || cp "$seed" "$corpus/seed-$(basename "$seed")"
  done
  options=(-max_len=200000)
fi

# A finding ends the run: later findings would mostly be the same fault again.
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
status=0
"$build/tests/fuzz/$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
  -artifact_prefix="$findings/" -print_final_stats=1 "${options[@]}" "$corpus" 2> "$log" || status=$?

grep -E '^(depth|finding):|^stat::(number_of_executed_units|average_exec_per_sec|slowest|peak)|^SUMMARY' "$log" || true
grep -E '^#[0-9]+.*cov:' "$log" | tail -1 || true
if [[ $status -ne 0 ]]; then
  echo "run.sh: $target found something: $findings, $log"
  exit 1
fi
echo "run.sh: $target ran $seconds s and found nothing"

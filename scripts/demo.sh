#!/usr/bin/env bash
# Installs missing packages, builds respike, and does Respike's main job on SQLite for x86-64:
# rewrites the program with three layouts, runs original and outputs, counts its runs, and prints
# tables of the results and of the processor time that a layout by a profile saves. `--all` does the
# same for Alpha, under an emulator and on a model of a processor. If Debian's sources are
# unreachable, a program of this project replaces SQLite, and the gain is left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -gt 1 || ${1:---all} != --all ]]; then
  echo "usage: scripts/demo.sh [--all]" >&2
  exit 2
fi

# Reports ninja's progress every ten seconds, or on a terminal at each step: [STEP/STEPS] in ninja's
# output.
progress() {
  local step steps last=-10 rest shown=
  while IFS='[]/' read -r _ step steps rest; do
    [[ $step =~ ^[0-9]+$ && $steps =~ ^[0-9]+$ ]] || continue
    if [[ -t 1 ]]; then
      printf '\rdemo: building respike: step %d of %d' "$step" "$steps"
      shown=1
    elif ((SECONDS - last >= 10)); then
      last=$SECONDS
      echo "demo: building respike: step $step of $steps"
    fi
  done
  [[ -z $shown ]] || echo
}

scripts/install-packages.sh
mkdir -p build
log=build/demo-build.log
echo "demo: building respike, some minutes the first time (output in $log)"
{ cmake -S . -B build -G Ninja && cmake --build build --target respike; } 2>&1 | tee "$log" | progress ||
  { tail -n 30 "$log" >&2; exit 1; }
echo "demo: fetching and compiling SQLite for x86-64, about a minute the first time"
sources=build/programs/sources
x86_64=(--only sqlite3) alpha=(--only sqlite3)
scripts/fetch-sources.sh "$sources" || { x86_64=(--only kernels) alpha=(--only kernels --own-only); }
python3 tests/programs/x86_64.py build/programs/x86_64 --sources "$sources" "${x86_64[@]}" --shape "" \
  --manifest demo.json > build/demo-programs.log
python3 scripts/demo.py build/respike build/programs/x86_64
if [[ ${1:-} == --all ]]; then
  echo
  echo "demo: compiling SQLite for Alpha, about a minute the first time"
  python3 tests/programs/build.py build/programs "${alpha[@]}" --manifest demo.json --quiet
  python3 scripts/demo.py build/respike build/programs
fi
cat << 'END'

Next, with a program of your own, linked with -Wl,--emit-relocs (-Wl,-q):
  build/respike register app                            the program and its libraries
  build/respike instrument app && build/respike run app TYPICAL INPUT
  build/respike optimize app && build/respike check app -- TYPICAL INPUT
  build/respike export app out
docs/tutorial.md does this with Lua, in five minutes; docs/limits.md says what is left alone.
END

#!/usr/bin/env bash
# Installs missing packages, builds respike, and does Respike's main job on SQLite, for x86-64 and for
# Alpha: rewrites the program with three layouts, runs original and outputs (Alpha's under an
# emulator), and prints tables of the results and of what a layout by a profile gains: for x86-64 in
# processor time, for Alpha on a model of a processor. If Debian's sources are unreachable, a program
# of this project takes SQLite's place, and the gain is left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install-packages.sh
echo "demo: building respike (output in build/demo-build.log)"
mkdir -p build
{ cmake -S . -B build -G Ninja && cmake --build build --target respike; } > build/demo-build.log 2>&1 ||
  { tail -n 30 build/demo-build.log >&2; exit 1; }
echo "demo: building SQLite for x86-64 and Alpha"
sources=build/programs/sources
x86_64=(--only sqlite3) alpha=(--only sqlite3)
scripts/fetch-sources.sh "$sources" || { x86_64=(--only kernels) alpha=(--only kernels --own-only); }
python3 tests/programs/x86_64.py build/programs/x86_64 --sources "$sources" "${x86_64[@]}" --shape "" \
  --manifest demo.json > build/demo-programs.log
python3 tests/programs/build.py build/programs "${alpha[@]}" --manifest demo.json --quiet
python3 scripts/demo.py build/respike build/programs/x86_64
exec python3 scripts/demo.py build/respike build/programs

#!/usr/bin/env bash
# Installs missing packages, builds respike, and does Respike's main job on SQLite for Alpha:
# rewrites the program with three layouts, runs original and outputs under an emulator, measures
# what a layout by a profile gains, and prints tables of the results. If Debian's sources are
# unreachable, a program of this project takes SQLite's place, and the measurement is left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install-packages.sh
echo "demo: building respike (output in build/demo-build.log)"
mkdir -p build
{ cmake -S . -B build -G Ninja && cmake --build build --target respike; } > build/demo-build.log 2>&1 ||
  { tail -n 30 build/demo-build.log >&2; exit 1; }
echo "demo: building the Alpha programs"
only=(--only sqlite3)
scripts/fetch-sources.sh build/programs/sources || only=(--only kernels --own-only)
python3 tests/programs/build.py build/programs "${only[@]}" --manifest demo.json --quiet
exec python3 scripts/demo.py build/respike build/programs

#!/usr/bin/env bash
# Installs missing packages, builds in build/, and runs all tests. Options go to ctest, for example
# `scripts/test.sh -R unit` or `scripts/test.sh -L e2e`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install-packages.sh
cmake -S . -B build -G Ninja
# The first test needs Debian's sources: they are fetched while the compiler works. When that fails,
# the test tries again and says so.
scripts/fetch-sources.sh build/programs/sources > /dev/null 2>&1 &
trap 'kill $! 2> /dev/null || true' EXIT
cmake --build build
wait
trap - EXIT
ctest --test-dir build --parallel 2 --output-on-failure "$@"

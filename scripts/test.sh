#!/usr/bin/env bash
# Installs missing packages, builds in build/, and runs all tests. Options go to ctest, for example
# `scripts/test.sh -R unit` or `scripts/test.sh -L e2e`. At the end it reports the times.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

begin=$SECONDS
scripts/install-packages.sh
installed=$SECONDS
cmake -S . -B build -G Ninja
# The tests of real programs need Debian's sources: they are fetched while the compiler works. If
# that fails, the tests try again and report it.
scripts/fetch-sources.sh build/programs/sources > /dev/null 2>&1 &
trap 'kill $! 2> /dev/null || true' EXIT
cmake --build build
wait
trap - EXIT
built=$SECONDS

status=0
rm -f build/times.xml
ctest --test-dir build --parallel $(($(nproc) + 1)) --output-on-failure --output-junit times.xml "$@" || status=$?
if [[ -f build/times.xml ]]; then
  scripts/test-times.py build/times.xml \
    --installing $((installed - begin)) --building $((built - installed)) --tests $((SECONDS - built))
fi
exit $status

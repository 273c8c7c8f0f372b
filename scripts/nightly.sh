#!/usr/bin/env bash
# Runs checks that take too long for every change, and remembers in bench/journal/nightly.md what has passed.
#
# `scripts/nightly.sh --for 100m` ends after 100 minutes, and goes on there next time; `--needed` says what is left, and
# `--help` what there is. Exit status 1 if a case failed. The program is in scripts/nightly/.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/nightly/nightly.py" "$@"

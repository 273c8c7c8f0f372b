#!/usr/bin/env bash
# Runs checks that take too long for every change, and records in bench/journal/nightly.md which
# have passed.
#
# `scripts/nightly.sh --for 100m` ends after 100 minutes, and the next run continues there;
# `--needed` lists the remaining parts, and `--help` all parts. Exit status 1 if a case failed. The
# program is in scripts/nightly/.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/nightly/nightly.py" "$@"

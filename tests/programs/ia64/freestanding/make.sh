#!/usr/bin/env bash
# Makes the assembler files of the C sources here anew, by the IA-64 gcc whose folder is the argument. gcc needs nothing from its own
# library: divisions are inline.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for source in runtime integers floats calls; do
  "$1/bin/ia64-linux-gnu-gcc" -O2 -S -ffreestanding -fno-builtin -ffp-contract=off -fwrapv -fno-asynchronous-unwind-tables \
    -fno-tree-loop-distribute-patterns -minline-int-divide-min-latency -minline-float-divide-min-latency \
    -minline-sqrt-max-throughput -o "$source.s" "$source.c"
done

#!/usr/bin/env python3
"""Writes a runnable synthetic Alpha image of any size, to measure how Respike scales.

The procedures call each other all over the text, branch, switch through jump tables and have unwind information. The
program calls every procedure once, two calls deep, and prints a checksum, by which a rewritten image can also be
checked.

  synthetic-image.py OUT [--instructions 10000000] [--most-parts 7] [--jobs 2]

With --most-parts 2 there are as many procedures, but smaller ones, of 50 instructions each.

Needs g++-alpha-linux-gnu. An image of 10 million instructions takes about two minutes and, during
assembly, 600 MB of disk.
"""

import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import tempfile

PER_PROCEDURE = 100  # instructions, on average
PER_OBJECT = 2000    # procedures
HUBS = 300           # procedures that others call through the global offset table

MAIN = """
#include <stdio.h>
extern long (*const procedures[])(long, long);
extern const long procedure_count;
int main(void) {
  unsigned long sum = 0;
  for (long i = 0; i < procedure_count; ++i) sum = sum * 31 + procedures[i](2, i);
  printf("%ld procedures, checksum %016lx\\n", procedure_count, sum);
  return 0;
}
"""


def hub(rng, count):
    """A procedure that is called from everywhere; there are few of them."""
    return rng.randrange(HUBS) * max(1, count // HUBS) % count


def straight(rng):
    """Some instructions without a branch: real programs have about five in a block."""
    operations = ("addq", "subq", "xor", "bis", "and", "s8addq", "zapnot")
    lines = []
    for _ in range(rng.randint(1, 4)):
        register = rng.randint(2, 8)
        lines.append(f"\t{rng.choice(operations)} $10,{rng.randint(0, 255)},${register}\n\taddq $10,${register},$10\n")
    return "".join(lines)


def procedure(number, count, near, most_parts, rng):
    """One procedure: f(depth, value) -> value."""
    name = f"f{number}"
    out = [f"\t.align 4\n\t.globl {name}\n\t.ent {name}\n{name}:\n\t.frame $30,32,$26,0\n\t.cfi_startproc",
           "\tldgp $29,0($27)\n\t.prologue 1", "\tlda $30,-32($30)\n\t.cfi_def_cfa_offset 32",
           "\tstq $26,0($30)\n\tstq $9,8($30)\n\tstq $10,16($30)\n\t.cfi_offset 26,-32\n\t.cfi_offset 9,-24\n\t.cfi_offset 10,-16",
           f"\tmov $16,$9\n\tmov $17,$10\n\tble $9,$Lr{number}"]
    table = None
    for part in range(rng.randint(2, most_parts)):
        label = f"{number}_{part}"
        out.append(f"\tand $10,{1 << rng.randint(0, 6)},$1\n\tbeq $1,$La{label}\n" + straight(rng) + f"\taddq $10,{rng.randint(1, 200)},$10\n"
                   f"\txor $10,{rng.randint(1, 200)},$10\n\tbr $31,$Lb{label}\n$La{label}:\n" + straight(rng) + f"\ts4addq $10,{rng.randint(1, 100)},$10\n"
                   f"\tsrl $10,1,$10\n$Lb{label}:")
    if rng.random() < 0.1:
        table = f"$Lt{number}"
        out.append(f"\tand $10,3,$1\n\tldah $2,{table}($29)\t\t!gprelhigh\n\tlda $2,{table}($2)\t\t!gprellow\n"
                   "\ts4addq $1,$2,$2\n\tldl $2,0($2)\n\taddq $2,$29,$2\n\tjmp $31,($2)")
        for case in range(4):
            out.append(f"$Lc{number}_{case}:\n\taddq $10,{case + 3},$10\n\tbr $31,$Ld{number}")
        out.append(f"$Ld{number}:")
    for _ in range(rng.randint(2, 4)):
        out.append("\tsubq $9,1,$16\n\tmov $10,$17")
        if rng.random() < 0.7:
            out.append(f"\tbsr $26,f{rng.randrange(*near)}\t\t!samegp")
        else:  # through the global offset table
            out.append(f"\tjsr $26,f{hub(rng, count)}\n\tldgp $29,0($26)")
        out.append("\taddq $0,$10,$10")
    out.append(f"$Lr{number}:\n\tmov $10,$0\n\tldq $26,0($30)\n\tldq $9,8($30)\n\tldq $10,16($30)\n\tlda $30,32($30)\n"
               "\t.cfi_restore 26\n\t.cfi_restore 9\n\t.cfi_restore 10\n\t.cfi_def_cfa_offset 0\n\tret $31,($26),1\n"
               f"\t.cfi_endproc\n\t.end {name}")
    if table:
        words = "".join(f"\t.gprel32 $Lc{number}_{case}\n" for case in range(4))
        out.append(f"\t.section .rodata\n\t.align 2\n{table}:\n{words}\t.text")
    return "\n".join(out)


def assemble(folder, index, first, last, count, most_parts):
    rng = random.Random(index)
    source = folder / f"part{index}.s"
    with source.open("w") as file:
        file.write("\t.section .note.GNU-stack,\"\",@progbits\n\t.set noreorder\n\t.set volatile\n\t.set noat\n\t.arch ev6\n\t.text\n")
        for number in range(first, last):
            file.write(procedure(number, count, (first, last), most_parts, rng) + "\n")
    target = source.with_suffix(".o")
    subprocess.run(["alpha-linux-gnu-as", "-o", target, source], check=True)
    source.unlink()
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--instructions", type=int, default=10_000_000)
    parser.add_argument("--most-parts", type=int, default=7, help="branches of a procedure, at most (at least 2)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--static", action="store_true")
    args = parser.parse_args()
    count = max(1, args.instructions // PER_PROCEDURE)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "main.c").write_text(MAIN)
        table = [".section .note.GNU-stack,\"\",@progbits\n\t.section .data.rel.ro,\"aw\"\n\t.globl procedures\n\t.align 3\nprocedures:"]
        table += [f"\t.quad f{number}" for number in range(count)]
        table.append(f"\t.globl procedure_count\nprocedure_count:\n\t.quad {count}\n")
        (folder / "table.s").write_text("\n".join(table))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            starts = range(0, count, PER_OBJECT)
            make = lambda s: assemble(folder, s // PER_OBJECT, s, min(s + PER_OBJECT, count), count, args.most_parts)
            objects = list(pool.map(make, starts))
        flags = ["-static", "-Wl,--defsym=__ehdr_start=0x120000000"] if args.static else []
        subprocess.run(["alpha-linux-gnu-gcc", "-O2", "-Wl,-q", *flags, "-o", args.out, folder / "main.c",
                        folder / "table.s", *objects], check=True)


if __name__ == "__main__":
    main()

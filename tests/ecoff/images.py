#!/usr/bin/env python3
"""Makes static programs in ECOFF for Alpha from C: gcc's code, linked as ELF with relocations, then converted by objcopy.

images.py OUT.ecoff SOURCE.c... [--flags FLAGS] [--dec]

--dec links the small C library beside this file instead of glibc: all code then has the form of DEC's compilers
(addresses loaded from .lita), whose relocations binutils can read."""

import argparse
import concurrent.futures
import os
import pathlib
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPILER, OBJCOPY = "alpha-linux-gnu-gcc", "alpha-linux-gnu-objcopy"
# Addresses are loaded from the table of literals, as DEC's compilers do, and not formed relative to gp.
FLAGS = ["-O2", "-std=gnu11", "-w", "-mno-explicit-relocs", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
LIBRARY_FLAGS = ["-ffreestanding", "-fno-tree-loop-distribute-patterns"]

# ELF's relocations that ECOFF has: NONE to HINT, GPRELHIGH and GPRELLOW. The others say nothing about code: they hold
# offsets of thread-local variables and of small data. BRSGP is a branch as any other.
KNOWN = {*range(1, 9), 17, 18}
NONE, BRADDR, BRSGP, LITERAL, GOTTPREL, GPREL16 = 0, 7, 28, 4, 37, 19
SHT_RELA = 4


def run(command):
    outcome = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if outcome.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {outcome.stderr[-2000:]}")


def compile_sources(sources, folder, flags=()):
    def compile_source(source):
        if source.suffix == ".o":
            return source
        result = folder / (source.name + ".o")
        run([COMPILER, *FLAGS, *flags, "-c", source, "-o", result])
        return result

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("RESPIKE_JOBS", 2))) as pool:
        return list(pool.map(compile_source, map(pathlib.Path, sources)))


def library_folder():
    """Where the C library's start files are."""
    text = subprocess.run([COMPILER, "-print-file-name=crt1.o"], capture_output=True, text=True, check=True).stdout
    return pathlib.Path(text.strip()).parent


def link(objects, output, folder, dec=False, relax=False):
    """An ELF program in the form of Tru64, with relocations."""
    options = ["-static", "-nostartfiles", "-Wl,-q", "-Wl,--build-id=none", f"-Wl,-T,{HERE / 'tru64.ld'}"]
    options += [] if relax else ["-Wl,--no-relax"]
    if dec:
        libc = compile_sources([HERE / "small_libc.c"], folder, LIBRARY_FLAGS)
        run([COMPILER, *options, "-nostdlib", *objects, *libc, "-lc", "-o", output])  # for the routines of division
        return
    start = library_folder()
    run([COMPILER, *options, start / "crt1.o", start / "crti.o", *objects, "-lm", "-lpthread", start / "crtn.o", "-o", output])


def drop_relocations(data):
    """Takes away the relocations that ECOFF does not have, in the bytes of an ELF file."""
    sections = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    for i in range(count):
        header = sections + i * size
        kind, = struct.unpack_from("<I", data, header + 4)
        if kind != SHT_RELA:
            continue
        offset, length = struct.unpack_from("<QQ", data, header + 24)
        kept = bytearray()
        for at in range(offset, offset + length, 24):
            address, info, addend = struct.unpack_from("<QQq", data, at)
            number = info & 0xFFFFFFFF
            if number == BRSGP:
                info = info - BRSGP + BRADDR
            elif number not in KNOWN:
                continue
            kept += struct.pack("<QQq", address, info, addend)
        data[offset : offset + len(kept)] = kept
        struct.pack_into("<Q", data, header + 32, len(kept))


def make(objects, output, folder, **options):
    """An ECOFF program."""
    elf = folder / "program.elf"
    link(objects, elf, folder, **options)
    data = bytearray(elf.read_bytes())
    drop_relocations(data)
    elf.write_bytes(data)
    run([OBJCOPY, "-O", "ecoff-littlealpha", elf, output])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--flags", default="")
    parser.add_argument("--dec", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(compile_sources(args.sources, folder, args.flags.split()), args.output, folder, dec=args.dec)


if __name__ == "__main__":
    main()

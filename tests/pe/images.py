#!/usr/bin/env python3
"""Makes programs for Windows NT on Alpha from C: gcc's assembly, converted, assembled and linked.

images.py OUT.exe SOURCE.c... [--base ADDRESS] [--high] [--flags FLAGS]"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile

import convert
import link

HERE = pathlib.Path(__file__).resolve().parent
COMPILER, ASSEMBLER = "alpha-linux-gnu-gcc", "alpha-linux-gnu-as"

CXX_COMPILER = "alpha-linux-gnu-g++"
# Destructors of static objects are in an array, as constructors are.
CXX_FLAGS = ("-fno-rtti", "-fno-use-cxa-atexit", "-fno-threadsafe-statics")


def run(command):
    outcome = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if outcome.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {outcome.stderr[-2000:]}")


def compile_source(source, folder, flags=()):
    """The object in NT's form of one C file (or of assembly that is in that form already, or with WINDOWS_NT)."""
    result = folder / (source.name + ".o")
    if source.suffix == ".S":
        run([COMPILER, "-c", "-DWINDOWS_NT", "-Wa,-G0", source, "-o", result])
        return result
    if source.suffix == ".s":
        run([ASSEMBLER, "-G0", source, "-o", result])
        return result
    assembly, converted = folder / (source.name + ".gcc.s"), folder / (source.name + ".s")
    is_cxx = source.suffix == ".cc"
    run([CXX_COMPILER if is_cxx else COMPILER, *(CXX_FLAGS if is_cxx else ()), *convert.COMPILER_FLAGS, "-include", HERE / "nt_names.h", *flags, "-S", source, "-o", assembly])
    converted.write_text(convert.convert(assembly.read_text()))
    run([ASSEMBLER, "-G0", converted, "-o", result])
    return result


def compile_sources(sources, folder, flags=()):
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("RESPIKE_JOBS", 2))) as pool:
        return list(pool.map(lambda s: compile_source(pathlib.Path(s), folder, flags), sources))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--base", type=lambda text: int(text, 0), default=0x400000)
    parser.add_argument("--high", action="store_true")
    parser.add_argument("--symbols", action="store_true")
    parser.add_argument("--flags", default="")
    parser.add_argument("--entry", default="main")
    parser.add_argument("--exports", default="", help="names, separated by commas")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        objects = compile_sources(args.sources, pathlib.Path(folder), args.flags.split())
        options = link.Options(base=args.base, high=args.high, symbols=args.symbols, entry=args.entry,
                               exports=tuple(filter(None, args.exports.split(","))))
        args.output.write_bytes(link.link(objects, options))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Builds the x86-64 programs that the end-to-end tests rewrite, and OUTDIR/manifest.json, as build.py
does for Alpha: the same sources, in the shapes that compilers and linkers give to code on x86-64.

A shape is a way to build: a compiler, its options, a linker. Each shape is applied to a few programs that between them
have jump tables, computed gotos and exceptions, with --all also to Lua and containers; the plain shape is applied to
all programs. Some take long to compile: without --all, SQLite is a position-independent executable only, and Lua is not
compiled by a profile. Example: interpreter.lld.pie is c/interpreter.c, linked by lld as a position-independent
executable. Parts that the machine lacks are left out, with one line: another host's compiler, a linker, Debian's
sources.

    tests/programs/x86_64.py build/programs/x86_64 --sources build/programs/sources"""

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import sys

import build
from build import HERE

GCC = ("x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++")
CLANG = ("clang", "clang++")
KINDS = {
    "dynamic": (["-fno-pie"], ["-no-pie"]),
    "pie": (["-fPIE"], ["-pie"]),
    "shared": (["-fPIC"], ["-shared"]),
    "static": (["-fno-pie"], ["-static"]),
    "static-pie": (["-fPIE"], ["-static-pie"]),
}


@dataclasses.dataclass(frozen=True)
class Shape:
    """`flags` follow the program's flags, so a level replaces the program's. `compilers`: of C and of C++; no C++
    program has a shape without a compiler for C++."""

    name: str
    flags: tuple = ()
    link: tuple = ()
    compilers: tuple = GCC
    kinds: tuple = ("pie",)
    needs: str = ""  # a command
    programs: tuple = ("switches", "interpreter", "exceptions")


SECTIONS = ("-ffunction-sections", "-fdata-sections")
MORE = ("lua", "containers")  # programs for all shapes, with --all
STATIC = ("static", "static-pie")
SHAPES = [
    Shape("", kinds=STATIC, programs=("interpreter", "exceptions", "threads", "signals", "strings")),
    Shape("musl", compilers=("musl-gcc", ""), kinds=("static", "pie"), needs="musl-gcc", programs=("switches", "interpreter", "threads")),
    Shape("O0", ("-O0", "-g"), kinds=("dynamic", "pie")),
    Shape("O1", ("-O1",)),
    Shape("O3", ("-O3",), kinds=("dynamic", "pie")),
    Shape("Os", ("-Os",)),
    Shape("v3", ("-O3", "-march=x86-64-v3")),
    Shape("lto", ("-flto",), ("-flto",)),
    Shape("sections", SECTIONS, ("-Wl,--gc-sections",)),
    Shape("cet", ("-fcf-protection=full",), ("-Wl,-z,ibtplt",), kinds=("dynamic", "pie")),
    Shape("frames", ("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")),
    Shape("no-plt", ("-fno-plt",), ("-Wl,-z,now",)),
    Shape("large", ("-mcmodel=large",), kinds=("dynamic",), programs=("switches", "interpreter")),
    Shape("medium", ("-mcmodel=medium", "-mlarge-data-threshold=64"), kinds=("dynamic",)),
    Shape("tls-descriptors", ("-mtls-dialect=gnu2",), programs=("threads", "concurrency", "modern")),
    Shape("pg", ("-pg",), ("-pg",), kinds=("dynamic",), programs=("switches", "interpreter")),
    Shape("no-separate-code", (), ("-Wl,-z,noseparate-code",)),
    Shape("relr", (), ("-Wl,-z,pack-relative-relocs",)),
    Shape("patchable", ("-fpatchable-function-entry=4,2",), programs=("switches", "exceptions")),
    Shape("gold", SECTIONS, ("-fuse-ld=gold",), needs="ld.gold"),
    Shape("lld", SECTIONS, ("-fuse-ld=lld", "-Wl,--icf=safe"), needs="ld.lld", kinds=("dynamic", "pie")),
    Shape("mold", (), ("-fuse-ld=mold",), needs="mold"),
    Shape("clang", (), (), CLANG, ("dynamic", "pie"), "clang"),
    Shape("clang-O3", ("-O3",), (), CLANG, needs="clang"),
    Shape("ubsan", ("-O1", "-fsanitize=undefined"), ("-fsanitize=undefined",), CLANG, needs="clang", programs=("exceptions", "containers")),
    Shape("clang-lld", (), ("-fuse-ld=lld",), CLANG, needs="ld.lld"),
]
PLAIN = Shape("", kinds=("dynamic", "pie"))


@dataclasses.dataclass(frozen=True)
class Source:
    files: list
    runs: list
    flags: tuple = ("-O2",)
    threads: bool = False
    heavy: bool = False


def own_sources():
    once, text = [([], None)], [([], HERE / "inputs" / "heavy.sql")]
    texts, threads = {"strings", "containers"}, {"threads", "concurrency"}
    found = {}
    for folder, suffix, names in (
        ("c", "c", "switches interpreter offsets threads signals processes floats calls strings kernels"),
        ("cxx", "cc", "exceptions containers concurrency modern"),
    ):
        for name in names.split():
            runs = text if name in texts else once
            found[name] = Source([HERE / folder / f"{name}.{suffix}"], runs, threads=name in threads)
    return found


def real_sources(sources, data):
    real = build.real_sources(sources)
    runs = {name: build.runs_of(name, data) for name in real}
    return {
        name: Source(files, runs[name], tuple(flags), heavy=name == "sqlite3")
        for name, (files, flags) in real.items()
    }


def libraries(shapes, sources):
    """Programs with libraries of their own: C++ exceptions across images, Lua and zlib as libraries."""
    shared = HERE / "shared"
    shapes.library("linked", "libplugin.so", [shared / "plugin.cc"], [shared / "linked.cc"])
    shapes.library(
        "loaded", "libplugin.so", [shared / "plugin.cc"], [shared / "loaded.c"], linked=False
    )
    for name, soname in (("lua", "liblua.so"), ("minigzip", "libz.so.1")):
        if name in sources:
            main = [f for f in sources[name].files if f.stem == name]
            others = [f for f in sources[name].files if f not in main]
            shapes.library(name, soname, others, main, sources[name])


class Shapes:
    """Applies shapes to programs."""

    def __init__(self, builder, only):
        self.builder, self.only = builder, only
        self.entries = []

    def _programs(self, shape):
        return build.Programs(self.builder, self.only, shape.compilers, KINDS)

    def apply(self, shape, name, source):
        programs = self._programs(shape)
        programs.program(
            name,
            source.files,
            source.runs,
            shape.kinds,
            [*source.flags, *shape.flags],
            shape.name,
            link_flags=shape.link,
            heavy=source.heavy,
            threads=source.threads,
        )
        self.entries += programs.entries

    def library(self, name, soname, files, main, source=None, linked=True):
        source = source or Source([], [([], None)])
        programs = self._programs(PLAIN)
        library = programs.library(soname, [name], files, source.flags)
        programs.program(
            *(name, main, source.runs, ["dynamic", "pie"] if linked else ["pie"], source.flags),
            variant="shared" if source.files else "",
            libraries=[library],
            linked=linked,
        )
        self.entries += programs.entries

    def trained(self, name, source):
        """gcc's own optimization by a profile: hot and cold parts, .text.unlikely and .text.hot."""
        if self.only and name not in self.only:
            return
        output = self.builder.out / "images" / f"{name}.trained.pie"
        arguments, stdin = source.runs[0]
        command = [*GCC[:1], "-w", *source.flags, "-fPIE", "-pie", *source.files, "-lm", "-o", "program"]
        run = f"./program {shlex.join(map(str, arguments))} < {shlex.quote(str(stdin or os.devnull))}"
        script = (
            f"rm -rf {output}.train && mkdir -p {output}.train && cd {output}.train && "
            f"{shlex.join(map(str, [*command, '-fprofile-generate', '-fprofile-update=atomic']))} && "
            f"{{ {run} > /dev/null || true; }} && "  # some end with another status
            f"{shlex.join(map(str, [*command, '-fprofile-use', '-Wno-missing-profile', build.RELOCATIONS]))} && "
            f"mv program {output} && rm -rf {output}.train"
        )
        self.builder.step(output, ["sh", "-c", script], source.files)
        self.entries.append(build.entry(name, "trained", "pie", "c", output, [], source.runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir", type=pathlib.Path)
    parser.add_argument("--sources", type=pathlib.Path, help="folder of the Debian sources (default OUTDIR/sources)")
    parser.add_argument("--only", action="append", help="build only this program (repeatable)")
    parser.add_argument("--shape", action="append", help="build only this shape (repeatable)")
    parser.add_argument("--all", action="store_true", help="more programs in each shape")
    parser.add_argument("--manifest", default="manifest.json", help="its name in OUTDIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    out = args.outdir.resolve()
    out.mkdir(parents=True, exist_ok=True)
    manifest = out / args.manifest
    if not shutil.which(GCC[0]):
        print(f"x86_64.py: WITHOUT x86-64 programs: {GCC[0]} is not installed", file=sys.stderr)
        manifest.write_text(json.dumps({"machine": "x86_64", "programs": [], "missing": []}) + "\n")
        return
    sources, missing = own_sources(), []
    folder = (args.sources or out / "sources").resolve()
    if build.fetch(folder):
        sources = real_sources(folder, out / "data") | sources  # first, since sqlite3 takes longest
    else:
        missing = ["sqlite3", "lua", "bzip2", "minigzip"]
        print("x86_64.py: WITHOUT the real programs: " + ", ".join(missing), file=sys.stderr)

    shapes = Shapes(build.Builder(out, args.jobs), args.only)
    wanted = [s for s in [PLAIN, *SHAPES] if not args.shape or s.name in args.shape]
    for shape in wanted:
        if shape.needs and not shutil.which(shape.needs):
            print(f"x86_64.py: WITHOUT the shape {shape.name}: {shape.needs} is not installed", file=sys.stderr)
            continue
        for name, source in sources.items():
            if not shape.compilers[1] and any(file.suffix == ".cc" for file in source.files):
                continue
            if shape is PLAIN or name in shape.programs or (args.all and name in MORE):
                once = source.heavy and not args.all
                shapes.apply(dataclasses.replace(shape, kinds=("pie",)) if once else shape, name, source)
    if not args.shape:
        libraries(shapes, sources)
        for name in ("interpreter", "lua", "bzip2"):
            if name in sources and (args.all or name != "lua"):
                shapes.trained(name, sources[name])
    try:
        shapes.builder.finish()
    except build.Failure as failure:
        sys.exit(f"x86_64.py: {failure}")
    found = {"machine": "x86_64", "programs": shapes.entries, "missing": missing}
    manifest.write_text(json.dumps(found, indent=1) + "\n")
    print(f"x86_64.py: {len(shapes.entries)} programs in {out}")


if __name__ == "__main__":
    main()

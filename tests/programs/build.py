#!/usr/bin/env python3
"""Builds the Alpha programs that the end-to-end tests rewrite, and OUTDIR/manifest.json.

The programs are our own (c/, asm/, cxx/, shared/) and real programs from Debian's source packages (SQLite, Lua, bzip2,
zlib; fetched by scripts/fetch-sources.sh; when they are unreachable the manifest says so and only our own are built).
Each is linked with relocations (-Wl,-q) as a dynamic, a static and a position-independent executable (SQLite only with
--all: the compiler takes a minute); some also with other optimization levels, processors and code models.

A step runs again when its command or one of its inputs changed. The manifest lists, per program, the image, its kind,
its own shared libraries and the runs: arguments and standard input. The expected output of a run is the original's
output, so every run is deterministic."""

import argparse
import bz2
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CC = "alpha-linux-gnu-gcc"
CXX = "alpha-linux-gnu-g++"

# How each kind is compiled and linked. ld would relax the weak __ehdr_start of static programs to
# 0.
KINDS = {
    "dynamic": ([], ["-no-pie"]),
    "static": ([], ["-static", "-Wl,--defsym=__ehdr_start=0x120000000"]),
    "pie": (["-fPIE"], ["-pie"]),
    "shared": (["-fPIC"], ["-shared"]),
}
RELOCATIONS = "-Wl,-q"

# Earlier results of the compiler, in this folder or in another folder, are found again by contents.
CACHE = shutil.which("ccache")
CACHE_SETTINGS = {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}

# ld's relaxation takes the gp load at a landing pad for the reload after the call in front of it
# when
# that call never returns, and removes it; exceptions from other images then find a wrong gp.
# Programs
# that meet this are linked without relaxation, which also exercises the unrelaxed forms.
NO_RELAX = "-Wl,--no-relax"


class Failure(Exception):
    pass


class Builder:
    """Runs commands in parallel, each once, after the commands that make its inputs."""

    def __init__(self, out, jobs):
        self.out = out
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.steps = {}
        self.commands = {}

    def step(self, output, command, inputs):
        """Makes `output` by `command` unless it is up to date; returns its path."""
        output = pathlib.Path(output)
        assert self.commands.setdefault(output, command) == command, f"two ways to make {output}"
        if output not in self.steps:
            waits = [self.steps[i] for i in map(pathlib.Path, inputs) if i in self.steps]
            self.steps[output] = self.pool.submit(self._run, output, command, inputs, waits)
        return output

    def finish(self):
        failures = []
        for future in self.steps.values():
            try:
                future.result()
            except Failure as failure:
                failures.append(str(failure))
        if failures:
            raise Failure(failures[0])
        self.pool.shutdown()

    @staticmethod
    def _run(output, command, inputs, waits):
        # A step is submitted after the steps for which it waits, so waiting here cannot deadlock.
        for wait in waits:
            wait.result()
        stamp = output.with_name(output.name + ".cmd")
        text = "\n".join(map(str, command))
        if output.exists() and stamp.exists() and stamp.read_text() == text:
            if all(pathlib.Path(i).stat().st_mtime <= output.stat().st_mtime for i in inputs):
                return
        output.parent.mkdir(parents=True, exist_ok=True)
        # Another process that builds the same programs at the same time finds only whole files.
        made = output.with_name(f"{output.name}.{os.getpid()}.tmp")
        done = subprocess.run(
            [made if word == output else word for word in command],
            capture_output=True,
            text=True,
            env=os.environ | CACHE_SETTINGS,
        )
        if done.returncode != 0:
            raise Failure(f"{' '.join(map(str, command))}\n{done.stderr}")
        if output in command:
            os.replace(made, output)
        stamp.write_text(text)


class Programs:
    """Compiles and links programs and collects the manifest's entries. `compilers`: of C and of C++."""

    def __init__(self, builder, only=None, compilers=(CC, CXX), kinds=KINDS):
        self.builder = builder
        self.only = only
        self.compilers, self.kinds = compilers, kinds
        self.entries = []

    def compile(self, sources, flags, kind, folder):
        objects = []
        flags = list(flags) + self.kinds[kind][0]
        suffix = re.sub(r"[^-\w=.]", "", "".join(f for f in flags if not f.startswith("-I")))
        for source in sources:
            cxx = source.suffix == ".cc"
            compiler = self.compilers[cxx]
            output = self.builder.out / "objects" / folder / f"{source.stem}{suffix}.{compiler}.o"
            standard = ["-std=c++20"] if cxx else ["-std=gnu11"]
            headers = list(source.parent.glob("*.h"))
            command = [compiler, *standard, "-w", *flags, "-c", source, "-o", output]
            if CACHE and "-g" not in flags:  # debug information says in which folder the compiler ran
                command = [CACHE, *command]
            objects.append(self.builder.step(output, command, [source, *headers]))
        return objects

    def link(self, name, objects, kind, cxx, link_flags=(), libraries=()):
        output = self.builder.out / "images" / name
        command = [
            self.compilers[cxx],
            RELOCATIONS,
            *self.kinds[kind][1],
            *objects,
            *libraries,
            *link_flags,
            "-lm",
            "-lpthread",
            "-o",
            output,
        ]
        return self.builder.step(output, command, [*objects, *libraries])

    def library(self, soname, users, sources, flags=("-O2",), variant=""):
        """A shared library of the programs `users`, in a folder of its own for its soname."""
        if self.only and not set(users) & set(self.only):
            return None
        cxx = any(s.suffix == ".cc" for s in sources)
        objects = self.compile(sources, flags, "shared", soname)
        folder = soname.split(".")[0] + (f".{variant}" if variant else "")
        path = self.link(f"{folder}/{soname}", objects, "shared", cxx, [f"-Wl,-soname,{soname}"])
        return {"soname": soname, "path": str(path)}

    def program(
        self,
        name,
        sources,
        runs,
        kinds=("dynamic", "static", "pie"),
        flags=("-O2",),
        variant="",
        libraries=(),
        linked=True,
        link_flags=(),
        heavy=False,
        threads=False,
    ):
        """Adds the program in all `kinds`; `runs` is a list of (arguments, stdin path or None)."""
        if self.only and name not in self.only:
            return
        cxx = any(s.suffix == ".cc" for s in sources)
        for kind in kinds:
            objects = self.compile(sources, flags, kind, name)
            with_libraries = [item["path"] for item in libraries] if linked else []
            image = self.link(
                full_name(name, variant, kind), objects, kind, cxx, link_flags, with_libraries
            )
            language = "c++" if cxx else "c"
            self.entries.append(
                entry(name, variant, kind, language, image, libraries, runs, heavy, threads)
            )


def full_name(name, variant, kind):
    return ".".join(part for part in (name, variant, kind) if part)


def entry(name, variant, kind, language, image, libraries, runs, heavy=False, threads=False):
    """A program as the manifest lists it."""
    return {
        "name": full_name(name, variant, kind),
        "program": name,
        "variant": variant,
        "kind": kind,
        "language": language,
        "image": str(image),
        "libraries": list(libraries),
        "runs": [
            {"args": [str(a) for a in args], "stdin": str(stdin) if stdin else None}
            for args, stdin in runs
        ],
        "heavy": heavy,
        "threads": threads,
    }


def own_programs(programs):
    c = lambda name: [HERE / "c" / f"{name}.c"]
    cxx = lambda name: [HERE / "cxx" / f"{name}.cc"]
    once = [([], None)]
    text = [([], HERE / "inputs" / "heavy.sql")]

    programs.program("switches", c("switches"), once)
    programs.program("switches", c("switches"), once, ["dynamic"], ["-O3"], "O3")
    programs.program("switches", c("switches"), once, ["dynamic", "pie"], ["-O0", "-g"], "O0")
    programs.program("interpreter", c("interpreter"), once)
    programs.program("interpreter", c("interpreter"), once, ["dynamic", "pie"], ["-O3"], "O3")
    programs.program("offsets", c("offsets"), once)
    programs.program("threads", c("threads"), once, threads=True)
    programs.program("signals", c("signals"), once)
    programs.program("processes", c("processes"), once)
    programs.program("floats", c("floats"), once)
    ieee = ["-O2", "-mieee", "-DWITH_IEEE"]
    programs.program("floats", c("floats"), once, ["dynamic", "static"], ieee, "ieee")
    inexact = ["-O2", "-mieee-with-inexact", "-mfp-rounding-mode=d", "-DWITH_IEEE", "-mcpu=ev67"]
    programs.program("floats", c("floats"), once, ["dynamic"], inexact, "inexact")
    programs.program("calls", c("calls"), once)
    programs.program("calls", c("calls"), once, ["dynamic"], ["-O0", "-g"], "O0")
    registers = [*c("registers"), HERE / "asm" / "all_registers.S"]
    programs.program("registers", registers, once)
    programs.program("strings", c("strings"), text)
    programs.program("kernels", c("kernels"), once)
    programs.program("kernels", c("kernels"), once, ["dynamic"], ["-O3", "-mcpu=ev67"], "ev67")
    programs.program(
        "kernels", c("kernels"), once, ["dynamic"], ["-O2", "-msmall-data", "-msmall-text"], "small"
    )
    sections = ["-Os", "-ffunction-sections", "-fdata-sections"]
    programs.program(
        "kernels",
        c("kernels"),
        once,
        ["dynamic"],
        sections,
        "sections",
        link_flags=["-Wl,--gc-sections", "-Wl,-z,now"],
    )

    programs.program("exceptions", cxx("exceptions"), once)
    programs.program("exceptions", cxx("exceptions"), once, ["dynamic"], ["-O3"], "O3")
    programs.program(
        "exceptions",
        cxx("exceptions"),
        once,
        ["dynamic", "static"],
        ["-O0", "-g"],
        "O0",
        link_flags=[NO_RELAX],
    )
    programs.program("containers", cxx("containers"), text)
    programs.program("containers", cxx("containers"), text, ["dynamic"], ["-O0", "-g"], "O0")
    programs.program("concurrency", cxx("concurrency"), once, threads=True)
    programs.program("modern", cxx("modern"), once, ["dynamic", "static"])
    programs.program("modern", cxx("modern"), once, ["pie"], ["-O3"], "O3")

    for variant, flags in (("", ["-O2"]), ("O0", ["-O0", "-g"])):
        plugin = programs.library(
            "libplugin.so", ["linked", "loaded"], [HERE / "shared" / "plugin.cc"], flags, variant
        )
        programs.program(
            "linked", [HERE / "shared" / "linked.cc"], once, ["dynamic"], flags, variant, [plugin]
        )
        programs.program(
            "loaded",
            [HERE / "shared" / "loaded.c"],
            once,
            ["dynamic"],
            flags,
            variant,
            [plugin],
            linked=False,
        )
        if not variant:
            programs.program(
                "linked", [HERE / "shared" / "linked.cc"], once, ["pie"], flags, variant, [plugin]
            )


def write_sample(path):
    """A file of text-like and random stretches for the compressors; always the same bytes."""
    if not path.exists():
        generator = random.Random(21164)
        words = [
            bytes(generator.choices(b"abcdefghijklmnopqrstuvwxyz", k=generator.randint(2, 9)))
            for _ in range(400)
        ]
        parts = [generator.choice(words) + b" \n"[: 1 + (i % 12 == 0)] for i in range(16000)]
        parts += [generator.randbytes(9000), bytes(6000), b"ab" * 3000]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(parts))
    return path


def write_compressed(path, compress, sample):
    if not path.exists():
        path.write_bytes(compress(sample.read_bytes()))
    return path


def real_sources(sources):
    """How the real programs are compiled: {name: ([source], [flag])}."""
    sqlite = sources / "sqlite3-amalgamation"
    lua = sources / "lua5.4" / "src"
    bzip2 = sources / "bzip2"
    zlib = sources / "zlib"
    lua_others = ("luac.c", "onelua.c", "ltests.c")
    bzip2_parts = "blocksort huffman crctable randtable compress decompress bzlib bzip2".split()
    return {
        "sqlite3": (
            [sqlite / "sqlite3.c", sqlite / "shell.c"],
            [
                "-O2",
                "-DSQLITE_ENABLE_FTS5",
                "-DSQLITE_ENABLE_RTREE",
                "-DSQLITE_ENABLE_MATH_FUNCTIONS",
                "-DSQLITE_OMIT_LOAD_EXTENSION",
                "-DSQLITE_THREADSAFE=1",
                f"-I{sqlite}",
            ],
        ),
        # By default Lua seeds its hashes with addresses and the time.
        "lua": (
            sorted(p for p in lua.glob("*.c") if p.name not in lua_others),
            ["-O2", "-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=21164"],
        ),
        "bzip2": ([bzip2 / f"{n}.c" for n in bzip2_parts], ["-O2", "-D_FILE_OFFSET_BITS=64"]),
        "minigzip": (
            [*sorted(zlib.glob("*.c")), zlib / "test" / "minigzip.c"],
            ["-O2", f"-I{zlib}", "-D_LARGEFILE64_SOURCE=1", "-DHAVE_UNISTD_H", "-DHAVE_STDARG_H"],
        ),
    }


def runs_of(name, data):
    """[(arguments, standard input)] of a real program; makes its inputs in the folder `data`."""
    inputs = HERE / "inputs"
    sample = write_sample(data / "sample")
    if name == "sqlite3":
        return [
            (["-batch", ":memory:"], inputs / "heavy.sql"),
            (["-batch", "work.db"], inputs / "file.sql"),
        ]
    if name == "lua":
        return [([inputs / "workload.lua"], inputs / "heavy.sql")]
    if name == "bzip2":
        return [(["-c"], sample), (["-dc"], write_compressed(data / "sample.bz2", bz2.compress, sample))]
    packed = write_compressed(data / "sample.gz", lambda b: gzip.compress(b, mtime=0), sample)
    return [([], sample), (["-9"], sample), (["-d"], packed)]


def real_programs(programs, sources, everything):
    real = real_sources(sources)
    runs = {name: runs_of(name, programs.builder.out / "data") for name in real}
    for name, (files, flags) in real.items():
        heavy = name == "sqlite3"  # the compiler takes a minute for its objects of one kind
        kinds = ("dynamic", "static", "pie") if everything or not heavy else ("dynamic", "static")
        programs.program(name, files, runs[name], kinds, flags=flags, heavy=heavy)
    for name, soname in (("lua", "liblua.so"), ("minigzip", "libz.so.1")):
        files, flags = real[name]
        main = [p for p in files if p.stem == name]
        library = programs.library(soname, [name], [p for p in files if p not in main], flags)
        programs.program(name, main, runs[name], ["dynamic"], flags, "shared", [library])


def fetch(sources, packages=()):
    """True when Debian's sources, and the sources of more `packages`, are in the folder `sources`."""
    command = [ROOT / "scripts" / "fetch-sources.sh", sources, *packages]
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir", type=pathlib.Path)
    parser.add_argument(
        "--sources", type=pathlib.Path, help="folder of the Debian sources (default OUTDIR/sources)"
    )
    parser.add_argument(
        "--own-only", action="store_true", help="build only this project's own programs"
    )
    parser.add_argument("--only", action="append", help="build only this program (repeatable)")
    parser.add_argument("--all", action="store_true", help="SQLite as a position-independent executable, too")
    parser.add_argument("--manifest", default="manifest.json", help="its name in OUTDIR")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    out = args.outdir.resolve()
    out.mkdir(parents=True, exist_ok=True)
    sources = (args.sources or out / "sources").resolve()

    programs = Programs(Builder(out, args.jobs), args.only)
    have_sources = not args.own_only and fetch(sources)
    missing = []
    if have_sources:
        real_programs(programs, sources, args.all)  # first, since sqlite3 takes longest
    else:
        missing = ["sqlite3", "lua", "bzip2", "minigzip"]
        print("build.py: WITHOUT the real programs: " + ", ".join(missing), file=sys.stderr)
    own_programs(programs)
    try:
        programs.builder.finish()
    except Failure as failure:
        sys.exit(f"build.py: {failure}")
    manifest = {"programs": programs.entries, "missing": missing}
    (out / args.manifest).write_text(json.dumps(manifest, indent=1) + "\n")
    if not args.quiet:
        print(f"build.py: {len(programs.entries)} programs in {out}")


if __name__ == "__main__":
    main()

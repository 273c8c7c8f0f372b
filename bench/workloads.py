#!/usr/bin/env python3
"""The programs of the benchmarks, each with a training input and a different reference input.

  bench/workloads.py [--folder DIR] [--workloads NAME,...]     builds them and lists their runs

All are static Alpha executables, -O2, linked with relocations. Sources are Debian's (SQLite, Lua, bzip2, zlib, Duktape,
the Tiny C Compiler, GNU bc), fetched by scripts/fetch-sources.sh, and our own interpreter in C++, workloads/script.cc.
A training input is of the same kind of use as the reference input, but shares no statement, script or file with it:
inputs that a profile has not seen show the worth of the profile. bench/README.md describes the programs. Images land in
a folder (--folder, $RESPIKE_BENCH, default build/benchmarks) and are built again when an input of the build changed."""

import argparse
import bz2
import dataclasses
import gzip
import os
import pathlib
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
INPUTS = HERE / "workloads"
sys.path[:0] = [str(ROOT / "tests" / "programs"), str(INPUTS)]

import build  # noqa: E402
import measuring  # noqa: E402
import sql  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("RESPIKE_BENCH", ROOT / "build" / "benchmarks"))
PACKAGES = ["duktape", "tcc", "bc"]  # in addition to tests/programs
KINDS = ("training", "reference")


@dataclasses.dataclass(frozen=True)
class Run:
    """A start of a program in an empty folder. Arguments that are paths are files that the program
    reads, or folders that it searches."""

    args: tuple = ()
    stdin: pathlib.Path | None = None

    def __str__(self):
        text = " ".join(shlex.quote(str(a)) for a in self.args)
        return f"{text} < {self.stdin}" if self.stdin else text


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    title: str
    image: pathlib.Path
    training: tuple  # of runs
    reference: tuple

    def runs(self, kind):
        return getattr(self, kind)


class Unavailable(Exception):
    """A workload cannot be built on this machine; the message says why in one clause."""


# --- Inputs ---------------------------------------------------------------------------------------


def write(path, content):
    """Writes a file of inputs unless it exists with this content; returns its path."""
    if isinstance(content, str):
        content = content.encode()
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def excerpt(paths, size):
    """The beginnings of several files, joined to `size` bytes."""
    share = size // len(paths)
    parts = [path.read_bytes()[:share] for path in paths]
    return b"".join(parts)


def compressor_inputs(folder, sources):
    """The inputs of bzip2 and minigzip: {name: path}. Training is prose; reference is C and a
    PDF."""
    sqlite = sources / "sqlite3-amalgamation" / "sqlite3.c"
    prose = [sources / "lua5.4" / "doc" / "manual.html", sources / "bzip2" / "manual.html"]
    pdf = sources / "zlib" / "zlib.3.pdf"
    code = sqlite.read_bytes()[200_000:340_000]
    mixed = code[:90_000] + pdf.read_bytes()[:20_000] + code[90_000:]
    text = excerpt(prose, 200_000)
    return {
        "training": write(folder / "prose", text),
        "training.bz2": write(folder / "prose.bz2", bz2.compress(text)),
        "training.gz": write(folder / "prose.gz", gzip.compress(text, mtime=0)),
        "reference": write(folder / "code", mixed),
        "reference.bz2": write(folder / "code.bz2", bz2.compress(mixed)),
        "reference.gz": write(folder / "code.gz", gzip.compress(mixed, mtime=0)),
    }


# --- Workloads ------------------------------------------------------------------------------------


def sqlite3(make, sources, folder):
    def run(kind, text):
        return (Run(("-batch", "work.db"), write(folder / f"sqlite3-{kind}.sql", text)),)

    image = make("sqlite3", *build.real_sources(sources)["sqlite3"])
    return image, run("training", sql.training(360)), run("reference", sql.reference(480))


def lua(make, sources, folder):
    image = make("lua", *build.real_sources(sources)["lua"])
    return image, *((Run((INPUTS / f"{kind}.lua",)),) for kind in KINDS)


def duktape(make, sources, folder):
    top = sources / "duktape"
    folders = ["src", "examples/cmdline", "extras/print-alert"]
    files = [
        "src/duktape.c",
        "examples/cmdline/duk_cmdline.c",
        "extras/print-alert/duk_print_alert.c",
    ]
    flags = ["-O2", "-DDUK_CMDLINE_PRINTALERT_SUPPORT", *(f"-I{top / f}" for f in folders)]
    image = make("duktape", [top / f for f in files], flags)
    return image, *((Run((INPUTS / f"{kind}.js",)),) for kind in KINDS)


def tcc(make, sources, folder):
    config = '#define TCC_VERSION "0.9.27"\n#define CONFIG_TCCDIR "/nowhere"\n'
    header = write(folder / "tcc" / "config.h", config)
    top = sources / "tcc"
    flags = ["-O2", "-DONE_SOURCE=1", "-DTCC_TARGET_X86_64", "-DCONFIG_TCC_SEMLOCK=0"]
    image = make("tcc", [top / "tcc.c"], [*flags, f"-I{header.parent}", f"-I{top}"])
    # tcc compiles for x86-64, with the headers of the cross compiler's C library.
    options = ["-r", "-o", "out.o", "-nostdinc", "-I", top / "include"]
    options += ["-I", "/usr/alpha-linux-gnu/include", "-D__LONG_DOUBLE_128__", "-DHAVE_UNISTD_H"]
    zlib = "inflate deflate trees gzlib gzread gzwrite".split()
    training = [sources / "zlib" / f"{name}.c" for name in zlib]
    reference = [sources / "lua5.4" / "src" / f"{n}.c" for n in ("lparser", "lvm", "lstrlib")]
    reference.append(sources / "sqlite3-amalgamation" / "shell.c")
    return image, (Run((*options, *training)),), (Run((*options, *reference)),)


def bc(make, sources, folder):
    # Without bc's library of functions in bc's own language: only a bc could compile this library.
    top = sources / "bc"
    texts = {"PACKAGE": "bc", "VERSION": "1.07.1", "BC_COPYRIGHT": ""}
    has = "STDLIB STRING UNISTD LIMITS STDARG STDDEF ERRNO".split()
    config = "".join(f'#define {name} "{text}"\n' for name, text in texts.items())
    config += "".join(f"#define HAVE_{name}_H 1\n" for name in has)
    header = write(folder / "bc" / "config.h", config)
    write(folder / "bc" / "libmath.h", "{0}\n")
    names = "main bc scan execute load storage util global warranty".split()
    files = [top / "bc" / f"{name}.c" for name in names] + [top / "lib" / "number.c"]
    files += [top / "lib" / f"{name}.c" for name in ("getopt", "getopt1")]
    flags = ["-O2", "-DHAVE_CONFIG_H", *(f"-I{f}" for f in (header.parent, top / "h", top / "bc"))]
    image = make("bc", files, flags)
    return image, *((Run((INPUTS / f"{kind}.bc",)),) for kind in KINDS)


def script(make, sources, folder):
    image = make("script", [INPUTS / "script.cc"], ["-O2"])
    return image, *((Run((INPUTS / f"{kind}.script",)),) for kind in KINDS)


def bzip2(make, sources, folder):
    image = make("bzip2", *build.real_sources(sources)["bzip2"])
    data = compressor_inputs(folder, sources)
    training = (Run(("-c",), data["training"]), Run(("-dc",), data["training.bz2"]))
    return image, training, (Run(("-c",), data["reference"]), Run(("-dc",), data["reference.bz2"]))


def minigzip(make, sources, folder):
    image = make("minigzip", *build.real_sources(sources)["minigzip"])
    data = compressor_inputs(folder, sources)
    training = (Run((), data["training"]), Run(("-d",), data["training.gz"]))
    return image, training, (Run(("-9",), data["reference"]), Run(("-d",), data["reference.gz"]))


# In the order of the tables, call-intensive programs first. Layouts are tuned without the unseen
# workload (bc), which shows what layouts are worth to any other program.
WORKLOADS = {
    sqlite3: "SQLite, SQL scripts",
    lua: "Lua, scripts",
    duktape: "Duktape, JavaScript",
    tcc: "Tiny C Compiler",
    script: "interpreter in C++",
    bc: "GNU bc, unseen",
    minigzip: "zlib, both ways",
    bzip2: "bzip2, both ways",
}
NAMES = [workload.__name__ for workload in WORKLOADS]
OWN = ["script"]  # need no sources of Debian


def prepare(names=None, folder=FOLDER, jobs=None):
    """Builds the workloads `names` (default: all) in a folder; returns them in the order of the
    tables. Raises Unavailable."""
    folder = pathlib.Path(folder).resolve()
    wanted = [(w, title) for w, title in WORKLOADS.items() if not names or w.__name__ in names]
    sources = folder / "sources"
    if any(w.__name__ not in OWN for w, _ in wanted) and not build.fetch(sources, PACKAGES):
        raise Unavailable("Debian's sources cannot be had; `script` needs none of them")
    builder = build.Builder(folder, jobs or os.cpu_count())
    programs = build.Programs(builder)

    def make(name, files, flags):
        programs.program(name, files, [], ["static"], flags)
        return pathlib.Path(programs.entries[-1]["image"])

    data = folder / "inputs"
    made = [Workload(w.__name__, title, *w(make, sources, data)) for w, title in wanted]
    progress = measuring.Progress(len(builder.steps), "building")
    for output, step in builder.steps.items():
        step.add_done_callback(lambda _, name=output.name: progress.step(name.split("-")[0]))
    try:
        builder.finish()
    except build.Failure as failure:
        raise Unavailable(str(failure)) from None
    finally:
        progress.end()
    return made


def names_of(text):
    """The value of an option --workloads."""
    names = text.split(",")
    for name in names:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"no workload {name}; there are {', '.join(NAMES)}")
    return names


def add_options(parser):
    parser.add_argument(
        "--folder", type=pathlib.Path, default=FOLDER, help="where everything is kept"
    )
    parser.add_argument("--workloads", type=names_of, metavar="NAME,...", help=", ".join(NAMES))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    args = parser.parse_args()
    try:
        workloads = prepare(args.workloads, args.folder)
    except Unavailable as reason:
        sys.exit(f"workloads.py: {reason}")
    for workload in workloads:
        print(f"{workload.name}: {workload.title}\n  {workload.image}")
        for kind in KINDS:
            for run in workload.runs(kind):
                print(f"  {kind}: {run}")


if __name__ == "__main__":
    main()

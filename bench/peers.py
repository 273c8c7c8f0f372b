#!/usr/bin/env python3
"""Respike and LLVM BOLT side by side, on x86-64 programs of many shapes, in one run.

  bench/peers.py [--bolt llvm-bolt-22] [--only REGEX] [--image NAME=PATH[,ARGUMENT...]] [--runs 3]
                 [--inputs FOLDER] > table.md
  bench/peers.py --speed [--short] [--programs sqlite3,lua] [--pairs 20] [--folder build/speed]
                 [--html FILE] > tables.md

Each tool counts the program's run, lays the program out by that profile, and the output runs the same input again. A
row says for each tool: whether the output prints the same as the original and has the same exit status ("ok", or what
happened; without a profile if the tool could not count); the same after `strip`; how many procedures the tool left
alone; the cost of counting (processor time of the counted run as a multiple of the original's, if the original takes at
least 0.1 s); seconds (the least of --runs), peak memory in MB and size (output / input) of rewriting with the profile.
The two tools take turns. BOLT's options are those that its documentation recommends with -instrument.

Sources are those that tests/programs fetched; tools that are not installed (clang, lld, mold, musl-gcc, rustc,
libraries for static linking) are left out with a line on stderr. --image adds a program that was linked with
--emit-relocs: it runs with the arguments, and may be repeated. --inputs keeps the programs in a folder, and reuses
programs that are already there.

--speed prints what layouts gain instead, by speed.py: counts and processor time of the reference
inputs (--short: of a fifth of them) with all tools, modelled cycles of a fifth; then what profiles of
older builds keep of the gain, by stale_profiles.py. It makes the tables of docs/results.md."""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TESTS = ROOT / "tests" / "programs"
sys.path[:0] = [str(HERE / "workloads"), str(TESTS)]

import build  # noqa: E402
import sql  # noqa: E402

TIMEOUT = 300
SHORTEST = 0.1  # seconds of processor time, below which the cost of counting says nothing
LAYOUT = ("-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions", "-split-all-cold")
PIE, FIXED = ("-fPIE", "-pie"), ("-fno-pie", "-no-pie")
STATIC, STATIC_PIE = ("-fno-pie", "-static"), ("-fPIE", "-static-pie")
LIBRARIES = {  # programs with much assembly: the library, and the program's includes
    "openssl": ("crypto", "openssl/evp.h"),
    "gmp": ("gmp", "gmp.h"),
    "libgcrypt": ("gcrypt", "gcrypt.h"),
    "zstd": ("zstd", "zstd.h"),
    "x264": ("x264", "x264.h"),
}
MORE_LIBRARIES = {"libgcrypt": ("-lgpg-error",), "x264": ("-lm", "-lpthread")}


@dataclasses.dataclass
class Outcome:
    """A finished process: its output, how it ended, seconds, processor seconds, peak MB."""

    output: bytes
    status: int
    seconds: float
    processor: float
    memory: float

    def behaviour(self):
        return self.output, self.status


@dataclasses.dataclass
class Input:
    name: str
    image: pathlib.Path
    words: tuple = ()
    stdin: str = os.devnull

    def run(self, image, folder, environment=None):
        """The program under its own name, since some print it."""
        place = folder / "run"
        place.mkdir(exist_ok=True)
        started = place / "program"
        started.unlink(missing_ok=True)
        shutil.copy(image, started)
        return execute(["./program", *self.words], self.stdin, place, environment)


def execute(command, stdin=os.devnull, cwd=None, environment=None):
    """Runs a command; a run that takes too long is killed and has status -9."""
    with open(stdin, "rb") as file, tempfile.TemporaryFile() as out:
        usage = os.times()
        limited = ["timeout", "-s", "KILL", str(TIMEOUT), *map(str, command)]
        child = subprocess.Popen(
            limited, stdin=file, stdout=out, stderr=subprocess.STDOUT, cwd=cwd, env=environment
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        elapsed = os.times().elapsed - usage.elapsed
        out.seek(0)
        output = out.read()
    processor = used.ru_utime + used.ru_stime
    return Outcome(output, child.returncode, elapsed, processor, used.ru_maxrss / 1024)


# ---- inputs ----


class Builder:
    """Builds the programs that the machine has everything for."""

    def __init__(self, folder, only):
        self.folder, self.only = folder, re.compile(only)
        self.sources = ROOT / "build" / "programs" / "sources"
        self.inputs = []

    def add(self, name, files, flags, words=(), stdin=os.devnull, compiler=None):
        """`flags` are for compiling and linking in one step; libraries come last."""
        if not self.only.search(name):
            return
        cxx = any(str(file).endswith(".cc") for file in files)
        compiler = compiler or ("g++" if cxx else "gcc")
        if cxx and compiler == "clang":
            compiler = "clang++"
        image = self.folder / name.replace(" ", ".").replace(",", "")
        libraries = [flag for flag in flags if flag.startswith("-l")]
        others = [flag for flag in flags if not flag.startswith("-l")]
        relocations = ["-C", "link-arg=-Wl,--emit-relocs"] if compiler == "rustc" else ["-Wl,--emit-relocs", "-w"]
        if image.exists():
            return self.inputs.append(Input(name, image, tuple(map(str, words)), str(stdin)))
        if shutil.which(compiler) is None:
            return print(f"peers: WITHOUT {name}: {compiler} is not installed", file=sys.stderr)
        done = subprocess.run(
            [compiler, *relocations, *others, *map(str, files), "-o", image, *libraries], capture_output=True, text=True
        )
        if done.returncode != 0:
            return print(f"peers: WITHOUT {name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        self.inputs.append(Input(name, image, tuple(map(str, words)), str(stdin)))

    def sqlite(self):
        folder = self.sources / "sqlite3-amalgamation"
        script = self.folder / "training.sql"
        script.write_text(sql.training(4000))
        shapes = {
            "PIE": ("-O2", *PIE),
            "non-PIE": ("-O2", *FIXED),
            "non-PIE, CET": ("-O2", *FIXED, "-fcf-protection"),
            "static": ("-O2", *STATIC),
            "static-pie": ("-O2", *STATIC_PIE),
            "sections": ("-O2", *PIE, "-ffunction-sections", "-Wl,--gc-sections"),
            "O3, -g": ("-O3", "-g", *PIE),
            "RELR": ("-O2", *PIE, "-Wl,-z,pack-relative-relocs"),
            "one segment": ("-O2", *PIE, "-Wl,-z,noseparate-code"),
            "mold": ("-O2", *PIE, "-fuse-ld=mold"),
        }
        arguments = ("-batch", ":memory:"), script
        files = [folder / "sqlite3.c", folder / "shell.c"]
        for shape, flags in shapes.items():
            self.add(f"SQLite {shape}", files, (*flags, "-lm", "-lpthread"), *arguments)
        for shape, flags in {"clang": (), "clang, lld": ("-fuse-ld=lld",)}.items():
            flags = ("-O2", *PIE, *flags, "-lm", "-lpthread")
            self.add(f"SQLite {shape}", files, flags, *arguments, compiler="clang")

    def lua(self):
        files = [f for f in sorted((self.sources / "lua5.4" / "src").glob("*.c")) if f.name != "luac.c"]
        words = [HERE / "workloads" / "training.lua"]
        for shape, flags in {"PIE": PIE, "non-PIE": FIXED, "static": STATIC}.items():
            self.add(f"Lua {shape}", files, ("-O2", *flags, "-lm"), words)
        self.add("Lua clang", files, ("-O2", *PIE, "-lm"), words, compiler="clang")
        self.add("Lua musl, static", files, ("-O2", *STATIC, "-lm"), words, compiler="musl-gcc")

    def python(self):
        folder = pathlib.Path("/usr/lib/python3.11/config-3.11-x86_64-linux-gnu")
        for shape, flags, library in (("PIE", PIE, "-pic"), ("non-PIE", FIXED, "")):
            files = [HERE / "workloads" / "python.c", folder / f"libpython3.11{library}.a"]
            flags = ("-O2", *flags, "-Wl,--export-dynamic", "-lexpat", "-lz", "-lm")
            self.add(f"CPython {shape}", files, flags, ("-I", HERE / "workloads" / "training.py"))

    def others(self):
        throws = [TESTS / "cxx" / "exceptions.cc"]
        for shape, flags in {"PIE": PIE, "non-PIE": FIXED, "static": STATIC, "static-pie": STATIC_PIE}.items():
            self.add(f"C++ exceptions {shape}", throws, ("-O2", "-std=c++20", *flags))
        self.add("C++ exceptions clang", throws, ("-O2", "-std=c++20", *PIE), compiler="clang")
        self.add("C++ exceptions ASan", throws, ("-O1", "-std=c++20", *PIE, "-fsanitize=address"))
        self.add("C++ exceptions UBSan clang", throws, ("-O1", "-std=c++20", *PIE, "-fsanitize=undefined"), compiler="clang")
        self.add("threads TSan", [TESTS / "c" / "threads.c"], ("-O1", *PIE, "-fsanitize=thread", "-lpthread"))
        self.add("computed goto", [TESTS / "c" / "interpreter.c"], ("-O2", *PIE))
        bzip2 = self.sources / "bzip2"
        names = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib", "bzip2")
        files = [bzip2 / f"{name}.c" for name in names]
        self.add("bzip2", files, ("-O2", *PIE), ("-c",), self.sources / "lua5.4_5.4.4.orig.tar.gz")
        self.add("Rust unwind", [HERE / "workloads" / "unwind.rs"], ("-O",), compiler="rustc")
        self.add("Rust abort", [HERE / "workloads" / "unwind.rs"], ("-O", "-Cpanic=abort"), compiler="rustc")
        for name, (library, _) in LIBRARIES.items():
            program = HERE / "workloads" / f"{name}.c"
            flags = ("-O2", *STATIC, f"-l{library}", *MORE_LIBRARIES.get(name, ()))
            self.add(f"{name} static", [program], flags)


# ---- tools ----


@dataclasses.dataclass
class Result:
    """What a row says of one tool. None: not known, since an earlier step failed."""

    works: str = ""
    stripped: str = ""
    left_out: int | None = None
    cost: float | None = None
    seconds: float | None = None
    memory: float | None = None
    size: float | None = None


class Failed(Exception):
    pass


def succeed(what, command, **options):
    outcome = execute(command, **options)
    if outcome.status != 0:
        lines = outcome.output.decode(errors="replace").strip().splitlines() or [""]
        ended = f"signal {-outcome.status}" if outcome.status < 0 else f"status {outcome.status}"
        print(f"peers: {what}: {ended}: {lines[-1]}", file=sys.stderr)
        raise Failed(f"{what}: {ended}")
    return outcome


class Respike:
    name = "Respike"

    def __init__(self, program):
        self.program = program

    def count(self, given, folder):
        command = [self.program, "image", "instrument", given.image, "-o", folder / "counting", "--spool", folder / "spool"]
        told = succeed("instrument", [*command, "--json"]).output.decode()
        self.left_out = len(re.findall(r'"reason"', told[: told.find("]")]))
        return folder / "counting"

    def collect(self, folder):
        succeed("collect", [self.program, "image", "collect", *(folder / "spool").iterdir(), "-o", folder / "profile"])

    def rewrite(self, given, folder):
        return succeed(
            "rewrite", [self.program, "image", "optimize", given.image, "--profile", folder / "profile", "-o", folder / "output"]
        )


class Bolt:
    name = "BOLT"

    def __init__(self, program):
        self.program = program

    def count(self, given, folder):
        data = folder / "data.fdata"
        options = ["-instrument", f"-instrumentation-file={data}"]
        succeed("instrument", [self.program, given.image, "-o", folder / "counting", *options])
        return folder / "counting"

    def collect(self, folder):
        if not (folder / "data.fdata").exists():
            raise Failed("the counted run wrote no profile")

    def rewrite(self, given, folder):
        data = folder / "data.fdata"
        profile = [f"-data={data}"] if data.exists() else []
        outcome = succeed("rewrite", [self.program, given.image, "-o", folder / "output", *profile, *LAYOUT])
        told = outcome.output.decode(errors="replace")
        counts = re.findall(r"(\d+) functions? with profile could not be optimized", told)
        counts += re.findall(r"skipped (\d+) functions due to cold fragments", told)
        self.left_out = sum(map(int, counts))
        return outcome


def behaves(given, image, folder, expected):
    actual = given.run(image, folder)
    if actual.behaviour() == expected.behaviour():
        return "ok"
    if actual.status < 0 or actual.status > 128:
        return f"signal {-actual.status if actual.status < 0 else actual.status - 128}"
    return "wrong output" if actual.status == expected.status else f"status {actual.status}"


def judge(tool, given, folder, expected, runs):
    result = Result()
    counts = ""
    try:
        counted = given.run(tool.count(given, folder), folder)
        if counted.behaviour() != expected.behaviour():
            counts = "wrong counted run; "
        elif expected.processor >= SHORTEST:
            result.cost = counted.processor / expected.processor
        tool.collect(folder)
    except Failed as failure:
        print(f"peers: {given.name}: {tool.name}: {failure}", file=sys.stderr)
        counts = "no profile; "
    try:
        rewritten = [tool.rewrite(given, folder) for _ in range(runs)]
    except Failed as failure:
        result.works = counts + str(failure)
        return result
    result.left_out = tool.left_out
    result.seconds = min(each.seconds for each in rewritten)
    result.memory = max(each.memory for each in rewritten)
    output, stripped = folder / "output", folder / "stripped"
    result.size = output.stat().st_size / given.image.stat().st_size
    result.works = counts + behaves(given, output, folder, expected)
    done = execute(["strip", output, "-o", stripped])
    result.stripped = behaves(given, stripped, folder, expected) if done.status == 0 else "strip fails"
    return result


def show(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


COLUMNS = (  # title, how a result is shown, why BOLT may be ahead
    ("works", lambda r: r.works, ""),
    ("after strip", lambda r: r.stripped or "-", ""),
    ("left alone", lambda r: show(r.left_out, 0), "what data in the text, or code without a type, may lead to stays"),
    ("counting", lambda r: show(r.cost, 2), "not known"),
    ("seconds", lambda r: show(r.seconds, 2), "Respike lifts the output again and compares"),
    ("peak MB", lambda r: show(r.memory, 0), "Respike lifts the output again and compares"),
    ("output / input", lambda r: show(r.size, 2), "not known"),
)


def behind(ours, theirs):
    """The columns in which a tool that works is behind another that works, as both are shown."""
    if ours.works == "ok" and not theirs.works.endswith("ok"):
        return []
    shown = ((title, value(ours), value(theirs)) for title, value, _ in COLUMNS[2:])
    return [title for title, one, other in shown if "-" not in (one, other) and float(one) > float(other)]


def table(inputs, tools, runs, scratch):
    names = " / ".join(tool.name for tool in tools)
    print(f"Each cell: {names}.\n")
    print("| program |", " | ".join(title for title, _, _ in COLUMNS), "| behind in |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    reasons = {}
    for number, given in enumerate(inputs):
        folder = scratch / f"run{number}"
        folder.mkdir()
        expected = min((given.run(given.image, folder) for _ in range(runs)), key=lambda outcome: outcome.processor)
        results = []
        for tool in tools:
            own = folder / tool.name
            own.mkdir()
            results.append(judge(tool, given, own, expected, runs))
        cells = [" / ".join(map(value, results)) for _, value, _ in COLUMNS]
        lost = behind(*results) if len(results) == 2 else []
        reasons.update((title, why) for title, _, why in COLUMNS if title in lost)
        print("|", given.name, "|", " | ".join(cells), "|", ", ".join(lost), "|", flush=True)
        shutil.rmtree(folder)
    for title, why in reasons.items():
        print(f"\n*{title}*: {why}.")


def speed(args):
    """Counts and processor time of whole reference inputs, cycles of short ones, older profiles."""
    import stale_profiles

    common = ["--respike", args.respike, "--bolt", args.bolt, "--folder", args.folder]
    short = ["--short"] if args.short else []
    wanted = args.programs.split(",") if args.programs else []
    programs = ["--programs", args.programs] if wanted else []
    page = ["--html", args.html] if args.html else []
    figures, cycles = ["--tools", "original,bolt,respike,gcc,lld", "--pairs", args.pairs], ["--models", "zen3,goldencove"]
    run = [
        (HERE / "speed.py", *figures, *programs, *page, *short, *common),
        (HERE / "speed.py", *cycles, *programs, "--short", *common),
    ]
    older = [name for name in stale_profiles.PROGRAMS if not wanted or name in wanted]
    if older:
        run.append((HERE / "stale_profiles.py", "--programs", ",".join(older), "--short", *common))
    for command in run:
        subprocess.run([sys.executable, *map(str, command)], check=True)
        print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--respike", default=ROOT / "build" / "respike")
    parser.add_argument("--bolt", default="llvm-bolt-22")
    parser.add_argument("--only", default="")
    parser.add_argument("--image", action="append", default=[])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--inputs", type=pathlib.Path)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--short", action="store_true", help="with --speed: a fifth of the reference inputs")
    parser.add_argument("--programs", help="with --speed: only these")
    parser.add_argument("--pairs", default="20", help="with --speed: of runs for the processor time")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "speed", help="with --speed: where all is kept")
    parser.add_argument("--html", help="with --speed: write a page with plots")
    args = parser.parse_args()
    if args.speed:
        return speed(args)
    tools = [Respike(pathlib.Path(args.respike).resolve())]
    if shutil.which(args.bolt):
        tools.append(Bolt(args.bolt))
    else:
        print(f"peers: WITHOUT BOLT: {args.bolt} is not installed", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="respike-peers-") as scratch:
        scratch = pathlib.Path(scratch)
        inputs = (args.inputs or scratch).resolve()
        inputs.mkdir(parents=True, exist_ok=True)
        builder = Builder(inputs, args.only)
        if not build.fetch(builder.sources):
            sys.exit("peers: the sources of the programs cannot be fetched")
        builder.sqlite()
        builder.lua()
        builder.python()
        builder.others()
        for text in args.image:
            name, path = text.split("=", 1)
            image, *words = path.split(",")
            builder.inputs.append(Input(name, pathlib.Path(image).resolve(), tuple(words)))
        table(builder.inputs, tools, args.runs, scratch)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How do time and memory of rewriting grow with x86-64 images of real code?

  bench/scale.py [--respike build/respike] [--runs 3] [--only REGEX] [--plot FILE.svg] > table.md

Two kinds of images, linked with --emit-relocs: copies of SQLite in one program (145 copies have more than 128 MB of
text), and LLVM's optimizer with code generators for one, for eight and for all targets, and with lld, from the static
archives of Debian's llvm-22-dev, libpolly-22-dev and liblld-22-dev, which are left out if they are not installed. Each
is written in its original order and at random, lifted again and compared, and the outputs have to behave like the
original. A row gives the least wall time of the runs and the largest peak of resident memory. Example: `--only copies`
takes SQLite alone. Needs tests/programs' sources; the largest images need 5 GB of memory."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import plots
import rewriting

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
COPIES = (1, 5, 20, 50, 145)
TARGETS = {"LLVM, 1 target": 1, "LLVM, 8 targets": 8, "LLVM, all targets": None}
LAYOUTS = ("original", "random")
SQL = (
    "create table t(a integer primary key, b text);"
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)"
    " insert into t select i, hex(i * 7919) from n;"
    "select count(*), max(b), sum(length(b)) from t where b > '4' group by a % 7;"
)


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"scale: {' '.join(map(str, command))[:300]}: {done.stderr[-500:]}")
    return done.stdout


# ---- copies of SQLite ----


def compiled_sqlite(folder):
    source = ROOT / "build" / "programs" / "sources" / "sqlite3-amalgamation" / "sqlite3.c"
    if not source.exists():
        sys.exit("scale: run scripts/fetch-sources.sh build/programs/sources first")
    compiled = folder / "sqlite3.o"
    if not compiled.exists():
        call("gcc", "-O3", "-funroll-loops", "-w", "-c", source, "-o", compiled)
    return compiled


def copies_of_sqlite(folder, count):
    """A program of `count` copies; three of them run SQL."""
    one = compiled_sqlite(folder)
    objects = []
    for number in range(count):
        copied = folder / f"copy{number}.o"
        if not copied.exists():
            renamed = [f"--redefine-sym=sqlite3_{what}={what}_{number}" for what in ("open", "exec")]
            kept = [f"--keep-global-symbol={what}_{number}" for what in ("open", "exec")]
            call("objcopy", *renamed, *kept, one, copied)
        objects.append(copied)
    names = [f"{{open_{number}, exec_{number}}}" for number in range(count)]
    declared = [f"int open_{n}(const char*, void**), exec_{n}(void*, const char*, row, void*, char**);" for n in range(count)]
    main = folder / "main.c"
    main.write_text(
        "#include <stdio.h>\ntypedef int (*row)(void*, int, char**, char**);\n" + "\n".join(declared) + "\n"
        "struct { int (*open)(const char*, void**); int (*exec)(void*, const char*, row, void*, char**); } copies[] = {"
        + ", ".join(names) + "};\n"
        "static int show(void* data, int columns, char** values, char** heads) {\n"
        '  for (int i = 0; i < columns; ++i) printf("%s ", values[i]);\n'
        "  return 0;\n}\n"
        "int main(void) {\n"
        f"  const int chosen[] = {{0, {count // 2}, {count - 1}}};\n"
        "  for (int i = 0; i < 3; ++i) {\n    void* db;\n"
        f'    copies[chosen[i]].open(":memory:", &db);\n    printf("%d\\n", copies[chosen[i]].exec(db, "{SQL}", show, 0, 0));\n'
        "  }\n}\n"
    )
    image = folder / f"copies{count}"
    call("gcc", "-O2", "-w", main, *objects, "-Wl,--emit-relocs", "-lm", "-lpthread", "-o", image)
    return image, []


# ---- LLVM ----


def llvm(folder, count, lld):
    """The optimizer with code generators for the first `count` targets (None: for all)."""
    config = shutil.which("llvm-config-22")
    if config is None:
        return None
    library = call(config, "--libdir").strip()
    targets = call(config, "--targets-built").split()
    targets = sorted(targets, key=lambda name: name != "X86")[:count]
    parts = ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser")
    archives = {file.name for file in pathlib.Path(library).glob("*.a")}
    if lld and "liblldELF.a" not in archives:
        return None
    wanted = [f"LLVMInitialize{target}{part}" for target in targets for part in parts
              if part != "AsmParser" or f"libLLVM{target}AsmParser.a" in archives]
    (folder / "targets.inc").write_text("".join(f"TARGET({name})\n" for name in wanted))
    image = folder / ("lld" if lld else f"llvm{count or len(targets)}")
    flags = [flag for flag in call(config, "--cxxflags").split() if flag != "-fno-exceptions"]
    call("g++", "-O2", *flags, f"-I{folder}", *(["-DWITH_LLD"] if lld else []), HERE / "workloads" / "llvm.cc",
         "-Wl,--emit-relocs", f"-L{library}", *(["-llldELF", "-llldCommon"] if lld else []), "-Wl,--start-group",
         *call(config, "--link-static", "--libs", "all").split(), "-Wl,--end-group",
         *(f"-l{name}" for name in ("Polly", "PollyISL") if f"lib{name}.a" in archives),
         *call(config, "--link-static", "--system-libs").split(), "-fuse-ld=lld", "-o", image)
    script = folder / "input.ll"
    script.write_text((HERE / "workloads" / "llvm.ll").read_text())
    return image, [script]


def inputs(folder, only):
    """(kind, title, image, its words)."""
    for count in COPIES:
        title = f"SQLite, {count} {'copy' if count == 1 else 'copies'}"
        if only.search(title):
            yield "copies of SQLite", title, *copies_of_sqlite(folder, count)
    for title, count in [*TARGETS.items(), ("LLVM, all targets, lld", None)]:
        if not only.search(title):
            continue
        made = llvm(folder, count, title.endswith("lld"))
        if made is None:
            print(f"scale: WITHOUT {title}: llvm-22-dev or liblld-22-dev is not installed", file=sys.stderr)
        else:
            yield "LLVM", title, *made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--respike", default=ROOT / "build" / "respike")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="titles that match this regular expression")
    parser.add_argument("--plot", type=pathlib.Path, help="write a plot of time and memory by size, as SVG")
    args = parser.parse_args()
    print("| image | text MB | M instructions | layout | seconds | peak MB | seconds for 10 M | MB for 10 M |")
    print("|---|---:|---:|---|---:|---:|---:|---:|")
    points = {}
    with tempfile.TemporaryDirectory(prefix="respike-scale-") as name:
        folder = pathlib.Path(name)
        for kind, title, image, words in inputs(folder, re.compile(args.only)):
            info = json.loads(call(args.respike, "image", "info", "--json", image))
            expected, millions = call(image, *words), info["instructions"] / 1e6
            for layout in LAYOUTS:
                out = folder / "out"
                command = [args.respike, "image", "optimize", image, "-o", out, "--layout", layout]
                measured = [rewriting.measure(command) for _ in range(args.runs)]
                seconds, memory = min(s for s, _ in measured), max(m for _, m in measured)
                if call(out, *words) != expected:
                    sys.exit(f"scale: {title}, {layout}: the output behaves differently")
                points.setdefault(f"{kind}, {layout}", []).append((millions, seconds, memory))
                print(f"| {title} | {info['text_bytes'] / 1e6:.1f} | {millions:.2f} | {layout} | {seconds:.2f} | {memory:.0f} "
                      f"| {seconds / millions * 10:.1f} | {memory / millions * 10:.0f} |", flush=True)
            os.unlink(image)
    if args.plot:
        args.plot.write_text(plots.growth(points, ("seconds", "peak memory, MB"), "million instructions"))


if __name__ == "__main__":
    main()

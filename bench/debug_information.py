#!/usr/bin/env python3
"""The cost of rewriting debug information, compared with `llvm-bolt --update-debug-sections`, and whether it is right.

  bench/debug_information.py [--bolt llvm-bolt-22] [--only REGEX] [--runs 3] [--inputs FOLDER] > table.md

Programs are those of bench/peers.py, compiled with -g. Each tool lays a program out by the profile of one run. A row
gives seconds (the least of --runs) and peak memory in MB of rewriting with debug information and without it (Respike:
of the input after `objcopy --strip-debug`), the size of all .debug_* sections (output / input), and how many
instructions are described as in the input: an instruction's text without addresses that occurs once in its procedure
in input and output is taken for the same instruction; llvm-symbolizer has to give the same file, line, column and
inlined frames. Respike's own tests compare every instruction instead, by the address map that `image optimize` writes;
BOLT writes no such map of all instructions."""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import peers

HERE = pathlib.Path(__file__).resolve().parent
OBJDUMP = ("objdump", "-d", "--no-show-raw-insn", "-w")
SYMBOLIZER = "llvm-symbolizer-14"
PIECE = re.compile(r"(\.(cold|part|frag|constprop|isra|lto_priv)(\.\d+)*)+(/\d+)?$")


class Bolt(peers.Bolt):
    options = ("--update-debug-sections",)

    def rewrite(self, given, folder):
        command = [self.program, given.image, "-o", folder / "output", f"-data={folder / 'data.fdata'}", *peers.LAYOUT]
        return peers.succeed("rewrite", [*command, *self.options])

    def rewrite_without(self, given, folder):
        command = [self.program, given.image, "-o", folder / "without", f"-data={folder / 'data.fdata'}", *peers.LAYOUT]
        return peers.succeed("rewrite", command)


class Respike(peers.Respike):
    def rewrite_without(self, given, folder):
        bare = folder / "bare"
        subprocess.run(["objcopy", "--strip-debug", given.image, bare], check=True)
        return peers.succeed(
            "rewrite", [self.program, "image", "optimize", bare, "--profile", folder / "profile", "-o", folder / "without"]
        )


class Builder(peers.Builder):
    def everything(self):
        sqlite = self.sources / "sqlite3-amalgamation"
        script = self.folder / "training.sql"
        script.write_text(peers.sql.training(4000))
        files = [sqlite / "sqlite3.c", sqlite / "shell.c"]
        flags = ("-O2", "-g", *peers.PIE)
        arguments = ("-batch", ":memory:"), script
        self.add("SQLite", files, (*flags, "-lm", "-lpthread"), *arguments)
        self.add("SQLite clang", files, (*flags, "-lm", "-lpthread"), *arguments, compiler="clang")
        self.add("SQLite DWARF 4", files, (*flags, "-gdwarf-4", "-lm", "-lpthread"), *arguments)
        lua = [f for f in sorted((self.sources / "lua5.4" / "src").glob("*.c")) if f.name != "luac.c"]
        self.add("Lua", lua, (*flags, "-lm"), [HERE / "workloads" / "training.lua"])
        self.add("C++ exceptions", [peers.TESTS / "cxx" / "exceptions.cc"], (*flags, "-std=c++20"))


def debug_size(image):
    listing = subprocess.run(["readelf", "-SW", image], capture_output=True, text=True, check=True).stdout
    return sum(int(size, 16) for size in re.findall(r"\.debug_\w+ +PROGBITS +\w+ +\w+ +(\w+)", listing))


def instructions(image):
    """{(procedure, text without addresses): addresses}"""
    done = subprocess.run([*OBJDUMP, image], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    found, name = collections.defaultdict(list), ""
    for line in done.stdout.splitlines():
        if head := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            name = PIECE.sub("", head[1])
        elif body := re.match(r" +([0-9a-f]+):\t(.*)", line):
            text = re.sub(r"#.*|<.*", "", body[2]).strip()
            text = re.sub(r"-?0x[0-9a-f]+\(%rip\)", "(%rip)", text)
            if not re.match(r"(notrack )?(j|call|nop|xchg +%ax|data16|cs nop|lea +\(%rip\))", text):
                found[name, re.sub(r" +", " ", text)].append(int(body[1], 16))
    return found


def frames(image, addresses):
    command = [SYMBOLIZER, f"--obj={image}", "-i", "--output-style=JSON", "--no-demangle"]
    done = subprocess.run(command, input="\n".join(map(hex, addresses)), stdout=subprocess.PIPE, text=True, check=True)
    result = []
    for line in done.stdout.splitlines():
        symbol = json.loads(line).get("Symbol", [])
        result.append([(PIECE.sub("", f["FunctionName"]), f["FileName"], f["Line"], f["Column"]) for f in symbol])
    return result


def agreement(image, output):
    """(equal, compared)"""
    before, after = instructions(image), instructions(output)
    keys = [key for key, places in before.items() if len(places) == 1 and len(after.get(key, ())) == 1]
    left = frames(image, [before[key][0] for key in keys])
    right = frames(output, [after[key][0] for key in keys])
    return sum(a == b for a, b in zip(left, right)), len(keys)


def row(tool, given, folder, expected, runs):
    folder.mkdir()
    given.run(tool.count(given, folder), folder)
    tool.collect(folder)
    pairs = [(tool.rewrite(given, folder), tool.rewrite_without(given, folder)) for _ in range(runs)]
    output = folder / "output"
    works = peers.behaves(given, output, folder, expected)
    size = debug_size(output) / debug_size(given.image)
    # In a process of its own: the peak memory of a child is never below that of its parent.
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        equal, compared = pool.submit(agreement, given.image, output).result()
    cells = [given.name, tool.name, works]
    for outcomes in zip(*pairs):
        cells += [f"{min(o.seconds for o in outcomes):.2f}", f"{max(o.memory for o in outcomes):.0f}"]
    return [*cells, f"{size:.2f}", f"{equal:,} of {compared:,}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--respike", default=peers.ROOT / "build" / "respike")
    parser.add_argument("--bolt", default="llvm-bolt-22")
    parser.add_argument("--only", default=".")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--inputs", type=pathlib.Path)
    args = parser.parse_args()
    tools = [Respike(args.respike)]
    if shutil.which(args.bolt):
        tools.append(Bolt(args.bolt))
    print("| program | tool | works | seconds | MB | without: seconds | MB | debug sections | described as before |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        inputs = args.inputs or pathlib.Path(scratch) / "inputs"
        inputs.mkdir(parents=True, exist_ok=True)
        builder = Builder(inputs, args.only)
        builder.everything()
        for number, given in enumerate(builder.inputs):
            (pathlib.Path(scratch) / "expected").mkdir(exist_ok=True)
            expected = given.run(given.image, pathlib.Path(scratch) / "expected")
            for tool in tools:
                try:
                    cells = row(tool, given, pathlib.Path(scratch) / f"{number}{tool.name}", expected, args.runs)
                except peers.Failed as failure:
                    cells = [given.name, tool.name, str(failure), *[""] * 6]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Images of Windows NT for Alpha are counted exactly, and are laid out and measured by their counts.

The programs are those of pe_test.py. The oracle (oracle.py) counts the instrumented program's own execution, so both
sides count the same run. A counting program and its layouts behave like the original, at two bases; the counter file is
complete however the program ends."""

import collections
import functools
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

import common
import oracle
import pe_test
import profiles
from common import expect

LOADER = pathlib.Path(pe_test.NT).parent / "respike-nt-loader"
START_IMPORTS = {
    "CreateFileA", "CreateFileMappingA", "MapViewOfFile", "CloseHandle", "DeleteFileA", "GetCurrentProcessId",
    "GetSystemTimeAsFileTime",
}
# Shared counters are not exact with threads.
THREADED = ("threads",)


class Counting:
    """An instrumented image, and its profile."""

    def __init__(self, world, image, *options):
        self.folder = world.scratch.folder()
        self.image, self.spool = self.folder / image.name, self.folder / "spool"
        blocks = self.folder / "blocks"
        common.respike_ok(
            "image", "instrument", image, "-o", self.image, "--spool", self.spool, "--block-map", blocks, *options
        )
        lines = map(str.split, blocks.read_text().splitlines())
        self.places = {int(before, 16): int(after, 16) for before, after in lines}

    def files(self):
        return sorted(self.spool.glob("*.counts"))

    def profile(self):
        path = self.folder / "profile"
        common.respike_ok("image", "collect", *self.files(), "-o", path)
        return path

    def shown(self):
        return json.loads(common.respike_ok("profile", "show", self.profile(), "--json").stdout)


def compare_counts(profile, places, counted, some_edges=True):
    """Each block's count is the oracle's count of the block's first instruction; an edge that is the only way into a
    block has the count of the block. `some_edges`: there are such edges."""
    wrong, blocks, edges = [], 0, 0
    for procedure in profile["procedures"]:
        if not procedure["exact"]:
            continue
        ways = collections.Counter(edge["to"] for edge in procedure["edges"])
        count_at = {}
        for block in procedure["blocks"]:
            if block["address"] == 0:  # a block that lifting added
                continue
            blocks += 1
            expected = count_at[block["address"]] = counted.get(places[block["address"]], 0)
            if block["count"] != expected:
                wrong.append((procedure["name"], f"{block['address']:#x}", block["count"], expected))
        first = procedure["blocks"][0]["address"]
        for edge in procedure["edges"]:
            if ways[edge["to"]] != 1 or edge["to"] == first or edge["to"] not in count_at:
                continue
            edges += 1
            # More may come: by calls from elsewhere, by returns of setjmp().
            if edge["count"] > count_at[edge["to"]]:
                wrong.append((procedure["name"], f"edge to {edge['to']:#x}", edge["count"], count_at[edge["to"]]))
    expect(not wrong, f"{len(wrong)} of {blocks} blocks and {edges} edges: {wrong[:3]}")
    expect(blocks and (edges or not some_edges), "nothing was compared")


# The test world's functions are Linux's, and a fault of Linux's starts an instruction again.
def check_counts(world, name, high, counters, **options):
    original = world.image(name, high=high, symbols=True, **options)
    counting = Counting(world, original, "--counters", counters)
    for index, run in enumerate(pe_test.runs_of(name)):
        for base in pe_test.BASES:
            for file in counting.files():
                file.unlink()
            where = ["--base", hex(base)] if base else []
            seen = oracle.count(counting.image, run.args, stdin=run.stdin, loader=[LOADER, *where], folder=world.scratch.path)
            expected = world.expected(name, index)
            text = seen.outcome.status, re.sub(rb"[^\s:]*/program\b", b"PROGRAM", seen.outcome.stdout)
            wanted = world.text(expected, world.image(name))
            expect(text == wanted, f"run {index}: {common.describe_difference(expected, seen.outcome)}")
            expect(len(counting.files()) == 1, f"{len(counting.files())} counter files")
            if name not in THREADED or counters == "atomic":
                compare_counts(counting.shown(), counting.places, seen.images[counting.image])
            else:  # threads lose counts
                expect(counting.shown()["procedures"], "nothing was counted")


def check_left_out(world, name):
    """Prologs and epilogs leave few places for probes, but enough."""
    original = world.image(name, symbols=True)
    counting = Counting(world, original)
    run = pe_test.runs_of(name)[0]
    common.run_command([pe_test.NT, counting.image, *run.args], stdin=run.stdin, cwd=world.scratch.folder())
    shown = counting.shown()["procedures"]
    info = json.loads(common.respike_ok("image", "info", "--json", original).stdout)
    made = common.respike_ok("image", "instrument", "--json", original, "-o", world.scratch.file("x.exe"), "--spool", counting.spool)
    used = info["procedures"] - info["opaque_procedures"] - json.loads(made.stdout)["unused_procedures"]
    expect(len(shown) >= 0.9 * used, f"{len(shown)} of {used} procedures are counted")


def check_tables(world, name):
    """Prologs are whole, old imports stay where they were, and new imports belong to the start code."""
    original = world.image(name, symbols=True)
    counting = Counting(world, original)
    pe_test.check_tables(counting.image, original)
    before, after = (imports(pe_test.Image(path)) for path in (original, counting.image))
    expect(before.items() <= after.items(), "imports of the input are elsewhere")
    added = {function for function, library in after.values() if library == "KERNEL32.dll"}
    expect(added == START_IMPORTS and len(after) == len(before) + len(added), f"{added}")


def imports(image):
    """{rva of the slot: (name, library)}"""
    found = {}
    place, _ = image.directories[1]
    while image.word(place + 12):
        names, library, slots = image.word(place), image.word(place + 12), image.word(place + 16)
        for i in range(0, 1 << 20, 4):
            name = image.word(names + i)
            if name == 0:
                break
            found[slots + i] = text(image, name + 2), text(image, library)
        place += 20
    return found


def text(image, rva):
    result = b""
    while (byte := image.at(rva + len(result), 1)) != b"\0":
        result += byte
    return result.decode()


def check_profiled(world, name):
    """Laid out by a profile of its own run, by the inverted and by a random one, a program does the same."""
    original = world.image(name, symbols=True)
    counting = Counting(world, original)
    run = pe_test.runs_of(name)[0]
    common.run_command([pe_test.NT, counting.image, *run.args], stdin=run.stdin, timeout=600, cwd=world.scratch.folder())
    profile, folder = counting.profile(), world.scratch.folder()
    inverted = profiles.make("inverted", profile, folder / "inverted")
    for each in (profile, inverted, profiles.make("random", "1", original, folder / "random")):
        output = world.scratch.file(f"{name}.exe")
        common.optimize(original, output, "--profile", each)
        pe_test.check_tables(output, original)
        world.check(name, output, f"by {each.name}")
        common.respike_ok("image", "verify", original, output)
    world.shared(("profile", name), lambda: profile)


def check_ends(world):
    """Counts are in the file however the program ends; a program that finds no spool runs all the same."""
    counting = Counting(world, world.image("ends", symbols=True))

    def executed(*words, kill=False):
        for file in counting.files():
            file.unlink()
        process = subprocess.Popen([pe_test.NT, counting.image, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if kill:
            expect(process.stdout.readline() == b"go\n", "it did not start")
            time.sleep(0.2)
            process.send_signal(signal.SIGKILL)
        process.communicate()
        return sum(b["count"] for p in counting.shown()["procedures"] for b in p["blocks"]), process.returncode

    for words, kill, status in (
        (("exit",), False, 3),
        (("return",), False, 1),
        (("endless",), True, -signal.SIGKILL),
    ):
        count, actual = executed(*words, kill=kill)
        expect(actual == status, f"status {actual}")
        expect(count > 10_000, f"{count} blocks ran before the end")
    for file in counting.files():
        file.unlink()
    counting.spool.rmdir()
    outcome = common.run_command([pe_test.NT, counting.image])
    expect((outcome.status, outcome.stdout) == (0, b"1\n"), f"{outcome}")
    expect(not counting.spool.exists(), "the program made a spool")


def check_measured(world, name):
    """Measuring counts the instructions that the oracle counts; compare works with images of Windows."""
    original = world.image(name, symbols=True)
    output = world.scratch.file(f"{name}.exe")
    common.optimize(original, output, "--layout", "random", "--seed", "3")
    for path in (original, output):
        path.chmod(0o755)
    outcome = common.respike_ok("measure", "--json", "--", original, "a")
    figures = json.loads(outcome.stdout[outcome.stdout.index(b"{") :])
    # The program's output goes to stderr.
    expect(world.expected(name, 1).stdout[-20:] in outcome.stderr, outcome.stderr.decode()[-300:])
    expect(figures["model"] == "alpha21164" and figures["instructions"] > 1000, f"{figures}")
    compared = json.loads(common.respike_ok("compare", "--json", original, output, "--", "a").stdout)
    expect(compared["same_output"] is True, f"{compared}")
    expect(compared["after"]["cycles"] != compared["before"]["cycles"], "a random layout costs the same")


# How many procedures have another signature, and why: docs/profiles.md.
OTHER_SIGNATURES = {"bzip2": 3, "lua": 4, "sqlite3": 14}
STREAMS = "#include <stdio.h>\nFILE* respike_nt_stream(int n) { return n == 0 ? stdin : n == 1 ? stdout : stderr; }\n"


def check_signatures(world, name):
    """The same assembly of gcc, linked for Linux and converted for Windows NT: nearly all procedures have the same
    signature, so a profile of one program is good for the other."""
    elf, streams = world.scratch.file(name), world.scratch.file("streams.c")
    streams.write_text(STREAMS)
    assembly = [o.with_name(o.name.removesuffix(".o") + ".gcc.s") for o in world.objects(name)]
    outcome = common.run_command(
        ["alpha-linux-gnu-gcc", "-O2", *assembly, streams, "-o", elf, "-static", "-Wl,-q", "-lm"], timeout=600
    )
    expect(outcome.status == 0, outcome.stderr.decode()[-500:])
    signatures = []
    for image in (elf, world.image(name, symbols=True)):
        profile = profiles.make("zero", image, world.scratch.file("profile"))
        shown = json.loads(common.respike_ok("profile", "show", profile, "--json").stdout)["procedures"]
        times = collections.Counter(p["name"] for p in shown)
        signatures.append({p["name"]: p["signature"] for p in shown if times[p["name"]] == 1})
    both = signatures[0].keys() & signatures[1].keys()
    other = sorted(n for n in both if signatures[0][n] != signatures[1][n])
    expect(len(both) > 60 and len(other) <= OTHER_SIGNATURES[name], f"{len(other)} of {len(both)}: {other}")


def far_program(world):
    """A program with 9 MB of code: procedures with a short way and 160 KB that run only if the argument is 0."""
    parts, called, folder = 56, range(30, 56), world.scratch.folder()  # calls reach 4 MB
    code = ["\t.set noat\n\t.set noreorder\n\t.text"]
    for n in range(parts):
        code.append(
            f"\t.globl part{n}\n\t.ent part{n}\n\t.type part{n},@function\npart{n}:\n\t.frame $30,0,$26,0\n\t.prologue 0\n"
            f"\tbeq $16,1f\n\taddq $16,{n},$0\n\tret $31,($26),1\n1:\t.rept 40000\n\taddq $1,$2,$3\n\t.endr\n"
            f"\tlda $0,{n}($31)\n\tret $31,($26),1\n\t.end part{n}"
        )
    (folder / "parts.s").write_text("\n".join(code) + "\n")
    source = "#include <stdio.h>\n" + "".join(f"long part{n}(long);\n" for n in range(parts))
    source += "int main(int argc, char** argv) {\n  long s = 0, x = argc > 1 ? 0 : 5;\n"
    source += "".join(f"  s = s * 3 + part{n}(x);\n" for n in called) + '  printf("%ld\\n", s);\n  return 0;\n}\n'
    (folder / "main.c").write_text(source)
    image = folder / "far.exe"
    objects = pe_test.images.compile_sources([folder / "parts.s", folder / "main.c"], folder)
    image.write_bytes(pe_test.link.link(objects, pe_test.link.Options(symbols=True)))
    return image


def check_far(world):
    """Code that never ran moves out of reach of branches: stubs lead there, and the next rewriting knows the stubs."""
    original = far_program(world)
    counting = Counting(world, original)
    expect(common.run_command([pe_test.NT, counting.image]).status == 0, "the counting program failed")
    output, again, report = (world.scratch.file(name) for name in ("far.exe", "again.exe", "report"))
    common.optimize(original, output, "--profile", counting.profile(), "--report", report)
    expect(json.loads(report.read_text())["far_stubs"] > 0, "no far stubs")
    common.optimize(output, again, "--layout", "random", "--seed", "1")
    for args in ((), ("x",)):
        expected = common.run_command([pe_test.NT, original, *args])
        for image in (output, again):
            for base in pe_test.BASES:
                where = ["--base", hex(base)] if base else []
                actual = common.run_command([pe_test.NT, *where, image, *args])
                expect(actual == expected, common.describe_difference(expected, actual))
    common.respike_ok("image", "verify", original, output)


def check_refusals(world):
    """Damaged import tables, and counters for each thread."""
    good = world.image("offsets").read_bytes()
    image, output = pe_test.Image(world.image("offsets")), world.scratch.file("out.exe")
    changed = world.scratch.file("changed.exe")
    data = bytearray(good)
    data[0x80 + 24 + 96 + 8 : 0x80 + 24 + 96 + 12] = (image.directories[1][0] + 0x700000).to_bytes(4, "little")
    changed.write_bytes(data)
    pe_test.expect_refusal(["image", "instrument", changed, "-o", output], "import tables are damaged|directory")
    pe_test.expect_refusal(
        ["image", "instrument", world.image("offsets"), "-o", output, "--counters", "threads"], "no register for that"
    )
    counting = Counting(world, world.image("offsets"))
    pe_test.expect_refusal(["image", "optimize", counting.image, "-o", output], "instrumented image")
    expect(not output.exists(), "a refused image left an output")


def cases(scratch):
    world = pe_test.World(scratch)

    def case(name, function, *arguments):
        return common.Case(name, functools.partial(function, world, *arguments))

    yield case("refusals", check_refusals)
    programs = [n for n in (*pe_test.SMALL, "lua", "bzip2", "sqlite3") if pe_test.sources_of(n)]
    for name in programs:
        for counters in ("shared", "atomic"):
            for high in (False, True):
                yield case(f"{name} counts {counters} {'high' if high else 'adj'}", check_counts, name, high, counters)
        yield case(f"{name} profiled", check_profiled, name)
        yield case(f"{name} tables", check_tables, name)
        yield case(f"{name} left out", check_left_out, name)
    yield case("kernels measured", check_measured, "kernels")
    yield case("far stubs", check_far)
    for name in sorted(OTHER_SIGNATURES.keys() & set(programs)):
        yield case(f"{name} signatures", check_signatures, name)
    yield case("ends", check_ends)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

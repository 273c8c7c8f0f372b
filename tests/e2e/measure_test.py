#!/usr/bin/env python3
"""measure and compare: exact counts, repeatable figures, the same work for both programs, and
messages and exit status when something is wrong.

The oracle counts instructions in the same run: the emulator takes both plugins at once.
tests/unit/alpha21164_*_test.cc test the model; here a program that can be followed by hand shows
that the plugin feeds the model right. RESPIKE_SLOWDOWN is how many times the processor time of
plain QEMU a measured run may take (default 8)."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

import common
import oracle

expect = common.expect

MAX_SLOWDOWN = float(os.environ.get("RESPIKE_SLOWDOWN", 8))
PLUGIN = pathlib.Path(common.RESPIKE).parent / "respike-measure.so"
FIELDS = (
    "instructions cycles cycles_c taken_branches taken_jumps mispredicts icache_misses "
    "refill_hits l2_icache_misses itb_misses"
).split()

# measure/plugins/measurement_file.h
HEADER = struct.Struct("<8sII")
EVENTS = 37 * 8  # bytes of measure::Events

# A thousand calls and returns; exit status 7.
CALLS = """
        .set    noat
        .set    noreorder
        .set    nomacro
        .text
        .globl  __start
        .ent    __start
__start:
        .frame  $30,0,$26,0
        .prologue 0
        lda     $1,1000($31)
1:      bsr     $26,twice
        subq    $1,1,$1
        bgt     $1,1b
        lda     $16,7($31)
        lda     $0,1($31)
        call_pal 0x83
        .end    __start

        .ent    twice
twice:  .frame  $30,0,$26,0
        .prologue 0
        addq    $1,$1,$2
        ret     $31,($26),1
        .end    twice
"""

# The output and status of this program depend on its arguments, its input and its environment.
ECHO = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  for (int i = 0; i < argc; i++) printf("<%s>", argv[i]);
  const char* value = getenv("VALUE");
  printf("\n%s\n", value ? value : "none");
  for (int c; (c = getchar()) != EOF;) putchar(c);
  fprintf(stderr, "%s", LAST_WORDS);
  return STATUS;
}
"""


def build(scratch, source, suffix, *options):
    folder = scratch.folder()
    (folder / f"source{suffix}").write_text(source)
    command = ["alpha-linux-gnu-gcc", "-O1", *options, "-Wl,-q", f"source{suffix}", "-o", "program"]
    outcome = common.run_command(command, cwd=folder)
    expect(outcome.status == 0, outcome.stderr.decode())
    return folder / "program"


def build_echo(scratch, status=0, last_words="end"):
    return build(scratch, ECHO, ".c", f"-DSTATUS={status}", f'-DLAST_WORDS="{last_words}"')


def measure(program, *args, **options):
    """The fields that measure prints for a run, which must succeed."""
    return json.loads(common.respike_ok("measure", "--json", "--", program, *args, **options).stdout)


def check_fields(m):
    for field in FIELDS:
        expect(isinstance(m.get(field), int) and m[field] >= 0, f"{field}: {m.get(field)!r}")
    expect(m["model"] == "alpha21164", f"model {m['model']!r}")
    expect(sum(m["breakdown"].values()) == m["cycles"], "the breakdown is not the cycles")
    memory = m["icache_misses"] - m["refill_hits"]
    formula = m["taken_branches"] + 8 * memory + 2 * m["refill_hits"]
    formula += 25 * m["l2_icache_misses"] + 30 * m["itb_misses"]
    expect(abs(m["cycles_c"] - formula - 1.1 * m["instructions"]) <= 0.5, "cycles_c")
    expect(m["taken_jumps"] <= m["taken_branches"] <= m["instructions"], "taken branches")
    expect(m["refill_hits"] <= m["icache_misses"] <= m["instructions"], "icache misses")
    expect(m["cycles"] >= m["instructions"] / 4, "more than four instructions a cycle")


# --- Figures --------------------------------------------------------------------------------------


def check_calls(scratch):
    m = measure(build(scratch, CALLS, ".s", "-nostdlib", "-static"))
    check_fields(m)
    for field, value in {
        "instructions": 1 + 5 * 1000 + 3,
        "taken_branches": 1000 + 1000 + 999,
        "taken_jumps": 999,
        "conditional_branches": 1000,
        "mispredicts": 2,  # the first and the last time of the loop's branch
        "exit_status": 7,
        "processes": 1,
        "itb_misses": 1,
    }.items():
        expect(m[field] == value, f"{field}: {m[field]} instead of {value}")


def read_instructions(path):
    """The instructions of all threads of a process."""
    with open(path, "rb") as file:
        magic, _, threads = HEADER.unpack(file.read(HEADER.size))
        expect(magic == b"RSPKMSR3", f"{path}: {magic!r}")
        return sum(struct.unpack_from("<Q", file.read(EVENTS))[0] for _ in range(threads))


def check_oracle(program):
    """Both plugins count the same instructions of the same run."""
    run = program.runs[0]
    with tempfile.TemporaryDirectory(prefix="respike-measure-test-") as folder:
        folder = pathlib.Path(folder)
        libraries = common.link_libraries(program, folder / "libraries")
        (folder / "results").mkdir()
        counts = oracle.count(
            program.image,
            run.args,
            images=[],
            stdin=run.stdin,
            libraries=libraries,
            options=["-plugin", f"{PLUGIN},out={folder}/results/r,model=alpha21164"],
        )
        files = list((folder / "results").iterdir())
        total = sum(map(read_instructions, files))
    expect(len(files) == len(counts.processes), f"{len(files)} of {len(counts.processes)} processes")
    expect(total == counts.total, f"{total} instructions instead of {counts.total}")


def check_repetition(program):
    run = program.runs[0]
    with tempfile.TemporaryDirectory(prefix="respike-measure-test-") as folder:
        first, second = (
            measure(program.image, *run.args, stdin=run.stdin, cwd=folder) for _ in range(2)
        )
    check_fields(first)
    expect(first == second, f"{first} became {second}")


def check_slowdown(program):
    """Measures processor time, since other work on the machine changes it little. Runs alone."""
    run = program.runs[0]
    plain = common.QEMU + ["-0", str(program.image), program.image, *run.args]
    measured = [common.RESPIKE, "measure", "--", program.image, *run.args]
    commands = [lambda c=command: common.processor_seconds(lambda: common.run_command(c, stdin=run.stdin)) for command in (plain, measured)]
    once, model = common.least_times(commands, lambda once, model: model <= MAX_SLOWDOWN * once, times=3)
    times = model / once
    print(f"{program.name}: {times:.2f} times the {once:.2f} s of plain QEMU", flush=True)
    expect(times <= MAX_SLOWDOWN, f"{times:.1f} times as slow")


# --- The program's view ---------------------------------------------------------------------------


def check_surroundings(scratch):
    words = ["[a,b]", "--", "", "--json", "measure", "-x"]
    echo = build_echo(scratch, status=3)
    given = scratch.file("input")
    given.write_text("from outside")
    environment = dict(os.environ, VALUE="kept")
    outcome = common.respike_ok("measure", "--", echo, *words, stdin=given, env=environment)
    seen = "".join(f"<{w}>" for w in [echo, *words]) + "\nkept\nfrom outside"
    expect(seen.encode() in outcome.stderr, f"the program printed {outcome.stderr!r}")
    expect(b"end" in outcome.stderr and seen.encode() not in outcome.stdout, "its outputs")
    expect(b"exit status was 3" in outcome.stderr, "its exit status is not told")
    for label in (b"instructions", b"cycles", b"issue", b"itb misses"):
        expect(label in outcome.stdout, f"no {label} in {outcome.stdout}")


def check_table(scratch):
    echo = build_echo(scratch)
    outcome = common.respike_ok("compare", echo, echo, "--", "x")
    for label in (b"instructions", b"cycles", b"speedup                 1.000\n", b"same output             yes"):
        expect(label in outcome.stdout, f"no {label} in {outcome.stdout}")
    for word in (b"model C", b"refill buffer"):
        expect(word not in outcome.stdout, f"{word} explains what nobody asked: {outcome.stdout}")
    outcome = common.respike_ok("compare", echo, echo, "--explain", "--", "x")
    for label in (b"cycles by model C", b"refill buffer", b"speedup                 1.000, by model C 1.000\n"):
        expect(label in outcome.stdout, f"no {label} in {outcome.stdout}")


def compare(before, after, *args, **options):
    """The outcome of compare and its JSON."""
    outcome = common.respike("compare", before, after, "--json", "--", *args, **options)
    return outcome, json.loads(outcome.stdout)


def check_same(program, scratch):
    """A program whose blocks were shuffled does the same work."""
    run = program.runs[0]
    shuffled = scratch.file("shuffled")
    common.optimize(program.image, shuffled, "--layout", "random", "--seed", "1")
    outcome, c = compare(program.image, shuffled, *run.args, stdin=run.stdin, cwd=scratch.folder())
    expect(outcome.status == 0 and not outcome.stderr, f"{outcome.status}: {outcome.stderr!r}")
    expect(c["same_output"] is True, "not the same output")
    check_fields(c["before"])
    check_fields(c["after"])
    for field in ("cycles", "cycles_c", "taken_jumps"):
        expect(c["after"][field] > 1.04 * c["before"][field], f"{field}: {c}")


def check_equal(scratch):
    """Two copies, one with a longer name, give the same figures: they cannot see their names."""
    echo = build_echo(scratch)
    longer = scratch.file("a-copy-with-a-longer-name-than-the-other-one")
    longer.write_bytes(echo.read_bytes())
    longer.chmod(0o755)
    outcome, c = compare(echo, longer, "[a,b]", "", "--", stdin="/etc/hostname")
    expect(outcome.status == 0 and c["same_output"], f"{outcome.stderr!r}")
    expect(c["before"] == c["after"], f"{c['before']} became {c['after']}")


def check_different(scratch):
    before = build_echo(scratch)
    for what, after in {
        "exit status is 5 instead of 0": build_echo(scratch, status=5),
        "standard error differs from byte 2": build_echo(scratch, last_words="enough"),
        "standard output differs from byte": build(
            scratch, '#include <stdio.h>\nint main() { puts("<"); return 0; }', ".c"
        ),
    }.items():
        outcome, c = compare(before, after)
        message = outcome.stderr.decode()
        expect(outcome.status == 1, f"{what}: status {outcome.status}")
        expect(c["same_output"] is False, f"{what}: the same output")
        expect(what in message and message.count("\n") == 1, f"{what}: {message!r}")


def check_same_failure(scratch):
    """Two programs that fail in the same way are reported differently from two programs that succeed."""
    echo = build_echo(scratch, status=4)
    outcome = common.respike_ok("compare", echo, echo, "--", "x")
    expect(b"exit status of both programs was 4\n" in outcome.stderr, f"{outcome.stderr!r}")
    outcome = common.respike_ok("compare", echo, echo, "--json", "--", "x")
    expect(not outcome.stderr, f"{outcome.stderr!r}")


def check_library_path(scratch):
    """The program's own libraries are found where LD_LIBRARY_PATH says."""
    folder = scratch.folder()
    (folder / "own.c").write_text("int own(void) { return 9; }")
    (folder / "main.c").write_text("int own(void); int main(void) { return own(); }")
    for words in (["-shared", "-fPIC", "own.c", "-o", "libown.so"], ["main.c", "-L.", "-lown"]):
        built = common.run_command(["alpha-linux-gnu-gcc", *words], cwd=folder)
        expect(built.status == 0, built.stderr.decode())
    environment = dict(os.environ, LD_LIBRARY_PATH=str(folder))
    expect(measure(folder / "a.out", env=environment)["exit_status"] == 9, "no library")
    same = ["compare", folder / "a.out", folder / "a.out"]
    common.respike_ok(*same, env=environment)


# --- Interrupted ----------------------------------------------------------------------------------

ENDLESS = "int main(int argc, char** argv) { for (volatile int i = argc;; i++); }"


def children_of(process):
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    return [int(child) for child in pathlib.Path(path).read_text().split()]


def check_interrupted(command, number, scratch):
    """After a signal no file and no child is left; the command ends by the signal, as if nothing
    had been delayed."""
    folder = scratch.folder()
    process = subprocess.Popen(
        [common.RESPIKE, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, TMPDIR=str(folder)),
        start_new_session=True,
    )
    children = []
    try:
        for _ in range(600):
            children = children_of(process)
            if list(folder.glob("*/results/*")):
                break
            time.sleep(0.1)
        expect(children and list(folder.iterdir()), "the program does not run")
        process.send_signal(number)
        _, message = process.communicate(timeout=common.TOOL_TIMEOUT)
    finally:
        alive = [p for p in children if pathlib.Path(f"/proc/{p}").exists()]
        process.kill()
        for child in alive:
            os.kill(child, signal.SIGKILL)
    expect(process.returncode == -number, f"{process.returncode}: {message!r}")
    expect(not alive, "the program still runs")
    expect(not list(folder.iterdir()), f"left behind: {list(folder.iterdir())}")


# --- Errors ---------------------------------------------------------------------------------------


def check_problem(command, status, text, **options):
    outcome = common.respike(*command, **options)
    message = outcome.stderr.decode()
    expect(outcome.status == status, f"status {outcome.status}: {message}")
    expect(not outcome.stdout, f"it printed {outcome.stdout!r}")
    expect(text in message, f"{text!r} is not in {message!r}")
    if status == 1:
        expect(message.startswith("respike: ") and message.count("\n") == 1, repr(message))


def problems(scratch):
    """[(what, command, exit status, part of the message, options)]"""
    program = common.first_program("calls.static").image
    script, folder, locked = scratch.file("script"), scratch.folder(), scratch.file("locked")
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    locked.write_bytes(program.read_bytes())
    locked.chmod(0o644)
    aborts = common.first_program("signals.static").image
    nowhere = {"PATH": "/nowhere"}
    library = next(path for name, path in common.all_images() if name.startswith("libplugin"))
    unknown = scratch.file("aarch64")
    header = bytearray(program.read_bytes())
    header[18:20] = struct.pack("<H", 183)
    unknown.write_bytes(header)
    unknown.chmod(0o755)
    temporary = [dict(os.environ, TMPDIR=name) for name in ("/nowhere", "/proc")]
    dynamic = common.first_program("calls.dynamic").image
    no_sysroot = dict(os.environ, QEMU_LD_PREFIX="/nowhere")
    return [
        ("no program", ["measure"], 2, "PROGRAM", {}),
        ("no dashes", ["measure", program], 2, str(program), {}),
        ("unknown option", ["measure", "--fast", "--", program], 2, "--fast", {}),
        ("unknown model", ["measure", "--model", "vax", "--", program], 2, "vax", {}),
        ("one program", ["compare", program], 2, "AFTER", {}),
        ("one program here", ["compare", program.name], 2, "AFTER", {"cwd": program.parent, "env": dict(os.environ, RESPIKE_DB="/nowhere/x")}),
        ("itanium2", ["measure", "--model", "itanium2", "--", program], 1, "program for Itanium", {}),
        ("itanium2, two", ["compare", "--model", "itanium2", program, program], 1, "Itanium", {}),
        ("missing", ["measure", "--", "/nowhere/x"], 1, "no such program", {}),
        ("missing second", ["compare", program, "/nowhere/x"], 1, "/nowhere/x: there is no", {}),
        ("folder", ["measure", "--", folder], 1, "not a program", {}),
        ("script", ["measure", "--", script], 1, "a script, not an ELF program: measure the program", {}),
        ("another machine's", ["measure", "--", unknown], 1, "there is no model", {}),
        ("host's, two", ["compare", program, sys.executable], 1, "not a program for Alpha", {}),
        ("library", ["measure", "--", library], 1, "it is a library", {}),
        ("not executable", ["measure", "--", locked], 1, "may not be executed", {}),
        ("no TMPDIR", ["measure", "--", program], 1, "/nowhere: nothing tem", {"env": temporary[0]}),
        ("no TMPDIR, two", ["compare", program, program], 1, "TMPDIR", {"env": temporary[0]}),
        ("odd TMPDIR", ["measure", "--", program], 1, "/proc: nothing tem", {"env": temporary[1]}),
        ("no emulator", ["measure", "--", program], 1, "qemu-alpha is not", {"env": nowhere}),
    ], [
        ("killed", ["measure", "--", aborts], "killed by signal 6", {}),
        ("no sysroot", ["measure", "--", dynamic], "executed nothing", {"env": no_sysroot}),
    ]


def check_failed_run(command, text, **options):
    """The messages of the program come before the message of the command."""
    outcome = common.respike(*command, **options)
    last = outcome.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    expect(outcome.status == 1, f"status {outcome.status}")
    expect(last.startswith("respike: ") and text in last, f"{last!r}")
    expect(not outcome.stdout, f"it printed {outcome.stdout!r}")


def check_full(scratch):
    """On a file system without room the emulator says so, and the program gets no SIGBUS."""
    program, folder = common.first_program("calls.static").image, scratch.folder()
    script = (
        'mount -t tmpfs -o size=24k none "$0" || exit 77; '
        'dd if=/dev/zero of="$0/fill" bs=4096 count=6 2>&- ; TMPDIR="$0" "$@"'
    )
    outcome = common.run_command(
        ["unshare", "--mount", "sh", "-c", script, folder, common.RESPIKE, "measure", "--", program]
    )
    if outcome.status == 77 or b"unshare" in outcome.stderr:
        raise common.Skip("no file system can be mounted here")
    text = outcome.stderr.decode()
    expect(outcome.status == 1 and "no room for the measurement" in text, f"{outcome}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    light = [p for p in common.load_programs() if not p.heavy]
    some = [p for p in light if not p.threads and p.variant == ""]
    real = [p for p in map(common.find_program, ("sqlite3.static", "lua.static")) if p]
    heavy = [p for p in real if p.heavy]
    with common.Scratch() as scratch:
        cases = [
            common.Case("calls", lambda: check_calls(scratch)),
            common.Case("surroundings", lambda: check_surroundings(scratch)),
            common.Case("table", lambda: check_table(scratch)),
            common.Case("equal programs", lambda: check_equal(scratch)),
            common.Case("different programs", lambda: check_different(scratch)),
            common.Case("same failure", lambda: check_same_failure(scratch)),
            common.Case("library path", lambda: check_library_path(scratch)),
            common.Case("full file system", lambda: check_full(scratch)),
        ]
        endless = build(scratch, ENDLESS, ".c")
        cases += [
            common.Case(
                f"{words[0]} and {number.name}",
                lambda w=words, n=number: check_interrupted(w, n, scratch),
            )
            for words in (["measure", "--", endless], ["compare", endless, endless])
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ]
        cases += [
            common.Case(f"oracle {p.name}", lambda p=p: check_oracle(p)) for p in light + heavy
        ]
        cases += [
            common.Case(f"repetition {p.name}", lambda p=p: check_repetition(p))
            for p in some + heavy
            if p.program not in ("processes", "signals")
        ]
        cases += [
            common.Case(f"shuffled {p.name}", lambda p=p: check_same(p, scratch))
            for p in some + heavy
            if p.program in ("interpreter", "switches", "sqlite3") and p.kind == "static"
        ]
        usual, late = problems(scratch)
        cases += [
            common.Case(f"problem: {w}", lambda c=c, s=s, t=t, o=o: check_problem(c, s, t, **o))
            for w, c, s, t, o in usual
        ]
        cases += [
            common.Case(f"problem: {w}", lambda c=c, t=t, o=o: check_failed_run(c, t, **o))
            for w, c, t, o in late
        ]
        status = common.run_cases(cases, args)
        alone = [common.Case(f"slowdown {p.name}", lambda p=p: check_slowdown(p)) for p in real]
        if common.is_sampled():
            del alone[:-1]
        for case in alone:
            status |= common.run_cases([case], args) if args.filter in case.name else 0
        return status


if __name__ == "__main__":
    sys.exit(main())

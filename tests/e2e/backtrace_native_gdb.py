"""Runs inside gdb for backtrace_native_test.py: stops one image, which the host runs, at entries of procedures.

The environment variable BACKTRACE_JOB names a JSON file with: result, entry (e_entry), entries (addresses of
procedures), passes (which entry of a procedure is its last stop), steps (for each stop the number of substantial
instructions to go on from the entry), arguments and stdin of the program. The result is a list with an entry for each
stop: the address of the procedure and the addresses of the call stack, all without the load bias. The list is shorter
than `steps` if the program ends early."""

import json
import os
import re
import shlex
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gdb_stacks  # noqa: E402

JOB = json.load(open(os.environ["BACKTRACE_JOB"]))
# Direct jumps and no-ops, which layouts add and remove.
GLUE = re.compile(r"(jmp[a-z]* +0x|(data16 |cs )*nop|xchg +%ax,%ax)")


def program_counter():
    return int(gdb.parse_and_eval("(unsigned long)$pc"))


def read_bias():
    for line in gdb.execute("info auxv", to_string=True).splitlines():
        if "AT_ENTRY" in line:
            return int(line.split()[-1], 16) - JOB["entry"]
    raise gdb.GdbError("no AT_ENTRY")


def alive():
    thread = gdb.selected_thread()
    return thread is not None and thread.is_valid()


def is_glue():
    (line,) = gdb.selected_frame().architecture().disassemble(program_counter())
    return GLUE.match(line["asm"]) is not None


def step():
    gdb.execute("stepi", to_string=True)
    return alive()


def skip_glue():
    while alive() and is_glue():
        step()


def go_on(steps):
    """Over so many substantial instructions; whether the program still runs."""
    skip_glue()
    for _ in range(steps):
        if not alive() or not step():
            return False
        skip_glue()
    return alive()


def visit(bias, breakpoints):
    """The stops, in the order in which the program comes to them."""
    stops = []
    while len(stops) < len(JOB["steps"]):
        gdb.execute("continue", to_string=True)
        if not alive():
            break
        at = program_counter()
        if at not in breakpoints:
            raise gdb.GdbError(f"stopped at {at:#x}")
        breakpoint = breakpoints[at]
        if breakpoint.hit_count >= JOB["passes"]:
            breakpoint.delete()
            del breakpoints[at]
        if not go_on(JOB["steps"][len(stops)]):
            break
        stops.append([at - bias, gdb_stacks.call_stack(bias)])
    return stops


def main():
    for setting in (
        "pagination off",
        "confirm off",
        "backtrace past-main on",
        "step-mode on",
        "disassembly-flavor att",
        "debuginfod enabled off",
    ):
        gdb.execute(f"set {setting}")
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute("handle SIGTRAP stop noprint nopass", to_string=True)
    arguments = " ".join(map(shlex.quote, JOB["arguments"]))
    gdb.execute(f"set args {arguments} < {shlex.quote(JOB['stdin'])} > /dev/null 2>&1")
    gdb.execute("starti", to_string=True)
    bias = read_bias()
    breakpoints = {}
    for entry in JOB["entries"]:
        breakpoints[entry + bias] = gdb.Breakpoint(f"*{entry + bias:#x}")
    stops = visit(bias, breakpoints)
    with open(JOB["result"], "w") as out:
        json.dump(stops, out)
    if alive():
        gdb.execute("kill", to_string=True)


main()

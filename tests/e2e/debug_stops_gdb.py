"""Runs inside gdb for debug_stops_test.py: stops one image at instructions, or counts how often lines are reached.

The environment variable DEBUG_JOB names a JSON file with: result; entry (e_entry); arguments and stdin of the program,
or the socket of an emulator that waits for gdb; frames (how many are shown, or 0); stops, a list of [key, addresses, passes];
lines, a list of FILE:LINE; most_hits.

The result has: bias (of the addresses in the program), stops: a list of [key, text of the
stack, places of its variables, levels of frames that end in a tail call] in the order of the run, each when the program comes for the `passes`th time to one of the addresses; lines: for
each line {hits of the breakpoint FILE:LINE, statements: [address, hits] of all of the line's statements, at most most_hits
each, places: where gdb put the breakpoint}, or null where gdb knows no code of the line."""

import json
import os
import shlex

import gdb

JOB = json.load(open(os.environ["DEBUG_JOB"]))
SETTINGS = (
    *("pagination off", "confirm off", "width 0", "debuginfod enabled off", "print symbol off", "auto-load python-scripts off"),
    *("print elements 60", "print repeats 1000", "print entry-values default", "print finish on", "startup-with-shell on"),
    *("print static-members off", "print frame-arguments all", "breakpoint always-inserted on"),
)

# On Alpha gdb takes a stop after a software breakpoint for a stop at it.
KIND = gdb.BP_HARDWARE_BREAKPOINT if JOB["socket"] else gdb.BP_BREAKPOINT
HEAP = 0x130000000  # after all images, where the heap starts
# Of the system call `brk`: the instruction, and its registers, with None for the argument.
CALLS = {
    "x86_64": (b"\x0f\x05", {"rax": 12, "rdi": None, "rcx": 0, "r11": 0, "pc": 0}),
    "alpha": ((0x83).to_bytes(4, "little"), {"v0": 17, "a0": None, "a3": 0, "pc": 0}),
}


def ask(command):
    return gdb.execute(command, to_string=True)


def alive():
    thread = gdb.selected_thread()
    return thread is not None and thread.is_valid()


def read_bias():
    for line in ask("info auxv").splitlines():
        if "AT_ENTRY" in line:
            return int(line.split()[-1], 16) - JOB["entry"]
    raise gdb.GdbError("no AT_ENTRY")


def find_instruction(code, start):
    """The address of such an instruction after `start`: the program starts in the dynamic linker or in its own code."""
    size = 1 << 12
    for block in range(start & -size, start + (1 << 24), size):
        at = gdb.selected_inferior().read_memory(block, size).tobytes().find(code)
        if at >= 0:
            return block + at
    raise gdb.GdbError("no system call in the code")


def make_repeatable(bias):
    """The heap starts at one address whatever the size of the image, and canaries and guards are 0 in each run."""
    call, registers = CALLS["alpha" if JOB["socket"] else "x86_64"]
    for line in ask("info auxv").splitlines():
        if "AT_RANDOM" in line:
            gdb.selected_inferior().write_memory(int(line.split()[-1], 16), bytes(16))
    kept = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in registers}
    there = {**registers, "pc": find_instruction(call, kept["pc"])}
    for name, value in there.items():
        gdb.execute(f"set ${name} = {bias + HEAP if value is None else value}")
    ask("stepi")
    for name, value in kept.items():
        gdb.execute(f"set ${name} = {value}")


class Place:
    """One of the places where the program shall stop once."""

    def __init__(self, key, passes):
        self.key, self.left, self.breakpoints = key, passes, []


class Stop(gdb.Breakpoint):
    def __init__(self, address, place):
        super().__init__(f"*{address:#x}", KIND)  # an internal one would hide inlined frames where a block starts
        self.silent = True
        self.place = place
        place.breakpoints.append(self)

    def stop(self):
        self.place.left -= 1
        return self.place.left == 0


def places_of_variables():
    """[[frame, name, address]] of variables in memory."""
    found, frame = [], gdb.newest_frame()
    for level in range(JOB["frames"]):
        if frame is None:
            break
        try:
            block = frame.block()
        except RuntimeError:
            block = None
        while block is not None and not block.is_static and not block.is_global:
            for symbol in block:
                if symbol.is_variable or symbol.is_argument:
                    try:
                        address = frame.read_var(symbol, block).address
                        if address is not None:
                            found.append([level, symbol.name, int(address)])
                    except gdb.error:
                        pass  # optimized out
            if block.function is not None:
                break
            block = block.superblock
        frame = frame.older()
    return found


def tail_calls():
    """Levels of frames that a tail call left and removed: gdb finds these frames by the callees of calls."""
    frame, found = gdb.newest_frame(), []
    for level in range(JOB["frames"]):
        if frame is None:
            break
        if frame.type() == gdb.TAILCALL_FRAME:
            found.append(level)
        frame = frame.older()
    return found


def stops(bias, result):
    places = {}
    for key, addresses, passes in JOB["stops"]:
        place = Place(key, passes)
        for address in addresses:
            Stop(address + bias, place)
            places[address + bias] = place
    while True:
        ask("continue")
        if not alive():
            break
        place = places.get(int(gdb.parse_and_eval("(unsigned long)$pc")))
        if place is None or place.left > 0:
            raise gdb.GdbError(f"stopped at {gdb.parse_and_eval('$pc')}")
        for breakpoint in place.breakpoints:
            breakpoint.delete()
        place.breakpoints = []
        text = ask(f"bt -full {JOB['frames']}") if JOB["frames"] else ""
        result["stops"].append([place.key, text, places_of_variables(), tail_calls()])


def statements(line):
    """The addresses of the line's statements."""
    try:
        _, found = gdb.decode_line(line)
    except gdb.error:
        return None
    number = int(line.rpartition(":")[2])
    addresses = set()
    for place in found or ():
        if place.symtab is not None and place.line == number:
            addresses.update(entry.pc for entry in place.symtab.linetable().line(number) or ())
    return addresses


def lines(bias, result):
    known, counted = [], {}
    for line in JOB["lines"]:
        addresses = statements(line)
        if not addresses:
            known.append(None)
            continue
        by_line = gdb.Breakpoint(line, KIND)
        each = {address - bias: gdb.Breakpoint(f"*{address:#x}", KIND, internal=True) for address in sorted(addresses)}
        for breakpoint in (by_line, *each.values()):
            breakpoint.silent = True
            breakpoint.ignore_count = JOB["most_hits"] - 1
            counted[breakpoint.number] = breakpoint
        known.append((by_line, each, {place.address for place in by_line.locations}))
    while True:
        ask("continue")
        if not alive():
            break
        full = [b for b in counted.values() if b.enabled and b.hit_count >= JOB["most_hits"]]
        if not full:
            raise gdb.GdbError(f"stopped at {gdb.parse_and_eval('$pc')}")
        for breakpoint in full:
            breakpoint.enabled = False
    for entry in known:
        if entry is None:
            result["lines"].append(None)
        else:
            by_line, each, places = entry
            hits = [[address, breakpoint.hit_count] for address, breakpoint in each.items()]
            result["lines"].append({"hits": by_line.hit_count, "statements": hits, "places": sorted(place - bias for place in places)})


def main():
    for setting in SETTINGS:
        gdb.execute(f"set {setting}")
    ask("handle all nostop noprint pass")
    ask("handle SIGTRAP stop noprint nopass")
    if JOB["socket"]:
        gdb.execute("set breakpoint always-inserted off")
        gdb.execute("set auto-solib-add off")
        gdb.execute(f"set sysroot {JOB['sysroot']}")
        ask(f"target remote {JOB['socket']}")
    else:
        arguments = " ".join(map(shlex.quote, JOB["arguments"]))
        gdb.execute(f"set args {arguments} < {shlex.quote(JOB['stdin'])} > /dev/null 2>&1")
        ask("starti")
    bias = read_bias()
    make_repeatable(bias)
    result = {"bias": bias, "stops": [], "lines": []}
    if JOB["stops"]:
        stops(bias, result)
    else:
        lines(bias, result)
    with open(JOB["result"], "w") as out:
        json.dump(result, out)
    if alive():
        ask("kill")


main()

"""Runs inside gdb-multiarch for backtrace_test.py: walks one image to the planned stops.

The environment variable BACKTRACE_JOB names a JSON file with: socket, result, bias_entry (e_entry
of a position-independent image, else null), stops: a list of [breakpoint address, passes to ignore,
number of substantial instructions to step], the image's code as [start address, hex bytes] ranges,
follow and imprecise. The result is a list with an entry for each stop: the program counter, the
digest of the steps and the return addresses of the call stack, all without the load bias. The list
is shorter than the plan if the program ends early.

From each stop, `follow` more instructions are executed. At each of these instructions in the
image's code, except in `imprecise` ranges ([start, end]), gdb unwinds the stack, which has to be
the stack of the stop with the calls and returns since. For each stop, `followed` has the program
counters where this held, and `wrong` the first where it did not: program counter, return addresses
unwound, return addresses expected."""

import json
import os
import sys
import zlib

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gdb_stacks  # noqa: E402

JOB = json.load(open(os.environ["BACKTRACE_JOB"]))
CODE = [(start, bytes.fromhex(text)) for start, text in JOB["code"]]


def word_at(address):
    for start, data in CODE:
        if start <= address < start + len(data):
            return int.from_bytes(data[address - start : address - start + 4], "little")
    return None


def is_glue(word):
    """Unconditional branches, no-ops and loads of gp after calls, which layouts add and remove."""
    opcode, a, b = word >> 26, word >> 21 & 31, word >> 16 & 31
    if opcode == 0x30 and a == 31:
        return True
    if (opcode, a, b) in ((0x09, 29, 26), (0x08, 29, 29)):  # ldah gp,N(ra); lda gp,N(gp)
        return True
    return word in (0x47FF041F, 0x2FFE0000, 0x5FFF041F)  # nop, unop, fnop


def token(word):
    """The parts of an instruction that a layout keeps: all but branch targets, senses and addresses."""
    opcode = word >> 26
    if opcode >= 0x30:
        return word >> 21 & 31 | (0x100 if opcode in (0x30, 0x34) else 0x200)
    if opcode in (0x08, 0x09):
        return word & 0xFFFF0000
    if opcode == 0x1A:
        return word & 0xFFFFC000
    return word


def read_bias():
    if JOB["bias_entry"] is None:
        return 0
    for line in gdb.execute("info auxv", to_string=True).splitlines():
        if "AT_ENTRY" in line:
            return int(line.split()[-1], 16) - JOB["bias_entry"]
    raise gdb.GdbError("no AT_ENTRY")


def program_counter():
    return int(gdb.parse_and_eval("(unsigned long)$pc"))


def alive():
    thread = gdb.selected_thread()
    return thread is not None and thread.is_valid()


def skip_glue(bias):
    """Steps to the next substantial instruction and returns its address."""
    while True:
        counter = program_counter()
        word = word_at(counter - bias)
        if word is None or not is_glue(word):
            return counter
        gdb.execute("stepi", to_string=True)


def walk(bias, steps):
    """Steps over `steps` substantial instructions; returns the digest of the executed instructions."""
    digest, done = 0, 0
    while done < steps:
        word = word_at(program_counter() - bias)
        if word is None:  # code of the program's libraries, which is the same in both runs
            done += 1
            digest = zlib.crc32(b"outside", digest)
        elif not is_glue(word):
            done += 1
            digest = zlib.crc32(token(word).to_bytes(4, "little"), digest)
        gdb.execute("stepi", to_string=True)
        if not alive():
            break
    return digest


def is_uncertain(address):
    """Whether stacks are not compared there: in the program's libraries, which have no symbols, and
    in imprecise ranges."""
    return word_at(address) is None or any(start <= address < end for start, end in JOB["imprecise"])


def changed_calls(callers, before, after):
    """Return addresses, innermost first, after an instruction that stood at `before` and led to
    `after`; None if control moved in a way that calls and returns do not."""
    word = int.from_bytes(gdb.selected_inferior().read_memory(before, 4).tobytes(), "little")
    opcode, linked, way = word >> 26, word >> 21 & 31 != 31, word >> 14 & 3
    if opcode == 0x34 or (opcode == 0x1A and way == 1):
        return [before + 4, *callers] if linked else callers
    if opcode == 0x1A and way == 2:
        return callers[1:] if callers[:1] == [after] else None
    return callers if opcode != 0x1A or way == 0 else None


def follow(bias, steps):
    """See the head of this file."""
    callers = [address + bias for address in gdb_stacks.call_stack(bias)[1:]]
    followed = []
    for _ in range(steps):
        before = program_counter()
        gdb.execute("stepi", to_string=True)
        if not alive():
            break
        counter = program_counter()
        callers = changed_calls(callers, before, counter)
        if callers is None or len(callers) > gdb_stacks.LONGEST - 10:
            break
        if is_uncertain(counter - bias):
            continue
        unwound, expected = gdb_stacks.call_stack(bias)[1:], [address - bias for address in callers]
        if unwound != expected:
            return {"followed": followed, "wrong": [counter - bias, unwound, expected]}
        followed.append(counter - bias)
    return {"followed": followed, "wrong": None}


def visit(bias, stop):
    address, ignore, steps = stop
    # gdb does not stop at a breakpoint where it already stands, and only one of the two runs may do
    # so.
    ignore -= skip_glue(bias) == address + bias
    if ignore >= 0:
        breakpoint = gdb.Breakpoint(f"*{address + bias:#x}")
        breakpoint.ignore_count = ignore
        gdb.execute("continue", to_string=True)
        if not alive():
            return None
        breakpoint.delete()
    if program_counter() != address + bias:
        return None
    digest = walk(bias, steps)
    if not alive():
        return None
    result = {"pc": program_counter() - bias, "digest": digest, "stack": gdb_stacks.call_stack(bias)}
    return {**result, **follow(bias, JOB["follow"])}


def main():
    for setting in (
        "pagination off",
        "confirm off",
        "sysroot /usr/alpha-linux-gnu",
        "backtrace past-main on",
        "auto-solib-add off",
        "step-mode on",
    ):
        gdb.execute(f"set {setting}")
    gdb.execute(f"target remote {JOB['socket']}", to_string=True)
    bias = read_bias()
    results = []
    for stop in JOB["stops"]:
        result = visit(bias, stop)
        if result is None:
            break
        results.append(result)
    with open(JOB["result"], "w") as out:
        json.dump(results, out)
    if alive():
        gdb.execute("kill", to_string=True)


main()

"""Runs inside gdb-multiarch for backtrace_test.py: walks one image to the planned stops.

The environment variable BACKTRACE_JOB names a JSON file with: socket, result, bias_entry (e_entry
of a position-independent image, else null) and stops: a list of [breakpoint address, passes to
ignore, number of substantial instructions to step], and the image's code as [start address, hex
bytes] ranges. The result is a list with, per stop, the program counter, the digest of the steps and
the return addresses of the call stack, all without the load bias; it is shorter than the plan when
the program ends early."""

import json
import os
import zlib

import gdb

JOB = json.load(open(os.environ["BACKTRACE_JOB"]))
CODE = [(start, bytes.fromhex(text)) for start, text in JOB["code"]]
LONGEST_STACK = 80


def word_at(address):
    for start, data in CODE:
        if start <= address < start + len(data):
            return int.from_bytes(data[address - start : address - start + 4], "little")
    return None


def is_glue(word):
    """Unconditional branches, no-ops and loads of gp behind calls: what a change of layout adds and removes."""
    opcode, a, b = word >> 26, word >> 21 & 31, word >> 16 & 31
    if opcode == 0x30 and a == 31:
        return True
    if (opcode, a, b) in ((0x09, 29, 26), (0x08, 29, 29)):  # ldah gp,N(ra); lda gp,N(gp)
        return True
    return word in (0x47FF041F, 0x2FFE0000, 0x5FFF041F)  # nop, unop, fnop


def token(word):
    """What a layout keeps of an instruction: all but branch targets, senses and addresses."""
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
    """Steps over `steps` substantial instructions; returns the digest of what was executed."""
    digest, done = 0, 0
    while done < steps:
        word = word_at(program_counter() - bias)
        if word is None:  # the program's libraries: the same code in both runs
            done += 1
            digest = zlib.crc32(b"outside", digest)
        elif not is_glue(word):
            done += 1
            digest = zlib.crc32(token(word).to_bytes(4, "little"), digest)
        gdb.execute("stepi", to_string=True)
        if not alive():
            break
    return digest


def call_stack(bias):
    stack, frame = [], gdb.newest_frame()
    while frame is not None and len(stack) < LONGEST_STACK:
        stack.append(frame.pc() - bias)
        try:
            frame = frame.older()
        except gdb.error:
            break
    return stack


def visit(bias, stop):
    address, ignore, steps = stop
    # gdb does not stop at the breakpoint where it stands, which only one of the two runs may do.
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
    return {"pc": program_counter() - bias, "digest": digest, "stack": call_stack(bias)}


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

#!/usr/bin/env python3
"""Capstone agrees with Respike about the registers and flags that x86-64 instructions read and write.

The test compares all instructions of images (default: the installed images of IMAGES) and all opcodes with many
prefixes and operands. `x86_64_effects` prints Respike's knowledge; `cs_regs_access` and `eflags` are Capstone's. A
register or flag that Respike leaves out is `missing`: code added by Respike might overwrite it. A register or flag that
only Respike names is `extra`, which is safe, and so are other opinions on which flags are undefined: these are counted,
and printed with --extra. Entries missing by Capstone's fault are in KNOWN, with the reasons; all other missing entries
are failures.

Zydis and LLVM are the oracles for whether bytes decode and how long they are (tests/unit/x86_64_codec_test.cc); here,
bytes that only one side decodes are counted, and left out. So are operands for which Capstone knows no access. Debian
12 has no package of Capstone 5: without it, this script says how to get it, and ends with 77."""

import argparse
import collections
import itertools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("RESPIKE", ROOT / "build" / "respike")).parent
PACKAGE = BUILD / "capstone"
IMAGES = [
    "/usr/bin/python3.11",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
    "/usr/lib/llvm-22/lib/libLLVM.so",
]

# (kind, names, what, reason): a difference of this kind is no fault if all of it is in `what`. `*` in a name stands for
# any letters, `?` for one; flags are letters, `*` in `what` stands for everything.
KNOWN = [
    ("missing flags", "cmp*ss cmp*sd cmp*ps cmp*pd", "a c o p s z", "comparisons of SSE set no flags; Capstone takes them for the string instruction"),
    ("missing tests", "movsd movss", "d", "moves of SSE do not look at DF; Capstone takes them for the string instruction"),
    ("missing reads", "stosb stosw stosd stosq", "rcx", "RCX counts behind a prefix only"),
    ("missing writes", "stosb stosw stosd stosq", "rcx", "RCX counts behind a prefix only"),
    ("missing reads", "vptestm* vptestnm*", "k0 k1 k2 k3 k4 k5 k6 k7", "the mask that takes the result is not read"),
    ("missing writes", "cwd cdq cqo", "rax", "RAX is read; RDX is written"),
    ("missing writes", "test", "*", "TEST writes flags only"),
    ("missing reads", "vpshufbitqmb vfpclass* vpmov?2m", "k0 k1 k2 k3 k4 k5 k6 k7", "the mask that takes the result is not read"),
    ("missing reads", "nop bndcu bndcn bndcl", "*", "no-ops; Linux has no bounds registers any more"),
    ("missing reads", "xchg", "rax", "0x90 behind REX.W is no exchange"),
    ("missing writes", "xchg", "rax", "0x90 behind REX.W is no exchange"),
    ("missing flags", "prefetchw", "*", "it changes no flag (AMD64 manual, volume 3)"),
    ("missing flags", "bextr", "d", "it leaves DF alone"),
]

GENERAL = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"]
FLAGS = {"CF": "c", "PF": "p", "AF": "a", "ZF": "z", "SF": "s", "OF": "o", "0F": "o", "DF": "d"}
WRITTEN = ("MODIFY", "RESET", "SET")


def whole_registers():
    """Capstone's names to the names of x86_64_effects, which are of whole registers."""
    whole = {}
    for name in GENERAL:
        short = name[1:]
        parts = [short[0] + "l", short[0] + "h"] if short[1] == "x" else [short + "l"]
        whole |= dict.fromkeys([name, "e" + short, short, *parts], name)
    for i in range(8, 16):
        whole |= {f"r{i}{size}": f"r{i}" for size in ("", "d", "w", "b")}
    for i in range(32):
        whole |= {f"{size}mm{i}": f"v{i}" for size in "xyz"}
    for i in range(8):
        whole |= {f"k{i}": f"k{i}", f"mm{i}": f"mm{i}", f"st({i})": "x87", f"fp{i}": "x87"}
    return whole | {"fpsw": "x87", "rflags": "rflags"}


class Capstone:
    """Capstone's facts about single instructions, in the words of x86_64_effects."""

    def __init__(self, capstone):
        x86 = capstone.x86
        self.decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self.decoder.detail = True
        whole = whole_registers()
        names = {i: self.decoder.reg_name(i) for i in range(1, x86.X86_REG_ENDING)}
        self.registers = {i: whole[name] for i, name in names.items() if name in whole}
        self.register_operand = capstone.CS_OP_REG
        self.bits = collections.defaultdict(list)
        for name, bit in vars(x86).items():
            if (match := re.fullmatch(r"X86_EFLAGS_(\w+)_(\w\w)", name)) and match[2] in FLAGS:
                self.bits[match[1]].append((bit, FLAGS[match[2]]))

    def instruction(self, code):
        return next(self.decoder.disasm(code, 0, 1), None)

    def accesses(self, instruction):
        """(registers read, registers written), each with `rflags` if it is."""
        return [{self.registers[r] for r in part if r in self.registers} for part in instruction.regs_access()]

    def unknown(self, instruction):
        """The registers of operands for which Capstone knows no access."""
        registers = (o.reg for o in instruction.operands if o.type == self.register_operand and o.access == 0)
        return {self.registers.get(r) for r in registers}

    def flags(self, eflags, *kinds):
        return {flag for kind in kinds for bit, flag in self.bits[kind] if eflags & bit}


def parsed(text):
    return set() if text == "-" else set(text.split(","))


def parsed_flags(text):
    return set(text) - {"-"}


def differ(kind, ours, theirs, kept=frozenset()):
    """[(kind of difference, what)]; `kept` may be read or not."""
    return [(f"missing {kind}", theirs - ours - kept), (f"extra {kind}", ours - theirs)]


def differ_in_flags(kind, ours, theirs, named):
    """`named`: rflags is among the registers. Without a bit in eflags this says that there are some."""
    if named and not theirs:
        return [] if ours else [(f"missing {kind}", {"rflags"})]
    return differ(kind, ours, theirs)


def compare(capstone, instruction, fields):
    """The differences of an instruction that both describe."""
    reads, writes, keeps = map(parsed, fields[:3])
    tested, written, undefined = map(parsed_flags, fields[3:])
    their_reads, their_writes = capstone.accesses(instruction)
    x87 = {"x87"} & reads
    # Of x87 instructions `eflags` holds other flags.
    eflags = 0 if x87 else instruction.eflags
    their_undefined = capstone.flags(eflags, "UNDEFINED")
    found = differ_in_flags("tests", tested, capstone.flags(eflags, "TEST"), "rflags" in their_reads)
    found += differ_in_flags(
        "flags", written | undefined, capstone.flags(eflags, *WRITTEN) | their_undefined, "rflags" in their_writes
    )
    if eflags:
        found += [("undefined", undefined ^ their_undefined)]
    # Registers of x87 are one register, which all instructions of x87 read and write.
    unknown = capstone.unknown(instruction) | x87 | {"rflags"}
    found += differ("reads", reads - unknown, their_reads - unknown, keeps)
    found += differ("writes", writes - unknown, their_writes - unknown)
    return [(kind, what) for kind, what in found if what]


def matches(names, name):
    return any(re.fullmatch(one.replace("*", ".*").replace("?", "."), name) for one in names.split())


def known(kind, name, what):
    for row, (row_kind, names, allowed, _) in enumerate(KNOWN):
        if row_kind == kind and matches(names, name) and (allowed == "*" or what <= set(allowed.split())):
            return row
    return None


class Comparison:
    """Counts instructions, by result."""

    def __init__(self, capstone, show_extra):
        self.capstone = capstone
        self.show_extra = show_extra
        self.counts = collections.Counter()
        self.known = collections.Counter()
        self.wrong = {}

    def add(self, line):
        count, address, code, *fields = line.split()
        count, code = int(count), bytes.fromhex(code)
        instruction = self.capstone.instruction(code)
        self.counts["all"] += count
        if fields[0] in ("bad", "?") or instruction is None or instruction.size != len(code):
            kind = {"bad": "refused", "?": "not described"}.get(fields[0], "not decoded by Capstone")
            self.counts[kind] += count
            return
        self.counts["compared"] += count
        name = instruction.mnemonic.split()[-1]  # without prefixes
        differences = compare(self.capstone, instruction, fields)
        self.counts["differ"] += count * bool(differences)
        for kind, what in differences:
            if not kind.startswith("missing"):
                self.counts["extra or undefined"] += count
                if not self.show_extra:
                    continue
            row = known(kind, name, what)
            if row is not None:
                self.known[row] += count
                continue
            entry = self.wrong.setdefault((kind, name), [0, f"{address}: {code.hex()} {instruction.mnemonic} {instruction.op_str}: "
                                                         + " ".join(sorted(what))])
            entry[0] += count

    def report(self, what):
        kinds = ("refused", "not described", "not decoded by Capstone")
        others = ", ".join(f"{self.counts[k]:,} {k}" for k in kinds)
        print(f"{what}: {self.counts['compared']:,} instructions compared, {self.counts['differ']:,} differ, "
              f"{self.counts['extra or undefined']:,} of these safe; {others}")
        for (kind, name), (count, example) in sorted(self.wrong.items(), key=lambda item: (item[0][0], -item[1][0])):
            print(f"  {count:9,}  {kind:15} {name:14} {example}")


def opcodes():
    """Hexadecimal bytes of instructions: all opcodes, after prefixes, with operands in registers and in memory."""
    rest = "1122334455667788"
    operands = [f"{mode << 6 | reg << 3 | rm:02x}" for mode, rm in ((3, 1), (0, 3)) for reg in range(8)]
    registers = [f"{byte:02x}" for byte in range(0xC0, 0x100)]
    prefixes = ("", "66", "f3", "f2", "48", "6648", "f348", "f248", "41", "f0", "67")
    for map_, prefix, opcode in itertools.product(("", "0f", "0f38", "0f3a"), prefixes, range(256)):
        by_register = (map_, opcode) in (("0f", 0x01), ("0f", 0xAE), ("0f", 0xC7)) or (map_ == "" and 0xD8 <= opcode <= 0xDF)
        for modrm in operands + registers * by_register:
            yield f"{prefix}{map_}{opcode:02x}{modrm}{rest}"
    sizes = (range(256), (0, 1), range(4), (15, 5))  # opcode, W, prefix, vvvv
    for map_, (opcode, w, prefix, vvvv), length in itertools.product((1, 2, 3), itertools.product(*sizes), (0, 1)):
        for modrm in ("c1", "13", "7b", "d9", "e1", "f1"):
            yield f"c4{0xE0 | map_:02x}{w << 7 | vvvv << 3 | length << 2 | prefix:02x}{opcode:02x}{modrm}{rest}"
    for map_, (opcode, w, prefix, vvvv), length in itertools.product((1, 2, 3, 5, 6), itertools.product(*sizes), (0, 1, 2)):
        for mask, modrm in itertools.product((0x00, 0x02, 0x83), ("c1", "13")):  # none, k2, k3 with zeroing
            yield f"62{0xF0 | map_:02x}{w << 7 | vvvv << 3 | 4 | prefix:02x}{length << 5 | 8 | mask:02x}{opcode:02x}{modrm}{rest}"


def run_tool(tool, argument, lines=()):
    text = "".join(line + "\n" for line in lines)
    return subprocess.run([tool, argument], input=text, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()


def load_capstone():
    sys.path.insert(0, str(PACKAGE))
    try:
        import capstone
    except ImportError:
        return None
    return capstone if capstone.cs_version()[0] == 5 else None


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", nargs="*", help="ELF images instead of the usual ones; all their code is compared")
    parser.add_argument("--no-opcodes", action="store_true", help="images alone")
    parser.add_argument("--extra", action="store_true", help="print what only Respike names, too")
    parser.add_argument("--known", action="store_true", help="print how often each row of KNOWN was needed")
    return parser.parse_args()


def main():
    args = parse()
    module = load_capstone()
    if module is None:
        print(f"SKIP: without Capstone 5; python3 -m pip install --target {os.path.relpath(PACKAGE)} 'capstone==5.*'")
        return 77
    tool = BUILD / "tests" / "peers" / "x86_64_effects"
    capstone = Capstone(module)
    done = []
    for image in args.images or [i for i in IMAGES if os.path.exists(i)]:
        done.append((image, run_tool(tool, image)))
    if not args.no_opcodes:
        done.append(("all opcodes", sorted(set(run_tool(tool, "-", opcodes())))))
    failed, needed = False, collections.Counter()
    for what, lines in done:
        comparison = Comparison(capstone, args.extra)
        for line in lines:
            comparison.add(line)
        comparison.report(what)
        failed |= any(kind.startswith("missing") for kind, _ in comparison.wrong) or not comparison.counts["compared"]
        needed += comparison.known
    for row, count in sorted(needed.items()) if args.known else ():
        kind, names, what, reason = KNOWN[row]
        print(f"  {count:9,}  {kind}: {names}: {what}: {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

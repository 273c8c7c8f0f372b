#!/usr/bin/env python3
"""Sequences that must stay as they are do so in every shuffled image, as objdump reads it.

Every image of the manifest, with libraries, and an image assembled here are rewritten with --layout
original, random and scatter, and in the default layout by random counts, which drops no-ops; then
they are compared with the original. The test looks for three kinds of sequences:

- Locked: from each ldl_l or ldq_l along the fall-through path to the first stl_c or stq_c. Nothing
  may be inserted and no fall-through may become a taken branch; otherwise the store might never
  succeed on real hardware.
- Trap shadows: from each floating-point instruction with software completion (/s) along the
  fall-through path, across conditional branches, to the first trapb or excb. The trap handler may
  execute instructions of the shadow again, or skip them.
- Signal return code: `mov sp,a0; lda v0,103 or 351; callsys`, which unwinders recognise by these
  bytes at the return address of a signal handler (libgcc's config/alpha/linux-unwind.h, GDB's
  alpha-linux-tdep.c). The three words stay at their addresses. Unwinders look at the words only if
  no unwind information covers the return address minus one: if none covered it before, none may
  now, and the word before is the old word or a no-op.

The first two kinds are straight lines of instructions. A line ends early, and does not count, at a jump, a call or a
halt, after some 150 instructions, and a locked line at another locked load. Each line of the original, with its
registers and displacements but without branch targets, has to occur in the output as often, and the output must have as
many instructions that begin a line. (A line that ends early may become complete when a branch to the next instruction
is dropped, never the reverse.) If hot-cold optimization copies blocks, every copy of a locked load also has to begin a
whole line.

MINIMA says how many sequences some images have at least: no test may pass for lack of sequences. The compilers' shadows
never cross a branch, and their code for EV6 has no trapb at all; the assembled image has shadows that cross branches,
and signal return code outside of glibc.

Seeds of the random and the scattered layout and of the counts each: --seeds N (environment
RESPIKE_UNTOUCHABLE_SEEDS, default 1)."""

import collections
import dataclasses
import functools
import os
import re
import sys

import common
import profiles

LOCKED_LOAD = re.compile(r"ld[lq]_l$")
CONDITIONAL_STORE = re.compile(r"st[lq]_c$")
BARRIER = re.compile(r"(?:trapb|excb)$")
LEAVES = re.compile(r"(?:br|bsr|jmp|jsr|ret|jsr_coroutine|halt)$")
CONDITIONAL = re.compile(r"(?:f?b(?:eq|ne|lt|le|gt|ge)|blbc|blbs)$")
NO_OPS = ("nop", "unop", "fnop")

# In objdump's listing, for each word: address, bytes, text.
WORD = re.compile(r" *([0-9a-f]+):\t((?:[0-9a-f]{2} ){4})\t(.*)")
BEGINS = re.compile(r"\t(ld[lq]_l|(?:add|sub|mul|div|sqrt|cmp|cvt)[a-z0-9]+/[a-z]*s[a-z]*)\t")
SIGNAL_RETURN = re.compile(
    r"^ *([0-9a-f]+):\t10 04 fe 47 .*\n.*\t(?:67 00|5f 01) 1f 20 .*\n.*\t83 00 00 00 ", re.M
)
WINDOW = 8192  # characters of the listing in which a line has to end
FRAME = re.compile(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)$", re.M)  # in readelf's listing

# For images by name: the least numbers of locked sequences, shadows and signal return routines.
MINIMA = {
    r"\.static$": (250, 6, 2),  # glibc's own
    r"^(threads|concurrency|containers|modern)\.": (5, 0, 0),
    r"^floats\.(ieee\.)?(dynamic|pie|static)$": (0, 40, 0),
    r"^(sqlite3|lua)\.(dynamic|pie|static)$": (0, 300, 0),
    r"^assembled$": (1, 3, 2),
}

ASSEMBLY = """
        .set    noat
        .set    noreorder
        .arch   ev6
        .text
        .globl  main
        .ent    main
main:   .cfi_startproc
        .frame  $30,0,$26,0
        .prologue 0
1:      ldq_l   $1,0($16)
        beq     $1,4f
        addq    $1,1,$2
        blt     $2,3f
        stq_c   $2,0($16)
        beq     $2,1b
2:      addt/su $f10,$f11,$f12
        fbeq    $f12,3f
        mult/su $f12,$f12,$f13
        beq     $1,4f
        cvttq/svc $f13,$f14
        trapb
        subq    $17,1,$17
        bne     $17,2b
3:      lda     $0,1($31)
        ret
4:      clr     $0
        ret
        .cfi_endproc
        .end    main
        unop
        .ent    old_restorer
old_restorer:
        mov     $30,$16
        lda     $0,103
        callsys
        .end    old_restorer
        nop
        .ent    restorer
restorer:
        mov     $30,$16
        lda     $0,351
        callsys
        .end    restorer
"""


# --- Reading --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Sequences:
    lines: dict  # kind -> Counter of lines
    begins: collections.Counter  # kind -> instructions that begin a line
    signal_returns: dict  # address -> text of the word before


def normalize(name, operands):
    """The instruction without branch targets and addresses formed from gp, which may change."""
    if CONDITIONAL.match(name):
        return f"{name} {operands.rpartition(',')[0]}"
    if name in ("lda", "ldah") and operands.endswith("(gp)"):
        return f"{name} {operands.partition(',')[0]}"
    return f"{name} {operands}".rstrip()


def follow(listing, start, end, stop):
    """The line from the word at listing[start] to an instruction that `end` matches, or None."""
    line, first = [], None
    for text in listing[start : start + WINDOW].split("\n")[:-1]:
        match = WORD.match(text)
        if not match:
            if text and not text.endswith(">:"):
                return None  # another section, or data
            continue
        address = int(match[1], 16)
        first = address if first is None else first
        if address != first + 4 * len(line):
            return None  # objdump skipped something
        name, _, operands = common.normalize_text(match[3]).partition(" ")
        line.append(normalize(name, operands))
        if end.match(name):
            return tuple(line)
        if LEAVES.match(name) or (stop and len(line) > 1 and stop.match(name)):
            return None
    return None


def word_before(listing, start):
    for text in reversed(listing[max(start - WINDOW, 0) : start].split("\n")):
        if match := WORD.match(text):
            return common.normalize_text(match[3])
    return None


def collect(image):
    listing = common.binutils("objdump", "-d", "-z", "-w", image)
    lines = {"locked": collections.Counter(), "shadow": collections.Counter()}
    begins = collections.Counter()
    for match in BEGINS.finditer(listing):
        locked = LOCKED_LOAD.match(match[1])
        kind = "locked" if locked else "shadow"
        begins[kind] += 1
        line = follow(
            listing,
            listing.rfind("\n", 0, match.start()) + 1,
            CONDITIONAL_STORE if locked else BARRIER,
            LOCKED_LOAD if locked else None,
        )
        if line:
            lines[kind][line] += 1
    signal_returns = {
        int(match[1], 16): word_before(listing, match.start())
        for match in SIGNAL_RETURN.finditer(listing)
    }
    return Sequences(lines, begins, signal_returns)


def covered(image, addresses):
    """The addresses among `addresses` that unwind information covers."""
    frames = common.binutils("readelf", "-wf", image) if addresses else ""
    ranges = [(int(m[1], 16), int(m[2], 16)) for m in FRAME.finditer(frames)]
    return {a for a in addresses if any(start <= a < end for start, end in ranges)}


_covered = common.Shared()


# --- Comparing ------------------------------------------------------------------------------------


def check_minima(name, sequences):
    counts = (
        sequences.lines["locked"].total(),
        sequences.lines["shadow"].total(),
        len(sequences.signal_returns),
    )
    for pattern, minima in MINIMA.items():
        if re.search(pattern, name):
            common.expect(
                all(count >= minimum for count, minimum in zip(counts, minima)),
                f"the original has {counts} locked sequences, shadows and signal returns, "
                f"expected at least {minima}",
            )


def check_lines(kind, before, after, copies):
    """Compares the lines of a kind; with `copies`, `after` may have more lines and more
    beginnings."""
    lost = before.lines[kind] - after.lines[kind]
    common.expect(
        not lost,
        f"{lost.total()} of {before.lines[kind].total()} {kind} sequences lost, "
        f"e.g. {'; '.join(next(iter(lost), ()))}",
    )
    more = after.begins[kind] - before.begins[kind]
    common.expect(
        more == 0 or (copies and more > 0),
        f"{after.begins[kind]} instructions begin {kind} sequences, not {before.begins[kind]}",
    )
    whole = after.lines[kind].total() - before.lines[kind].total()
    common.expect(
        kind != "locked" or more <= whole,
        f"of {more} copies of locked loads only {whole} begin a whole sequence",
    )


def check_signal_returns(image, before, output, after):
    common.expect(
        before.keys() == after.keys(),
        f"signal return code at {[*map(hex, after)]}, not {[*map(hex, before)]}",
    )
    for address, word in before.items():
        common.expect(
            after[address] in (word, *NO_OPS),
            f"{after[address]!r} before the signal return code at {address:#x}, not {word!r}",
        )
    places = {address - 1 for address in before}
    fresh = covered(output, places) - _covered(image, lambda: covered(image, places))
    common.expect(
        not fresh, f"unwind information now covers {[*map(hex, fresh)]}, before signal return code"
    )


def check_image(name, image, layouts, scratch):
    before = collect(image)
    check_minima(name, before)
    for layout in layouts:
        output = scratch.file(image.name)
        options = ["--layout", *layout]
        if layout[0] == "profile":
            options = profiles.random_options(image, layout[1], scratch)
        common.optimize(image, output, *options)
        after = collect(output)
        try:
            for kind in before.lines:
                check_lines(kind, before, after, copies=layout[0] == "profile")
            check_signal_returns(image, before.signal_returns, output, after.signal_returns)
        except common.Failure as failure:
            raise common.Failure(f"{' '.join(layout)}: {failure}") from None
        output.unlink()


def assemble(scratch):
    source, image = scratch.file("assembled.s"), scratch.file("assembled")
    source.write_text(ASSEMBLY)
    built = common.run_command(["alpha-linux-gnu-gcc", "-Wl,-q", source, "-o", image])
    common.expect(built.status == 0, built.stderr.decode(errors="replace"))
    return image


def check_assembled(layouts, scratch):
    image = assemble(scratch)
    crossing = [
        kind
        for kind, lines in collect(image).lines.items()
        for line in lines
        if sum(bool(CONDITIONAL.match(text.split(" ")[0])) for text in line) > 1
    ]
    common.expect({*crossing} == {"locked", "shadow"}, f"only {crossing} cross two branches")
    check_image("assembled", image, layouts, scratch)


def check_names(names):
    for pattern in MINIMA:
        if not (pattern.startswith("^(sqlite3") and common.load_manifest()["missing"]):
            common.expect(
                any(re.search(pattern, n) for n in names), f"no image has a name like {pattern}"
            )


def cases(args, scratch):
    seeds = [str(s) for s in range(1, args.seeds + 1)]
    layouts = [["original"]] + [[l, "--seed", s] for s in seeds for l in ("random", "scatter")]
    layouts += [["profile", s] for s in seeds]
    more = [str(s) for s in range(args.seeds + 1, 31)]
    many = layouts + [["random", "--seed", s] for s in more] + [["profile", s] for s in more]
    images = common.all_images()
    yield common.Case("names", lambda: check_names([*(name for name, _ in images), "assembled"]))
    yield common.Case("assembled", lambda: check_assembled(many, scratch))
    for name, image in images:
        yield common.Case(name, functools.partial(check_image, name, image, layouts, scratch))


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument(
        "--seeds", type=int, default=int(os.environ.get("RESPIKE_UNTOUCHABLE_SEEDS", 1))
    )
    args = parser.parse_args()
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(args, scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

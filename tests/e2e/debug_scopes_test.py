#!/usr/bin/env python3
"""Scopes and variables of rewritten images are described at each instruction as at the instruction that it came from.

llvm-dwarfdump lists the entries (DIEs) of the debug information of input and output. Both have the same entries in the
same order with the same attributes. For every instruction with an origin, the procedures, inlined procedures and
lexical blocks around the instruction are those around its origin, and each variable and parameter is at the same place
there: its location expressions are equal at the instruction's first and last byte (a caller is looked up one byte
before the return address). Return addresses of call sites, entries of procedures and labels follow the code. This needs
no run, so it shows the same for all machines.

With hot-cold optimization a variable may be without a location where its computation has moved; a wrong location is
still wrong.

RESPIKE_DEBUG_LARGE=1: also SQLite. --layout NAME: this layout only."""

import bisect
import collections
import dataclasses
import os
import re
import sys
import threading

import common
import debug_images
import debug_readers

LARGE = bool(os.environ.get("RESPIKE_DEBUG_LARGE"))
# Attributes whose values are addresses or places in other sections.
MOVED = {
    *("low_pc", "high_pc", "ranges", "entry_pc", "sibling", "stmt_list", "location", "frame_base", "return_addr"),
    *("GNU_locviews", "GNU_entry_view", "addr_base", "rnglists_base", "loclists_base", "GNU_ranges_base", "GNU_addr_base"),
    *("call_return_pc", "call_pc", "str_offsets_base", "GNU_pubnames", "pubnames", "static_link", "data_member_location", "use_location"),
}
PADDING = re.compile(r"unknown_3d5\d$")  # attributes in place of others, to keep the sizes of the entries
CALL_SITES = ("call_site", "GNU_call_site")
CALLEES = ("call_origin", "abstract_origin")
VALUES_AT_CALLS = ("call_value", "call_data_value", "call_target", "GNU_call_site_value", "GNU_call_site_data_value", "GNU_call_site_target")
ENTRY = re.compile(r"^0x([0-9a-f]+):( +)(DW_TAG_\S+|NULL)")
ATTRIBUTE = re.compile(r"^ +DW_AT_(\w+)\t\((.*)$")
RANGE = re.compile(r"\[0x([0-9a-f]+), 0x([0-9a-f]+)\)(?:: (.*))?")
CODE = re.compile(r"(DW_OP_addr )0x([0-9a-f]+)")
REFERENCE = re.compile(r"(^|\(|(?:implicit_pointer|parameter_ref|call2|call4|call_ref) )0x([0-9a-f]+)")


@dataclasses.dataclass
class Entry:
    section: str
    offset: int
    tag: str
    depth: int
    parent: object
    attributes: dict = dataclasses.field(default_factory=dict)
    scope: object = None  # the nearest entry around it that has ranges

    def ranges(self):
        """[(low, high)], or None if the entry has no code."""
        text = self.attributes.get("ranges")
        if text is not None:
            return [(int(m[1], 16), int(m[2], 16)) for m in RANGE.finditer(text)]
        if "low_pc" in self.attributes and "high_pc" in self.attributes:
            return [(address(self.attributes["low_pc"]), address(self.attributes["high_pc"]))]
        return None

    def entry(self):
        """The address where its code is entered, or None."""
        ranges = [(low, high) for low, high in self.ranges() or () if low < high]
        if not ranges:
            return None
        text = self.attributes.get("entry_pc")
        if text is not None and address(text) is not None:
            return address(text)
        return ranges[0][0] if "ranges" in self.attributes else address(self.attributes["low_pc"])

    def name(self):
        for attribute in ("name", "abstract_origin", "specification", "call_origin"):
            if attribute in self.attributes:
                return self.attributes[attribute].split('"')[1] if '"' in self.attributes[attribute] else ""
        return ""

    def describe(self):
        parts, entry = [], self
        while entry is not None:
            parts.append(f"{entry.tag} {os.path.basename(entry.name())}".strip())
            entry = entry.parent
        return f"{self.offset:#x} " + " in ".join(parts)


def address(text):
    """The address of an attribute: `0x1234` or `indexed (00000001) address = 0x1234`."""
    text = text.partition(' "')[0]  # without the name of the entry to which it refers
    numbers = re.findall(r"0x([0-9a-f]+)", text.split(" (")[-1] if "indexed" not in text else text.split("=")[-1])
    return int(numbers[0], 16) if numbers else None


def read_entries(image):
    """The entries of all units in file order."""
    done = common.run_command([debug_readers.DWARFDUMP, "--debug-info", "--debug-types", "--dwo", image], timeout=debug_readers.TIMEOUT, cwd=image.parent)
    common.expect(done.status == 0, f"{debug_readers.DWARFDUMP}: {done.stderr.decode(errors='replace')[-300:]}")
    entries, stack, open_name, section = [], [], None, ""
    for line in done.stdout.decode(errors="replace").splitlines():
        if not line:
            open_name = None
            continue
        if line.endswith(" contents:"):
            section = line.removesuffix(" contents:")
            continue
        match = ATTRIBUTE.match(line)
        if match and entries:
            open_name = match[1]
            entries[-1].attributes[open_name] = match[2]
            continue
        match = ENTRY.match(line)
        if match:
            open_name = None
            if match[3] == "NULL":
                continue
            depth = len(match[2])
            while stack and stack[-1].depth >= depth:
                stack.pop()
            entry = Entry(section, int(match[1], 16), match[3].removeprefix("DW_TAG_"), depth, stack[-1] if stack else None)
            stack.append(entry)
            entries.append(entry)
        elif open_name and "[0x" in line:
            entries[-1].attributes[open_name] += "\n" + line.strip()
    for entry in entries:
        for name, text in entry.attributes.items():
            entry.attributes[name] = text.removesuffix(")")
        above = entry.parent
        entry.scope = above if above is None or above.ranges() is not None else above.scope
    return entries


def take_entry_points(entries):
    """Takes the unit with entry points off the end of the entries of an output; returns {offset: entry}."""
    section = [entry for entry in entries if entry.section == ".debug_info"]
    roots = [entry for entry in section if entry.parent is None]
    if not roots or roots[-1].tag != "partial_unit":
        return {}
    unit = [entry for entry in section if entry.offset >= roots[-1].offset]
    if [entry.tag for entry in unit[1:2]] != ["dwarf_procedure"]:
        return {}
    common.expect({entry.tag for entry in unit[2:]} == {"entry_point"}, "the unit of entry points has other entries")
    taken = set(map(id, unit))
    entries[:] = [entry for entry in entries if id(entry) not in taken]
    return {entry.offset: entry for entry in unit[2:]}


class Points:
    """The instructions of both images as numbers: `number` of (NEW, OLD) pairs."""

    def __init__(self, rewriting):
        self.rewriting = rewriting
        self.pairs = rewriting.pairs()
        self.new = [(new, number) for number, (new, _) in enumerate(self.pairs)]
        self.old = sorted((old, number) for number, (_, old) in enumerate(self.pairs))
        # The last bytes of instructions that are as long as their origins.
        self.new_ends, self.old_ends = [], []
        for number, (new, old) in enumerate(self.pairs):
            here, there = rewriting.instructions.get(new), rewriting.before.get(old)
            if here and there and here.size == there.size and here.size:
                self.new_ends.append((new + here.size - 1, -number - 1))
                self.old_ends.append((old + there.size - 1, -number - 1))
        self.old_ends.sort()

    @staticmethod
    def _inside(ranges, points):
        found = set()
        for low, high in ranges:
            if low < high:
                found.update(n for _, n in points[bisect.bisect_left(points, (low, -(1 << 62))) : bisect.bisect_left(points, (high, -(1 << 62)))])
        return found

    def in_output(self, ranges):
        return self._inside(ranges, self.new)

    def in_input(self, ranges):
        return self._inside(ranges, self.old)

    def all_in_output(self, ranges):
        return self._inside(ranges, self.new) | self._inside(ranges, self.new_ends)

    def all_in_input(self, ranges):
        return self._inside(ranges, self.old) | self._inside(ranges, self.old_ends)

    def show(self, number):
        """`number` of an instruction, or of its last byte if negative."""
        new, old = self.pairs[number if number >= 0 else -number - 1]
        return f"{new:#x} from {old:#x}" + ("" if number >= 0 else " (last byte)")


class Comparison:
    def __init__(self, rewriting, before, hot_cold):
        self.rewriting, self.hot_cold = rewriting, hot_cold
        self.before, self.after = before, read_entries(rewriting.output)
        self.entry_points = take_entry_points(self.after)
        self.symbols = debug_readers.Symbols(rewriting.output)
        self.points = Points(rewriting)
        self.moved = {**rewriting.news, **{address: [address] for address in rewriting.kept}}
        self.problems = debug_images.Problems()
        self.index_before = {(entry.section, entry.offset): number for number, entry in enumerate(self.before)}
        self.index_after = {(entry.section, entry.offset): number for number, entry in enumerate(self.after)}
        self.has_entry_points = ".debug_names" not in debug_readers.sections(rewriting.image.read_bytes())
        self.returns_before = returns(rewriting.before)
        self.returns_after = returns(rewriting.instructions)
        self.group = 16 if rewriting.work.build.machine == "ia64" else 1  # bytes of a bundle
        self.scopes, self.variables, self.values, self.without = 0, 0, 0, 0

    def run(self):
        if [(e.tag, e.depth) for e in self.before] != [(e.tag, e.depth) for e in self.after]:
            tags = [collections.Counter(e.tag for e in entries) for entries in (self.before, self.after)]
            different = {tag: (tags[0][tag], tags[1][tag]) for tag in tags[0] | tags[1] if tags[0][tag] != tags[1][tag]}
            self.problems.add("other entries", f"{len(self.before)} became {len(self.after)}: {dict(list(different.items())[:8])}")
            return self.problems
        for one, other in zip(self.before, self.after):
            self.attributes(one, other)
            if one.ranges() is not None or other.ranges() is not None:
                self.scope(one, other)
            for attribute in ("location", "frame_base", "return_addr", "static_link", "use_location", "data_member_location"):
                if attribute in one.attributes or attribute in other.attributes:
                    self.location(one, other, attribute)
            if one.tag in CALL_SITES:
                self.call_site(one, other)
            elif one.tag == "label" and "low_pc" in one.attributes:
                self.follows("label", one, other, address(one.attributes["low_pc"]), address(other.attributes.get("low_pc", "")))
        return self.problems

    def callee(self, one, other):
        """A call of a procedure with several ranges refers to the procedure's entry point: gdb 13 writes past the end
        of its memory at a call of a procedure with more than two ranges, and follows no tail call of a procedure with
        two."""
        name = next((name for name in CALLEES if name in one.attributes), None)
        if name is None:
            return
        text = next((other.attributes[each] for each in CALLEES if each in other.attributes), None)
        expected = self.index_before.get((one.section, address(one.attributes[name])))
        ranges = self.after[expected].ranges() if expected is not None else None
        pieces = len(ranges or [0])
        if text is None:
            if pieces < 2 or self.has_entry_points:
                self.problems.add("call site without its callee", one.describe())
            return
        point = self.entry_points.get(address(text))
        if point is None:
            if self.index_after.get((other.section, address(text))) != expected:
                self.problems.add("other callee", f"{one.describe()}: {one.attributes[name]} became {text}")
            elif pieces > (1 if self.has_entry_points else 2):
                self.problems.add("call of a procedure in pieces", f"{one.describe()}: {pieces} ranges")
            return
        symbol = point.attributes.get("linkage_name", '""').split('"')[1]
        if pieces < 2 or point.ranges() != ranges[:1] or ranges[0][0] != self.after[expected].entry():
            self.problems.add("entry point of another procedure", f"{one.describe()}: {point.ranges()} {ranges[:2]}")
        elif symbol not in self.symbols.names(ranges[0][0]):
            self.problems.add("name of an entry point", f"{one.describe()}: {symbol!r} {self.symbols.names(ranges[0][0])}")

    def attributes(self, one, other):
        is_call = one.tag in CALL_SITES
        if is_call:
            self.callee(one, other)
        for name in one.attributes.keys() | other.attributes.keys():
            if name in MOVED or PADDING.match(name):
                continue
            if is_call and name in CALLEES:
                continue
            left, right = one.attributes.get(name), other.attributes.get(name)
            if self.hot_cold and right is None and name in VALUES_AT_CALLS:
                self.without += 1
                continue
            if left != right and (left is None or right is None or self.normal(one, left, False) != self.normal(one, right, True)):
                self.problems.add(f"attribute {name}", f"{one.describe()}: {left} became {right}")

    def normal(self, one, text, of_output):
        """A text of the entry `one`: references to entries become their numbers, code addresses of the output become
        addresses of the input."""
        index = self.index_after if of_output else self.index_before

        def code(match):
            value = int(match[2], 16)
            value = self.rewriting.origins.get(value, value) if of_output else value
            return match[1] + hex(value & -self.group)  # a label in front of no-ops is the first instruction's address

        def entry(match):
            number = index.get((one.section, int(match[2], 16)))
            return f"{match[1]}entry {number}" if number is not None else match[0]

        return REFERENCE.sub(entry, CODE.sub(code, text))

    def scope(self, one, other):
        self.scopes += 1
        left, right = one.ranges() or [], other.ranges() or []
        expected, actual = self.points.in_input(left), self.points.in_output(right)
        for number in sorted(expected - actual)[:3]:
            self.problems.add(f"{one.tag} does not hold its instruction", f"{self.points.show(number)}: {one.describe()}")
        for number in sorted(actual - expected)[:3]:
            self.problems.add(f"{one.tag} holds a foreign instruction", f"{self.points.show(number)}: {one.describe()}")
        if expected and (one.tag in ("subprogram", "inlined_subroutine") or "entry_pc" in one.attributes):
            self.follows(f"entry of {one.tag}", one, other, one.entry(), other.entry())

    def follows(self, what, one, other, old, new):
        """An address of the output came from an address of the input, unless that instruction was removed."""
        if old not in self.moved:
            return
        if new is None:
            self.problems.add(f"no {what}", one.describe())
        elif not self.is_place(new, old) and not (self.hot_cold and self.is_next(old, new)):
            origin = self.rewriting.origins.get(new)
            self.problems.add(what, f"{one.describe()}: {old:#x} became {new:#x}, from {origin if origin is None else hex(origin)}")

    def is_place(self, new, old):
        """Whether the instruction from `old` is at `new`, or after no-ops in the bundle there."""
        return any(
            place == new or (new < place < (new & -self.group) + self.group and not any(at in self.rewriting.origins for at in range(new, place)))
            for place in self.moved[old]
        )

    def is_next(self, old, new):
        """Whether hot-cold optimization moved the code between `old` and the origin of `new` to other places."""
        origin = self.rewriting.origins.get(new, 0)
        between = [address for address in self.moved if old <= address < origin]
        return origin > old and all(new - place != origin - address for address in between for place in self.moved[address])

    def location(self, one, other, attribute):
        left, right = one.attributes.get(attribute), other.attributes.get(attribute)
        if self.hot_cold and right is None and left is not None and "[0x" not in left:
            self.without += len(self.points.all_in_input(one.scope.ranges())) if one.scope else 1
            return
        if left is None or right is None:
            self.problems.add(f"attribute {attribute}", f"{one.describe()}: {left} became {right}")
            return
        if "[0x" not in left and "[0x" not in right:
            if left != right and self.normal(one, left, False) != self.normal(one, right, True):
                self.problems.add(f"{attribute} without a list", f"{one.describe()}: {left} became {right}")
            return
        self.variables += 1
        within = self.points.all_in_input(one.scope.ranges()) if one.scope else set()
        expected = self.by_place(one, left, self.points.all_in_input, False, within)
        actual = self.by_place(one, right, self.points.all_in_output, True, within)
        self.values += len(expected)
        for number in sorted(expected.keys() | actual.keys()):
            before, after = expected.get(number), actual.get(number)
            if before == after:
                continue
            if self.hot_cold and after is None:
                self.without += 1
                continue
            kind = f"{attribute} is missing" if after is None else f"{attribute} where there was none" if before is None else f"other {attribute}"
            self.problems.add(kind, f"{self.points.show(number)}: {one.describe()}: {shown(before)} became {shown(after)}")

    def by_place(self, one, text, inside, of_output, within):
        """{number of an instruction: expressions}"""
        found = collections.defaultdict(set)
        for match in RANGE.finditer(text):
            expression = self.normal(one, match[3] or "", of_output)
            for number in inside([(int(match[1], 16), int(match[2], 16))]) & within:
                found[number].add(expression)
        if "<default>" in text:
            for number in within:
                found.setdefault(number, {"default"})
        return found

    def call_site(self, one, other):
        for name in ("call_return_pc", "call_pc", "low_pc"):
            if name not in one.attributes:
                continue
            old = address(one.attributes[name])
            new = address(other.attributes.get(name, ""))
            if name == "call_pc":
                self.follows("call site", one, other, old, new)
                continue
            call = self.returns_before.get(old)
            if call not in self.moved:
                continue
            if self.returns_after.get(new) not in self.moved[call]:
                self.problems.add("call site", f"{one.describe()}: the return address {old:#x} became {new if new is None else hex(new)}")


def returns(instructions):
    """{return address: address of the call before it}"""
    found = {}
    for at, instruction in instructions.items():
        if instruction.mnemonic.startswith(("br.call", "brl.call")):
            found[(at & ~15) + 16] = at
        elif instruction.size and not instruction.mnemonic.startswith("nop."):
            found.setdefault(at + instruction.size, at)
    return found


def shown(expressions):
    return "nothing" if expressions is None else " or ".join(sorted(expressions))


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = collections.Counter()

    def add(self, comparison):
        with self.lock:
            for name in ("scopes", "variables", "values", "without"):
                self.numbers[name] += getattr(comparison, name)


def check_layout(work, layout, tally):
    rewriting = work.rewritten(layout)
    before = work.shared("entries", lambda: read_entries(work.image))
    common.expect(before, "the input has no debug information")
    comparison = Comparison(rewriting, before, layout == "profiled" and work.build.machine == "alpha")
    problems = comparison.run()
    tally.add(comparison)
    rewriting.remove()
    return problems


def check(build, layouts, scratch, tally):
    work = debug_images.Work(build, scratch)
    debug_images.check_layouts(work, layouts, lambda layout: check_layout(work, layout, tally))


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--layout", choices=debug_images.LAYOUTS)
    args = parser.parse_args()
    tally = Tally()
    with common.Scratch() as scratch:
        cases = [
            common.Case(build.name, lambda b=build: check(b, [args.layout] if args.layout else debug_images.LAYOUTS, scratch, tally))
            for build in debug_images.builds(LARGE)
            if not build.is_split
        ]
        status = common.run_cases(cases, args)
    numbers = tally.numbers
    print(
        f"{numbers['scopes']} scopes, {numbers['variables']} variables with lists of locations, {numbers['values']} "
        f"places; {numbers['without']} places without a location in the output only"
    )
    return status


if __name__ == "__main__":
    sys.exit(main())

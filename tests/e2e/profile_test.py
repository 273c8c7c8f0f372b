#!/usr/bin/env python3
"""Counter files become profiles, profiles are shown and merged, and all other files are refused.

A refusal is one sentence on stderr, status 1 and no output file; instrument_test.py checks that
counts are right. Damaged files: every cut and every changed byte of a counter file's header, and
changes all over a counter map and a profile (RESPIKE_FLIPS, default 10, for each place)."""

import json
import os
import pathlib
import random
import shutil
import struct
import sys
import tempfile

import common
from bad_input_test import check_refused

HEADER_SIZE = struct.calcsize("<8sIIQ16sQQQII4096s")  # instrument/runtime/counter_file.h
FLIPS = int(os.environ.get("RESPIKE_FLIPS", 10))


class Setup:
    """An instrumented program that ran twice."""

    def __init__(self, scratch, name="calls.dynamic"):
        self.scratch = scratch
        self.program = common.find_program(name)
        self.spool = scratch.folder()
        self.image = scratch.file("instrumented")
        common.respike_ok(
            "image", "instrument", self.program.image, "-o", self.image, "--spool", self.spool
        )
        with tempfile.TemporaryDirectory(dir=scratch.path) as folder:
            libraries = common.link_libraries(self.program, folder)
            for _ in range(2):
                common.run_program(self.image, self.program.runs[0], libraries)
        self.files = sorted(self.spool.iterdir())
        common.expect(len(self.files) == 2, f"two runs left {len(self.files)} counter files")
        self.profile = self.collect(*self.files)

    def collect(self, *files):
        output = self.scratch.file("profile")
        common.respike_ok("image", "collect", *files, "-o", output)
        return output

    def damaged(self, data):
        path = self.scratch.file("damaged")
        path.write_bytes(data)
        return path


def show(profile, *options):
    return json.loads(common.respike_ok("profile", "show", profile, "--json", *options).stdout)


def refused(what, *command, output=None):
    outcome = common.respike(*command, *(["-o", output] if output else []))
    check_refused(outcome, output or pathlib.Path("/nowhere/none"), what)
    return outcome.stderr.decode()


# ---- accepted files ----


def check_files(setup):
    one = show(setup.collect(setup.files[0]))
    two = show(setup.collect(setup.files[1]))
    both = show(setup.profile)
    common.expect(one["runs"] == 1 and both["runs"] == 2, "the number of runs is wrong")
    for a, b, c in zip(one["procedures"], two["procedures"], both["procedures"]):
        if not (a["exact"] and b["exact"] and c["exact"]):
            continue
        for x, y, z in zip(a["blocks"], b["blocks"], c["blocks"]):
            common.expect(x["count"] + y["count"] == z["count"], f"{a['name']} does not add up")


def check_edges(setup):
    """The flow into a block comes along its edges, or from outside."""
    for procedure in show(setup.profile)["procedures"]:
        inflow = {}
        for edge in procedure["edges"]:
            inflow[edge["to"]] = inflow.get(edge["to"], 0) + edge["count"]
        outside = 0
        for block in procedure["blocks"]:
            outside += block["count"] - inflow.get(block["address"], 0)
        if procedure["exact"] and len({b["address"] for b in procedure["blocks"]}) == len(
            procedure["blocks"]
        ):
            common.expect(
                outside == procedure["entries"],
                f"{procedure['name']}: {outside} entries by its edges, not {procedure['entries']}",
            )


def check_image_elsewhere(setup):
    moved = setup.scratch.folder() / "moved"
    shutil.copy(setup.image, moved)
    data = bytearray(setup.files[0].read_bytes())
    data[HEADER_SIZE - 4096 : HEADER_SIZE] = b"/nowhere".ljust(4096, b"\0")
    file = setup.damaged(data)
    refused("an image that is gone", "image", "collect", file, output=setup.scratch.file("p"))
    output = setup.scratch.file("profile")
    common.respike_ok("image", "collect", file, "--image", moved, "-o", output)
    common.expect(
        output.read_bytes() == setup.collect(setup.files[0]).read_bytes(),
        "--image gives another profile",
    )


def check_shown(setup):
    text = common.respike_ok("profile", "show", setup.profile).stdout.decode()
    lines = text.split("procedure\n", 1)[1].splitlines()
    executed = [int(line.split()[2].replace(",", "")) for line in lines if "%" in line]
    common.expect(executed, f"no procedures are shown: {text}")
    common.expect(executed == sorted(executed, reverse=True), "the hottest does not come first")
    top = common.respike_ok("profile", "show", setup.profile, "--top", "3").stdout.decode()
    common.expect(top.count("%") == 6, "--top 3 does not show three procedures")
    text = common.respike_ok("profile", "show", setup.profile, "--procedure", "main")
    common.expect(b"main at " in text.stdout, "--procedure main does not show it")
    (only,) = show(setup.profile, "--procedure", "main")["procedures"]
    common.expect(only["name"] == "main" and only["entries"] == 2, "main was not entered twice")
    common.expect(
        any(edge["count"] for edge in only["edges"]) and only["calls"], "main has no edges or calls"
    )
    refused(
        "a procedure that is not there", "profile", "show", setup.profile, "--procedure", "no such"
    )


def check_merged(setup):
    output = setup.scratch.file("merged")
    weighted = [setup.profile, f"{setup.profile}:2.5", f"{setup.profile}:0"]
    common.respike_ok("profile", "merge", *weighted, "-o", output)
    once, merged = show(setup.profile), show(output)
    common.expect(merged["runs"] == 3.5 * once["runs"], "the runs are not weighted")
    for a, b in zip(once["procedures"], merged["procedures"]):
        for x, y in zip(a["blocks"], b["blocks"]):
            common.expect(abs(y["count"] - 3.5 * x["count"]) <= 0.5, "a count is not weighted")
    common.respike_ok("profile", "merge", setup.profile, "-o", output)
    common.expect(output.read_bytes() == setup.profile.read_bytes(), "merging one changes it")
    for weight in ("-1", "nan", "inf", "1e400"):
        outcome = common.respike("profile", "merge", f"{setup.profile}:{weight}", "-o", output)
        common.expect(outcome.status == 2, f"a weight of {weight} is taken")


def check_same_bytes(setup):
    common.expect(
        setup.collect(*setup.files).read_bytes() == setup.profile.read_bytes(),
        "the same files give another profile",
    )


class Reader:
    """Reads numbers and texts in the form that docs/profiles.md describes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def byte(self):
        return self.take(1)[0]

    def fixed(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def u(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def difference(self, before, bits=64):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if byte & 0x40:
            value -= 1 << shift
        return (before + value) % (1 << bits)

    def text(self):
        return self.take(self.u()).decode()


def decode_blocks(reader, count):
    blocks, end, unit, next_node = [], 0, 0, 0
    for _ in range(reader.u()):
        head = reader.byte()
        instructions = head & 7 or reader.u()
        address = reader.difference(end) if head & 8 else end
        size = reader.u() if head & 16 else unit * instructions
        node = reader.difference(next_node, 32) if head & 32 else next_node
        end = address + size
        unit = size // instructions if instructions else unit
        next_node = node + 1 if node != 0xFFFFFFFF else next_node
        blocks.append(
            {"address": address, "count": count(), "size": size, "instructions": instructions}
        )
    return blocks


def decode_edges(reader, count, blocks):
    kinds = ["fall_through", "taken", "indirect", "landing_pad"]
    edges, start = [], 0
    for _ in range(reader.u()):
        head = reader.u()
        step = head >> 2 & 3
        start = reader.difference(start, 32) if step == 3 else start + step
        zigzag = head >> 4
        to = start + 1 + (zigzag >> 1 ^ -(zigzag & 1))
        ends = {"from": blocks[start]["address"], "to": blocks[to]["address"]}
        edges.append({**ends, "count": count(), "kind": kinds[head & 3]})
    return edges


def skip_switches(reader, blocks):
    """Checks that tables are large and lead to blocks; JSON has no tables."""
    for _ in range(reader.u()):
        words, target = reader.u(), 0
        common.expect(words >= 16, f"a table of {words} words")
        for _ in range(words):
            target = reader.difference(target, 32)
            common.expect(target < len(blocks), f"a word leads to block {target} of {len(blocks)}")


def decode_profile(data):
    """The data that `profile show --json` prints, decoded by docs/profiles.md alone."""
    reader = Reader(data)
    common.expect(reader.take(8) == b"RSPKPROF" and reader.fixed("I") == 3, "another format")
    reader.take(12)  # zero and the hash
    profile = {"image": reader.text(), "build_id": reader.text()}
    profile["hash"] = f"{reader.fixed('Q'):016x}"
    profile["runs"] = reader.fixed("d")
    profile["procedures"] = []
    address = 0
    for _ in range(reader.u()):
        name, address = reader.text(), reader.difference(address)
        signature, flags = f"{reader.fixed('Q'):016x}", reader.byte()
        reader.take(4 * reader.u())  # hashes of nodes
        count = reader.u if flags & 2 else lambda: 0
        blocks = decode_blocks(reader, count)
        edges = decode_edges(reader, count, blocks)
        calls = [
            {
                "from": blocks[reader.u()]["address"],
                "callee": reader.difference(address),
                "count": count(),
            }
            for _ in range(reader.u())
        ]
        indirect = [
            {
                "from": blocks[reader.u()]["address"],
                "target": reader.difference(address),
                "changes": reader.u(),
            }
            for _ in range(reader.u())
        ]
        if flags & 4:
            skip_switches(reader, blocks)
        profile["procedures"].append(
            {
                "name": name,
                "address": address,
                "signature": signature,
                "exact": bool(flags & 1),
                "blocks": blocks,
                "edges": edges,
                "calls": calls,
                "indirect": indirect,
            }
        )
    common.expect(reader.at == len(data), "something follows the profile")
    return profile


def check_format(setup):
    decoded, shown = decode_profile(setup.profile.read_bytes()), show(setup.profile)
    shown["procedures"].sort(key=lambda p: p["address"])
    for procedure in shown["procedures"]:
        del procedure["entries"], procedure["instructions"]
    common.expect(decoded == shown, "the description of the format does not lead to the same")


def check_summary(setup):
    """The header's numbers are the numbers of the procedures, and have the form of the table's numbers."""
    text = common.respike_ok("profile", "show", setup.profile).stdout.decode()
    executed = sum(p["instructions"] for p in show(setup.profile)["procedures"])
    common.expect(executed > 1000, f"only {executed} instructions")
    common.expect(f"\ninstructions  {executed:,} executed\n" in text, text.split("\n\n")[0])


# ---- refused files ----


def check_repeated(setup):
    """A file counts once, by whatever names it is given."""
    first, second = setup.files
    output, link = setup.scratch.file("profile"), setup.scratch.file("link")
    link.symlink_to(first)
    for again in (first, link, first.parent / ".." / first.parent.name / first.name):
        message = refused("repeated", "image", "collect", first, second, again, output=output)
        common.expect(f"{again}: its counts would be added twice" in message, message)
        common.expect(f"same file as {first}" in message, message)


def check_foreign(setup, other):
    output = setup.scratch.file("profile")
    two = [setup.files[0], other.files[0]]
    refused("files of two images", "image", "collect", *two, output=output)
    for image in (other.image, setup.program.image, setup.files[1]):
        command = ["image", "collect", setup.files[0], "--image", image]
        refused(f"{image} as the image", *command, output=output)
    two = [setup.profile, other.profile]
    refused("profiles of two images", "profile", "merge", *two, output=output)
    for path in (setup.image, setup.profile, "/dev/null", setup.scratch.folder(), "/nowhere"):
        refused(f"{path} as a counter file", "image", "collect", path, output=output)
    for path in (setup.image, setup.files[0], "/dev/null", setup.scratch.folder(), "/nowhere"):
        refused(f"{path} as a profile", "profile", "show", path)
        refused(f"{path} as a profile", "profile", "merge", path, output=output)


def check_counter_file_damage(setup):
    data = setup.files[0].read_bytes()
    output = setup.scratch.file("profile")
    for size in (0, 1, 7, 8, 12, 71, HEADER_SIZE - 1, HEADER_SIZE, 8191, 8192, len(data) - 1):
        file = setup.damaged(data[:size])
        refused(f"a cut after {size} bytes", "image", "collect", file, output=output)
    refused("a byte too many", "image", "collect", setup.damaged(data + b"x"), output=output)
    for at in range(0, 40):  # magic, version, sizes, identity
        changed = bytearray(data)
        changed[at] ^= 0x41
        file = setup.damaged(changed)
        refused(f"byte {at} changed", "image", "collect", file, output=output)


def check_any_counters(setup):
    """Counters with any wrong values still become a profile."""
    data = setup.files[0].read_bytes()
    numbers = random.Random(1)
    for fill in (b"\xff", b"\x80", None):
        counters = len(data) - 8192
        body = fill * counters if fill else numbers.randbytes(counters)
        profile = setup.collect(setup.damaged(data[:8192] + body))
        for procedure in show(profile)["procedures"]:
            for block in procedure["blocks"]:
                common.expect(0 <= block["count"] < 1 << 63, "a count is out of range")


def check_map_damage(setup):
    data = setup.image.read_bytes()
    start = data.find(b"RSPKCMAP")
    common.expect(start > 0, "the instrumented image has no counter map")
    output = setup.scratch.file("profile")
    numbers = random.Random(2)
    anywhere = [start + 24 + numbers.randrange(2000) for _ in range(FLIPS)]
    for at in [start - 1, *range(start, start + 24), *anywhere]:
        changed = bytearray(data)
        changed[at] ^= 1 + numbers.randrange(255)
        command = ["image", "collect", setup.files[0], "--image", setup.damaged(changed)]
        refused(f"byte {at - start} of the map changed", *command, output=output)


def check_profile_damage(setup):
    data = setup.profile.read_bytes()
    numbers = random.Random(3)
    for size in (0, 7, 8, 23, 24, len(data) // 2, len(data) - 1):
        refused(f"a profile cut after {size} bytes", "profile", "show", setup.damaged(data[:size]))
    for at in [*range(24)] + [numbers.randrange(len(data)) for _ in range(FLIPS)]:
        changed = bytearray(data)
        changed[at] ^= 1 + numbers.randrange(255)
        refused(f"byte {at} of a profile changed", "profile", "show", setup.damaged(changed))


def check_outputs(setup):
    for output in ("/nowhere/profile", "/dev/null", setup.scratch.folder()):
        outcome = common.respike("image", "collect", *setup.files, "-o", output)
        common.expect(outcome.status == 1, f"{output} as output: status {outcome.status}")
    for command in (
        ["profile"],
        ["profile", "show"],
        ["profile", "merge", "-o", "x"],
        ["image", "collect", "-o", "x"],
        ["image", "collect", setup.files[0]],
    ):
        outcome = common.respike(*command)
        common.expect(outcome.status == 2, f"{command}: status {outcome.status}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        setup = Setup(scratch)
        other = Setup(scratch, "switches.dynamic")
        checks = (
            check_files,
            check_format,
            check_edges,
            check_image_elsewhere,
            check_shown,
            check_merged,
            check_same_bytes,
            check_summary,
            check_repeated,
            check_counter_file_damage,
            check_any_counters,
            check_map_damage,
            check_profile_damage,
            check_outputs,
        )
        cases = [
            common.Case(
                check.__name__.removeprefix("check_").replace("_", " "), lambda c=check: c(setup)
            )
            for check in checks
        ]
        cases.append(common.Case("foreign", lambda: check_foreign(setup, other)))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""An exception table that is not understood costs its procedure, not the image.

One procedure of a program gets a table that its runtime reads and Respike does not: an LPStart relative to the procedure,
or call sites in an encoding of their own; or the table is damaged, in each of its bytes in turn. The program is rewritten,
counted, stripped and rewritten again: the procedure stays, the others move, and exceptions are caught in both, by tables
in the old place and in the new one."""

import json
import platform
import re
import shutil
import subprocess
import sys

import common
import debug_readers
from common import Skip, expect

SOURCE = """#include <cstdio>
#include <stdexcept>
#include <string>
struct Guard {
  const char* name;
  ~Guard() { std::printf("left %s\\n", name); }
};
extern "C" void __attribute__((noinline)) fail(int how) {
  if (how == 1) throw std::invalid_argument("one");
  if (how == 2) throw std::string("two");
  if (how == 3) throw 3;
}
#define CATCHES(name)                                                                  \\
  extern "C" int __attribute__((noinline)) name(int how) {                             \\
    Guard guard{#name};                                                                \\
    try {                                                                              \\
      fail(how);                                                                       \\
      return 0;                                                                        \\
    } catch (const std::invalid_argument& e) {                                         \\
      std::printf("%s: %s\\n", #name, e.what());                                        \\
      return 1;                                                                        \\
    } catch (const std::string& e) {                                                   \\
      std::printf("%s: %s\\n", #name, e.c_str());                                       \\
      return 2;                                                                        \\
    }                                                                                  \\
  }
CATCHES(first)
CATCHES(odd)
CATCHES(last)
template <typename F> int all(F f) {
  int sum = 0;
  for (int how = 0; how < 4; ++how) {
    try { sum += f(how); } catch (int number) { sum += 10 * number; }
  }
  return sum;
}
int main(int argc, char**) {
  std::printf("%d %d\\n", all(first), all(last));
  if (argc > 1) std::printf("%d\\n", all(odd));
  return 7;
}
"""
FORMS = {  # what to replace in the assembler text of a table, the first time or each time
    "LPStart": ((r"\.byte\s+0xff\b.*", ".byte 0x41\n.uleb128 1", 1), (r"(\.uleb128 \.L\d+-\.LFB\d+)", r"\1-1", 0)),  # 1 byte after the start
    "call sites": ((r"\.byte\s+0x1\b.*", ".byte 0x51", 1),),
}
BUILDS = {"pie": [], "fixed": ["-no-pie"], "static": ["-static"], "lld": ["-fuse-ld=lld"]}
LAYOUTS = (["--layout", "random", "--seed", "1"], ["--layout", "scatter", "--seed", "2"], ["--layout", "original"], [])


def assemble(folder):
    if platform.machine() != "x86_64" or shutil.which("g++") is None:
        raise Skip("there is no compiler for programs of this host")
    (folder / "source.cc").write_text(SOURCE)
    subprocess.run(["g++", "-O2", "-S", "-w", "source.cc", "-o", "source.s"], cwd=folder, check=True)
    return (folder / "source.s").read_text()


def link(folder, text, options):
    (folder / "changed.s").write_text(text)
    if "-fuse-ld=lld" in options and shutil.which("ld.lld") is None:
        raise Skip("there is no lld")
    subprocess.run(["g++", "changed.s", "-Wl,-q", *options, "-o", "image"], cwd=folder, check=True)
    return folder / "image"


def with_form(text, form):
    """The assembler text in which the table of `odd` has another form."""
    label = re.search(r"\nodd:.*?\.cfi_lsda \S*?,(\S+)", text, re.S)[1]
    start = text.index(f"\n{label}:")
    end = text.index(".LLSDACSE", text.index(".LLSDACSB", start) + 100)
    table = text[start:end]
    for pattern, new, times in FORMS[form]:
        table, count = re.subn(pattern, new, table, count=times)
        expect(count > 0, f"the table of odd has no {pattern}")
    return text[:start] + table + text[end:]


def run(image, *arguments):
    return common.run_command([image, *arguments])


def not_understood(image):
    info = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    return {entry["name"]: entry["reason"] for entry in info["opaque"] if not entry["name"].startswith("_")}


def places(image):
    listed = subprocess.run(["nm", image], check=True, capture_output=True, text=True).stdout
    return {line.split()[2]: line.split()[0] for line in listed.splitlines() if len(line.split()) == 3}


def check_form(form, build, scratch):
    folder = scratch.folder()
    image = link(folder, with_form(assemble(folder), form), BUILDS[build])
    expected = [run(image), run(image, "odd")]
    expect(expected[1].status == 7 and b"odd: two" in expected[1].stdout, f"the original: {expected[1]}")

    def expect_same(output, what):
        actual = [run(output), run(output, "odd")]
        for before, after in zip(expected, actual):
            expect(after.behaviour() == before.behaviour(), f"{what}: {common.describe_difference(before, after)}")

    reasons = not_understood(image)
    expect("exception table" in reasons.get("odd", ""), f"odd is understood: {reasons}")
    if build != "static":
        expect(all(name.startswith("odd") for name in reasons), f"others are not understood: {reasons}")
    kept = [name for name in places(image) if name.startswith("odd")]
    for number, layout in enumerate(LAYOUTS):
        output = folder / f"output{number}"
        common.optimize(image, output, *layout)
        what = " ".join(layout) or "by estimates"
        expect_same(output, what)
        before, after = places(image), places(output)
        expect(all(before[name] == after[name] for name in kept), f"{what}: odd moved")
        expect("original" in layout or before["first"] != after["first"] or not layout, f"{what}: nothing moved")
        for strip in ("strip", "llvm-strip"):
            if shutil.which(strip) is None or (strip == "llvm-strip" and build == "static"):
                continue
            stripped = folder / "stripped"
            subprocess.run([strip, output, "-o", stripped], check=True)
            expect_same(stripped, f"{what}, after {strip}")
        again = folder / f"again{number}"
        common.optimize(output, again, *LAYOUTS[number - 1])
        expect_same(again, f"{what}, again")
        third = folder / f"third{number}"
        common.optimize(again, third, *LAYOUTS[0])
        expect_same(third, f"{what}, a third time")
        expect(set(not_understood(third)) == set(reasons), f"{what}: not understood: {not_understood(third)}")
        for source in (image, output):
            counting = folder / "counting"
            common.respike_ok("image", "instrument", source, "-o", counting, "--spool", folder / "spool")
            expect_same(counting, f"{what}, counted")


def table_of(image, procedure):
    """(offset in the file, bytes) of the exception table of a procedure."""
    start = int(places(image)[procedure], 16)
    dump = subprocess.run(["readelf", "--debug-dump=frames", "-W", image], check=True, capture_output=True, text=True).stdout
    entry = re.search(rf"FDE cie=\w+ pc=0*{start:x}\.\.\w+\n\s+Augmentation data:\s+((?:[0-9a-f]{{2}} ?)+)", dump)
    head = re.search(rf"^(\w+) \w+ \w+ FDE cie=\w+ pc=0*{start:x}\.\.", dump, re.M)
    data = image.read_bytes()
    frames = debug_readers.sections(data)[".eh_frame"]
    tables = debug_readers.sections(data)[".gcc_except_table"]
    # After length, CIE, start and size of the code, and the length of the augmentation: a pointer from its own place.
    pointer = int(head[1], 16) + 4 + 4 + 4 + 4 + 1
    distance = int.from_bytes(bytes.fromhex(entry[1].replace(" ", ""))[:4], "little", signed=True)
    address = frames[3] + pointer + distance
    return tables[0] + address - tables[3]


def check_damaged(scratch):
    """Whatever one byte of the table says, the image is rewritten, and procedures with other tables work."""
    folder = scratch.folder()
    image = link(folder, assemble(folder), [])
    expected = run(image)
    original = image.read_bytes()
    start = table_of(image, "odd")
    costs = 0
    for place in range(40):
        for change in (0xFF, 0x04):
            data = bytearray(original)
            data[start + place] ^= change
            damaged, output = folder / "damaged", folder / "output"
            damaged.write_bytes(data)
            damaged.chmod(0o755)
            done = common.respike("image", "optimize", damaged, "-o", output, "--layout", "random", "--seed", "1")
            expect(done.status == 0, f"byte {place} ^ {change:#x}: {done.stderr.decode()[-300:]}")
            expect(run(output).behaviour() == expected.behaviour(), f"byte {place} ^ {change:#x}: it behaves otherwise")
            costs += "exception table" in not_understood(damaged).get("odd", "")
    expect(costs > 10, f"only {costs} changes were not understood")


def cases(scratch):
    for form in FORMS:
        for build in BUILDS:
            yield common.Case(f"{form} {build}", lambda f=form, b=build: check_form(f, b, scratch))
    yield common.Case("damaged", lambda: check_damaged(scratch))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

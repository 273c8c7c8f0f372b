#!/usr/bin/env python3
"""`profile annotate` prints counts beside source lines, as text and as HTML: the counts are those of the program, inlined
code counts at its own lines, an output of Respike can be annotated like the original, and what cannot be shown is said."""

import html.parser
import re
import shutil
import subprocess
import sys

import common
import profiles
from common import Case, Skip, expect

SOURCE = """\
#include <stdio.h>
static inline int twice(int x) {
  return x * 2 + 1;
}
__attribute__((noinline)) static int sum(int rounds) {
  int total = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i % 4 == 3)
      total ^= twice(total);
    total += i;
  }
  return total;
}
int main(int argc, char** argv) {
  if (argc > 5)
    puts("<many> arguments & more");
  printf("%d\\n", sum(1000));
  return 0;
}
"""


class Setup:
    """A program with line tables, and the profile of a run."""

    def __init__(self, scratch):
        if shutil.which("gcc") is None:
            raise Skip("there is no compiler for this host")
        self.scratch = scratch
        self.folder = scratch.folder()
        self.source = self.folder / "counted loop.c"
        self.source.write_text(SOURCE)
        self.image = self.folder / "counted"
        flags = ["-g", "-O1", "-fno-tree-vectorize", "-Wl,--emit-relocs", "-Wl,--build-id"]
        subprocess.run(["gcc", *flags, self.source, "-o", self.image], check=True)
        spool = scratch.folder()
        instrumented = self.folder / "instrumented"
        common.respike_ok("image", "instrument", self.image, "-o", instrumented, "--spool", spool)
        subprocess.run([instrumented], check=True, capture_output=True)
        self.profile = self.folder / "profile"
        common.respike_ok("image", "collect", *spool.iterdir(), "-o", self.profile)

    def annotate(self, *words):
        return common.respike_ok("profile", "annotate", self.profile, *words).stdout.decode()


def counts_of(text):
    """Line number -> count, of all lines that have a count."""
    found = re.findall(r"^ +([\d,]+) +[\d.]+% +(\d+)  ", text, re.MULTILINE)
    return {int(number): int(count.replace(",", "")) for count, number in found}


def check_counts(setup):
    text = setup.annotate()
    expect(str(setup.source) in text.splitlines()[0], f"the hottest file is not first: {text[:200]}")
    counts = counts_of(text)
    expected = {3: 250, 6: 1, 10: 1000, 17: 1}
    for line, count in expected.items():
        expect(counts.get(line) == count, f"line {line} ran {counts.get(line)} times, not {count}:\n{text}")
    expect(counts.get(8) == 1000 or counts.get(7) == 1000, f"the loop's lines are wrong:\n{text}")
    expect("total += i;" in text, "the source is not shown")


def check_procedures(setup):
    counts = counts_of(setup.annotate("--procedure", "main"))
    expect(17 in counts and 10 not in counts, f"lines of other procedures are shown: {counts}")
    outcome = common.respike("profile", "annotate", setup.profile, "--procedure", "nobody")
    expect(outcome.status == 1 and b"nobody" in outcome.stderr, outcome.stderr)


def check_outputs(setup):
    """An output also has lines, and its counts are the counts of the profile that fits it."""
    output = setup.folder / "rewritten"
    common.respike_ok("image", "optimize", setup.image, "-o", output, "--layout", "random")
    counts = counts_of(setup.annotate(output))
    expect(counts.get(10) == 1000, f"the output's lines have other counts: {counts}")


def check_dropped_code(setup):
    """Rows of a procedure that the linker dropped, which start at address 0, claim no code of others."""
    folder = setup.scratch.folder()
    source = folder / "dropped.c"
    body = "  table[x & 7] ^= x;\n" * 1000
    source.write_text(f"volatile int table[8];\nvoid dropped(int x) {{\n{body}}}\n{SOURCE}")
    first = 3 + 1000
    image, counting, spool = folder / "image", folder / "counting", setup.scratch.folder()
    flags = ["-g", "-O1", "-pie", "-fPIE", "-ffunction-sections", "-Wl,--gc-sections,--emit-relocs,--build-id"]
    subprocess.run(["gcc", *flags, source, "-o", image], check=True)
    symbols = subprocess.run(["nm", image], check=True, capture_output=True, text=True).stdout
    expect(" dropped\n" not in symbols, "the linker kept the procedure")
    common.respike_ok("image", "instrument", image, "-o", counting, "--spool", spool)
    subprocess.run([counting], check=True, capture_output=True)
    profile = folder / "profile"
    common.respike_ok("image", "collect", *spool.iterdir(), "-o", profile)
    counts = counts_of(common.respike_ok("profile", "annotate", profile).stdout.decode())
    expect(min(counts) > first, f"line {min(counts)} of a procedure that is not there has a count")
    expect(counts.get(first + 10) == 1000, f"the loop's lines are wrong: {counts}")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text, self.problems = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.text.append(data)


def check_html(setup):
    path = setup.folder / "page.html"
    common.respike_ok("profile", "annotate", setup.profile, "--html", "-o", path)
    page = Page()
    page.feed(path.read_text())
    expect(not page.open and not page.problems, f"the page is no HTML: {page.open} {page.problems}")
    text = "".join(page.text)
    expect('puts("<many> arguments & more");' in text, "source text is not escaped")
    expect("total += i;" in text and "1,000" in text, "counts are missing")


def check_refusals(setup):
    """Without line tables, or without the source."""
    stripped = setup.folder / "stripped"
    subprocess.run(["objcopy", "--strip-debug", setup.image, stripped], check=True)
    outcome = common.respike("profile", "annotate", setup.profile, stripped)
    expect(outcome.status == 1 and b"-g" in outcome.stderr, outcome.stderr)
    astray = profiles.make("astray", setup.profile, setup.folder / "astray")
    outcome = common.respike("profile", "annotate", astray, setup.image)
    expect(outcome.status == 1 and b"0x50 is no code of the image" in outcome.stderr, outcome.stderr)
    hidden = setup.source.rename(setup.folder / "elsewhere.c")
    try:
        text = setup.annotate()
        expect("cannot be read" in text and counts_of(text).get(10) == 1000, text)
    finally:
        hidden.rename(setup.source)


def check_debug_file(setup):
    """The line tables are in a file of their own."""
    debug, stripped = setup.folder / "program.debug", setup.folder / "without"
    subprocess.run(["objcopy", "--only-keep-debug", setup.image, debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", setup.image, stripped], check=True)
    outcome = common.respike("profile", "annotate", setup.profile, stripped)
    expect(outcome.status == 1 and b"--debug-file" in outcome.stderr, outcome.stderr)
    text = common.respike_ok("profile", "annotate", setup.profile, stripped, "--debug-file", debug).stdout.decode()
    expect(counts_of(text) == counts_of(setup.annotate()), text)
    other = setup.folder / "other.debug"
    subprocess.run(["objcopy", "--only-keep-debug", "/bin/true", other], check=True)
    outcome = common.respike("profile", "annotate", setup.profile, stripped, "--debug-file", other)
    expect(outcome.status == 1 and len(outcome.stderr.splitlines()) == 1, outcome.stderr)


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        setup = Setup(scratch)
        checks = (check_counts, check_procedures, check_outputs, check_dropped_code, check_html, check_refusals, check_debug_file)
        cases = [Case(c.__name__.removeprefix("check_"), lambda c=c: c(setup)) for c in checks]
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

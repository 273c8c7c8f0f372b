#!/usr/bin/env python3
"""Images larger than the reach of a branch: far stubs, several windows of a random layout,
rewriting again; and the default layout, by estimates and by random counts.

The image comes from bench/synthetic-image.py: 1.5 million instructions, 6 MB of text (of a sample of
the cases 4.8 MB, where a branch reaches 4 MB); each of its procedures is called once.
"""

import json
import subprocess
import sys

import common
import profiles

INSTRUCTIONS = 1_200_000 if common.is_sampled() else 1_500_000
MAKE_IMAGE = common.ROOT / "bench" / "synthetic-image.py"


def output_of(image):
    return subprocess.run([*common.QEMU, image], check=True, capture_output=True, timeout=common.PROGRAM_TIMEOUT).stdout


def check(image, expected, options, scratch):
    folder = scratch.folder()
    out, report = folder / "out", folder / "report.json"
    common.optimize(image, out, *options, "--report", report)
    common.expect(output_of(out) == expected, f"other output with {' '.join(map(str, options))}")
    stubs = json.loads(report.read_text())["far_stubs"]
    common.expect(stubs > 0, "no far stub was needed: the image is too small to test them")
    again = folder / "again"
    common.optimize(out, again, "--layout", "random", "--seed", "11")
    common.expect(output_of(again) == expected, f"other output when {' '.join(map(str, options))} is rewritten again")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        image = scratch.folder() / "synthetic"
        subprocess.run([sys.executable, MAKE_IMAGE, image, "--instructions", str(INSTRUCTIONS)], check=True)
        expected = output_of(image)
        cases = [common.Case(" ".join(map(str, o)), lambda o=o: check(image, expected, o, scratch))
                 for o in (["--layout", "random", "--seed", "1"], ["--layout", "random", "--seed", "2"],
                           ["--layout", "scatter", "--seed", "3"], ["--layout", "chain,split,place"])]
        cases.append(common.Case("random counts", lambda: check(image, expected, profiles.random_options(image, 4, scratch), scratch)))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

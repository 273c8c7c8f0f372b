#!/usr/bin/env python3
"""What the command needs to be built is a short list: without all other packages, CMake makes a build of the command, and
says in one line for each missing package what is left out and how to get it."""

import re
import subprocess
import sys

import common
from common import expect

# Where CMake looks for optional packages, and the lines that it prints without them.
PACKAGES = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("Qt6", "GTest", "benchmark", "zydis")]
PROGRAMS = [
    *("MPFR_LIBRARY", "GMP_LIBRARY", "RESPIKE_CCACHE_PROGRAM", "RESPIKE_LLD"),
    *("RESPIKE_NT_COMPILER", "RESPIKE_ECOFF_COMPILER", "RESPIKE_AUDIT_MODULE_ALPHA_COMPILER"),
    *("RESPIKE_START_CODE_ALPHA_COMPILER", "RESPIKE_START_CODE_ALPHA_WINDOWS_COMPILER", "RESPIKE_START_CODE_IA64_ASSEMBLER"),
]
LINES = {
    "qt6-base-dev qt6-svg-dev": "the window",
    "libgtest-dev libzydis-dev libmpfr-dev libgmp-dev": "the unit tests",
    "libgtest-dev": "the smoke tests of the fuzzers",
    "libbenchmark-dev": "the benchmark of Itanium's arithmetic",
    "g++-alpha-linux-gnu libc6.1-dev-alpha-cross": "counting in alpha programs, counting in alpha_windows programs, "
    "libraries that alpha programs open, the loader of respike-nt, the loader of respike-ecoff",
    "binutils-ia64-linux-gnu": "counting in ia64 programs",
}
SCRIPT = common.ROOT / "scripts/install-packages.sh"


def check_short_list(scratch):
    folder = scratch.folder()
    options = PACKAGES + [f"-D{name}=OFF" for name in PROGRAMS]
    outcome = common.run_command(["cmake", "-S", common.ROOT, "-B", folder, "-G", "Ninja", *options], cwd=folder)
    text = outcome.stdout.decode()
    expect(outcome.status == 0, f"{outcome}")
    lines = dict(re.findall(r"^-- left out: (.*); install (.*)$", text, re.M))
    expect(lines == {parts: packages for packages, parts in LINES.items()}, f"{lines}")
    expect("Warning" not in outcome.stderr.decode(), f"{outcome.stderr.decode()}")
    steps = subprocess.run(["ninja", "-C", folder, "-t", "commands", "respike"], check=True, capture_output=True).stdout.decode()
    expect(" -o respike " in steps, steps[-500:])
    expect("gui/" not in steps and "/unit/" not in steps, "the command needs the window or the tests")


def check_packages(scratch):
    """The script installs packages of the same names."""
    script = SCRIPT.read_text()
    for package in {package for packages in LINES for package in packages.split()}:
        expect(re.search(rf"(?<![\w+-]){re.escape(package)}(?![\w+-])", script), f"install-packages.sh knows no {package}")
    short = script.partition("packages=(")[2].partition(")")[0]
    expect(len(re.sub(r"#.*", "", short).split()) <= 12, short)
    outcome = common.run_command([SCRIPT, "--all"])
    expect(outcome.status == 2 and outcome.stderr.startswith(b"usage: "), f"{outcome}")


CHECKS = {"short list": check_short_list, "packages": check_packages}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, lambda scratch: common.named_cases(CHECKS, scratch)))

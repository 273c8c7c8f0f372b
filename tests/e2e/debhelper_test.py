#!/usr/bin/env python3
"""A Debian package whose programs dh_respike optimizes: it trains once, then each build makes the same packages.

The source package `step` has a program and a library with a list of symbols, each in a package of its own, for the host."""

import os
import re
import shutil
import subprocess
import sys

import common
from applications import World
from common import Skip, expect
from exec_test import can_intercept
from packaging_test import LIBRARY, PROGRAM

DEBHELPER = common.ROOT / "packaging/debhelper"
FILES = {
    "step.c": LIBRARY,
    "prog.c": PROGRAM,
    "Makefile": """
all: prog plugin.so
plugin.so: step.c
\t$(CC) $(CPPFLAGS) $(CFLAGS) -DCHANGE=2 -fPIC -shared $(LDFLAGS) -o $@ $<
libstep.so.1: step.c
\t$(CC) $(CPPFLAGS) $(CFLAGS) -DCHANGE=1 -fPIC -shared $(LDFLAGS) -Wl,-soname,libstep.so.1 -o $@ $<
prog: prog.c libstep.so.1
\t$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< ./libstep.so.1
check: prog
\tLD_LIBRARY_PATH=. ./prog > output; test $$? = 3
install: all
\tinstall -D -m 644 plugin.so $(DESTDIR)/usr/lib/step/plugin.so
\tinstall -D prog $(DESTDIR)/usr/bin/prog
\tinstall -D -m 644 libstep.so.1 $(DESTDIR)/usr/lib/libstep.so.1
""",
    "debian/changelog": """step (1.0) unstable; urgency=low

  * First.

 -- A packager <packager@respike.example>  Sat, 28 Nov 2026 12:00:00 +0000
""",
    "debian/control": """Source: step
Section: misc
Priority: optional
Maintainer: A packager <packager@respike.example>
Rules-Requires-Root: no
Standards-Version: 4.6.2
Build-Depends: debhelper-compat (= 13)

Package: step
Architecture: any
Depends: libstep1 (= ${binary:Version}), ${misc:Depends}
Description: a program
 It counts steps.

Package: libstep1
Architecture: any
Depends: ${misc:Depends}
Description: its library
 It makes steps.
""",
    "debian/rules": "#!/usr/bin/make -f\nexport DEB_BUILD_MAINT_OPTIONS = hardening=+all\n%:\n\tdh $@ --with respike\n",
    "debian/source/format": "3.0 (native)\n",
    "debian/step.install": "usr/bin\n",
    "debian/libstep1.install": "usr/lib\n",
    "debian/libstep1.symbols": "libstep.so.1 libstep1 #MINVER#\n" + "".join(f" {n}@Base 1.0\n" for n in ("fails", "odd", "step", "unused")),
    "debian/respike.conf": "Images: usr/bin/*\nTrain-Images: prog\nTrain: make check\n .\n make check\n",
}


def source_package(folder, **more):
    for name, text in (FILES | more).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "debian/rules").chmod(0o755)
    return folder


def build(scratch, source, options="", status=0):
    """Builds the packages; the outcome. The packages are in the folder above the source."""
    environment = World(scratch).environment | {
        "PERL5LIB": f"{DEBHELPER}/lib", "PATH": f"{DEBHELPER}:{os.environ['PATH']}", "RESPIKE": str(common.RESPIKE),
        "DEB_BUILD_OPTIONS": options, "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    outcome = common.run_command(["dpkg-buildpackage", "-d", "-us", "-uc", "-b"], cwd=source, env=environment)
    said = (outcome.stdout + outcome.stderr).decode(errors="replace")
    expect((outcome.status == 0) == (status == 0), f"status {outcome.status}: {said[-3000:]}")
    return said


def packages(source):
    return {path.name: path for path in source.parent.iterdir() if path.suffix == ".deb"}


def unpacked(scratch, source):
    folder = scratch.folder()
    for path in packages(source).values():
        subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
    return folder


def need_debhelper():
    if not shutil.which("dh") or not shutil.which("dpkg-buildpackage"):
        raise Skip("debhelper is not installed")
    if not can_intercept():
        raise Skip("programs cannot be replaced here when they are started")


def check_packages(scratch):
    need_debhelper()
    first = source_package(scratch.folder() / "step-1.0")
    said = build(scratch, first)
    expect("debian/respike.profiles is new" in said, said[-3000:])
    expect("2 runs of older builds, confidence 1.00" in said, f"one of the runs is not counted: {said[-3000:]}")

    again = source_package(scratch.folder() / "elsewhere" / "step")
    shutil.copy(first / "debian/respike.profiles", again / "debian")
    said = build(scratch, again)
    expect("is new" not in said, "it has trained again")
    one, two = packages(first), packages(again)
    expect(set(one) == set(two) and len(one) == 4, f"{sorted(one)} {sorted(two)}")
    different = [name for name in one if one[name].read_bytes() != two[name].read_bytes()]
    expect(not different, f"{different} differ in another folder")

    plain = source_package(scratch.folder() / "step-1.0")
    build(scratch, plain, "norespike")
    expect(not (plain / "debian/respike.profiles").exists(), "it has trained")
    before, after = unpacked(scratch, plain), unpacked(scratch, again)
    for folder in (before, after):
        expect(".rela.text" not in common.binutils("readelf", "-SW", folder / "usr/lib/step/plugin.so"), "a plugin keeps its relocations")
    for name in ("usr/bin/prog", "usr/lib/libstep.so.1"):
        expect((before / name).read_bytes() != (after / name).read_bytes(), f"{name} was not optimized")
        expect((before / name).stat().st_mode == (after / name).stat().st_mode, f"{name} has another mode")
        sections = common.binutils("readelf", "-SW", after / name)
        expect(".rela.text" not in sections and ".symtab" not in sections, sections)
    library = "usr/lib/libstep.so.1"
    symbols = [re.sub(r"^\w+ ", "", common.binutils("nm", "-D", folder / library), flags=re.M) for folder in (before, after)]
    expect(symbols[0] == symbols[1], f"{symbols}")
    outcomes = []
    for folder in (before, after):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(folder / "usr/lib"))
        outcomes.append(common.run_command([folder / "usr/bin/prog"], env=environment).behaviour())
    expect(outcomes[0] == outcomes[1], f"{outcomes}")
    check_debugger(after)


def check_debugger(folder):
    """gdb finds lines by the -dbgsym packages."""
    for name, procedure, file in (("usr/bin/prog", "main", "prog.c"), ("usr/lib/libstep.so.1", "step", "step.c")):
        command = ["gdb-multiarch", "-nx", "-batch", "-iex", f"set debug-file-directory {folder}/usr/lib/debug"]
        said = common.run_command([*command, "-ex", f"info line {procedure}", folder / name]).stdout.decode()
        expect(re.search(rf'Line \d+ of "[^"]*{file}" starts at address', said), f"{name}: {said}")


def check_errors(scratch):
    """A wrong configuration ends the build, with a sentence."""
    need_debhelper()
    mistakes = (
        (None, "there is no debian/respike.conf"),
        ("Images: usr/bin/prog\n", "has no Train: and Train-Images:"),
        ("Image: usr/bin/prog\n", "there is no field Image, but Images, Optimize-Options"),
        ("Images: usr/bin/none*\nTrain-Images: prog\nTrain: make check\n", "no file usr/bin/none* below"),
        ("Images: usr/bin/prog\nTrain-Images: prog\nTrain: false\n make check\n", "returned exit code 1"),
        ("Images: usr/bin/prog\nTrain-Images: prog\nTrain: true\n", "nothing of step has been counted"),
    )
    for conf, sentence in mistakes[:: 2 if common.is_sampled() else 1]:
        more = {"debian/respike.conf": conf} if conf else {}
        source = source_package(scratch.folder() / "step-1.0", **more)
        if not conf:
            (source / "debian/respike.conf").unlink()
        said = build(scratch, source, "nocheck", status=2)
        expect(sentence in said, f"{conf!r}: {said[-2000:]}")
        expect(not packages(source), "packages were made")


CHECKS = {"packages": check_packages, "errors": check_errors}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, lambda scratch: common.named_cases(CHECKS, scratch)))

#!/usr/bin/env python3
"""Debian's source packages, built by dpkg-buildpackage with dh_respike.

Each is built three times: as Debian builds it; with dh_respike, which trains; and in another folder with the profile that
the second build wrote. The second and third have to be identical, their own tests pass, and in comparison with the first:
no new complaint of lintian, the same lists of dynamic symbols (dpkg-gensymbols -c4), every file with the same mode,
programs that do the same, and debug packages by which gdb finds lines. `respike check` says what the profile gains, with
other work than the training's."""

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time

import gcc_sources  # noqa: F401  (its folders of modules)
import common
import packages
import runner
from common import expect

LONGEST = 3600.0  # seconds of a build


@dataclasses.dataclass(frozen=True)
class Package:
    """`conf`: debian/respike.conf. `work`: words of a command that shows the programs' behaviour, {root} is the folder
    in which the packages are unpacked; it reads `input`. `lines`: a procedure of each image, as (path, procedure).
    `trained`: the program that is trained, in the folder of the build; `checked`: its arguments for `respike check`."""

    name: str
    conf: str
    work: str
    lines: tuple
    trained: str
    checked: tuple
    needs: tuple = ()  # commands


PACKAGES = (
    Package(
        "bzip2",
        "Images: bin/bzip2\nTrain-Images: bzip2\nTrain: LD_LIBRARY_PATH=. make test\n",
        "{root}/bin/bzip2 -c | {root}/bin/bzip2 -dc | cksum; {root}/bin/bzip2 -c | cksum",
        (("bin/bzip2", "compressStream"), ("lib/x86_64-linux-gnu/libbz2.so.1.0.4", "BZ2_bzDecompress")),
        "bzip2",
        ("-ck", "/bin/bash"),
    ),
    Package(
        "lua5.4",
        "Images: usr/bin/lua5.4\nTrain-Images: src/lua5.4\nTrain: src/lua5.4 {workload} < {input} || test $? = 5\n",
        "{root}/usr/bin/lua5.4 {workload} | cksum",
        (("usr/bin/lua5.4", "luaV_execute"),),
        "src/lua5.4",
        ("{workload}",),
        ("libtoolize", "autoreconf"),
    ),
)
INPUTS = common.ROOT / "tests" / "programs" / "inputs"


def filled(text, **more):
    for name, value in ({"workload": INPUTS / "workload.lua", "input": INPUTS / "heavy.sql"} | more).items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def build(package, source, profile=None, with_respike=True):
    """Builds the packages from a copy of the sources in an empty folder; (its packages, the output, seconds)."""
    shutil.copytree(packages.source(package.name), source, symlinks=True)
    environment = os.environ | {"DPKG_GENSYMBOLS_CHECK_LEVEL": "4", "LC_ALL": "C.UTF-8", "RESPIKE": str(common.RESPIKE)}
    environment.pop("RESPIKE_DB", None)
    if with_respike:
        rules = source / "debian/rules"
        rules.write_text(re.sub(r"^\tdh \$@ *$", "\tdh $@ --with respike", rules.read_text(), flags=re.M))
        expect("--with respike" in rules.read_text(), "debian/rules calls dh otherwise")
        (source / "debian/respike.conf").write_text(filled(package.conf))
        if profile:
            shutil.copy(profile, source / "debian/respike.profiles")
        tools = common.ROOT / "packaging/debhelper"
        environment |= {"PERL5LIB": f"{tools}/lib", "PATH": f"{tools}:{environment['PATH']}"}
    begin = time.monotonic()
    outcome = common.run_command(["dpkg-buildpackage", "-d", "-us", "-uc", "-B"], cwd=source, env=environment, timeout=LONGEST)
    said = (outcome.stdout + outcome.stderr).decode(errors="replace")
    expect(outcome.status == 0, f"{package.name} is not built: {said[-2000:]}")
    made = {path.name: path for path in source.parent.iterdir() if path.suffix == ".deb"}
    return made, said, time.monotonic() - begin


def verdict(package, source, profile):
    """What `respike check` says of the trained program, optimized by the profile that the package ships."""
    environment = os.environ | {"RESPIKE_DB": str(source.parent / "respike.db"), "LD_LIBRARY_PATH": str(source)}
    arguments = [filled(word) for word in package.checked]
    for words in (
        ["register", source / package.trained, "--name", package.name], ["optimize", package.name, "--profile", profile],
        ["check", package.name, "--", *arguments],
    ):  # fmt: skip
        outcome = common.run_command([common.RESPIKE, *words], env=environment, timeout=LONGEST)
        expect(outcome.status == 0, f"{words}: {outcome}")
    return outcome.stdout.decode().strip()


def unpacked(made, folder):
    for path in made.values():
        subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
    return folder


def complaints(made):
    if not shutil.which("lintian"):
        return set()
    said = subprocess.run(["lintian", "--allow-root", *made.values()], capture_output=True, text=True, check=False).stdout
    return {line for line in said.splitlines() if line.startswith(("E:", "W:"))}


def compare(package, plain, fast):
    """Two folders with unpacked packages."""
    names = {path.relative_to(plain): path for path in plain.rglob("*") if "usr/lib/debug" not in str(path)}
    others = {path.relative_to(fast) for path in fast.rglob("*") if "usr/lib/debug" not in str(path)}
    expect(set(names) == others, f"files differ: {sorted(set(names) ^ others)}")
    changed = []
    for name, path in names.items():
        expect(path.lstat().st_mode == (fast / name).lstat().st_mode, f"{name} has another mode")
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            listed = [common.run_command(["nm", "-D", folder / name]).stdout.decode() for folder in (plain, fast)]
            # objcopy, which takes relocations out of other images, does not update the numbers of sections in dynamic
            # symbols: nm's letters are then those of wrong sections.
            symbols = [re.sub(r"^\w* +\w (?=\S+$)", "", text, flags=re.M) for text in listed]
            if ".so" not in path.name:  # pieces of a program's procedures have names, for dladdr()
                symbols = [re.sub(r"^\S+\.frag\.\d+\n", "", text, flags=re.M) for text in symbols]
            expect(symbols[0] == symbols[1], f"{name}: dynamic symbols differ")
            if path.read_bytes() != (fast / name).read_bytes():
                changed.append(str(name))
    expect({path for path, _ in package.lines} <= set(changed), f"optimized were {changed} only")
    outcomes = []
    for root in (plain, fast):
        folders = sorted({str(path.parent) for path in root.rglob("*.so.*")})
        environment = os.environ | {"LD_LIBRARY_PATH": ":".join(folders)}
        command = ["sh", "-c", filled(package.work, root=root)]
        outcomes.append(common.run_command(command, env=environment, stdin=INPUTS / "heavy.sql").behaviour())
    expect(outcomes[0] == outcomes[1] and outcomes[0][0] == 0, f"they behave otherwise: {outcomes}")
    for path, procedure in package.lines:
        command = ["gdb-multiarch", "-nx", "-batch", "-iex", f"set debug-file-directory {fast}/usr/lib/debug"]
        said = common.run_command([*command, "-ex", f"info line {procedure}", fast / path]).stdout.decode()
        expect("starts at address" in said, f"{path}: gdb says {said}")
    return changed


def take(package):
    for command in ("dh", "dpkg-buildpackage", *package.needs):
        if not shutil.which(command):
            raise packages.Unavailable(f"{command} is not installed")
    work = runner.WORK / "debian" / package.name
    shutil.rmtree(work, ignore_errors=True)
    plain, _, plain_time = build(package, work / "plain" / package.name, with_respike=False)
    first, said, first_time = build(package, work / "first" / package.name)
    profile = work / "first" / package.name / "debian/respike.profiles"
    expect("of older builds, confidence 1.00" in said, f"nothing was optimized by the profile: {said[-2000:]}")
    for line in re.findall(r"^.*: optimized by .*$", said, re.M):
        print(f"{package.name}: {line.rpartition('/')[2]}", flush=True)
    second, _, second_time = build(package, work / "second-folder" / package.name, profile)
    different = [name for name in first if first[name].read_bytes() != second[name].read_bytes()]
    expect(set(first) == set(second) == set(plain) and not different, f"{different} differ in another folder")
    new = complaints(second) - complaints(plain)
    expect(not new, f"lintian has new complaints: {sorted(new)}")
    changed = compare(package, unpacked(plain, work / "plain files"), unpacked(second, work / "fast files"))
    print(f"{package.name}: {', '.join(changed)}; {plain_time:.0f} s as Debian builds it, {first_time:.0f} s with training, "
          f"{second_time:.0f} s by its profile", flush=True)  # fmt: skip
    print(f"{package.name}: {verdict(package, work / 'first' / package.name, profile)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument("--filter", default="", help="packages: a regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the packages")
    args = parser.parse_args()
    wanted = [package for package in PACKAGES if re.search(args.filter, package.name)]
    if args.list:
        print("\n".join(package.name for package in wanted))
        return 0
    return packages.take_each({package.name: package for package in wanted}, lambda name, package: take(package))


if __name__ == "__main__":
    runner.WORK.mkdir(parents=True, exist_ok=True)
    sys.exit(main())

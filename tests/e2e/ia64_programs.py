"""IA-64 code for tests: real programs and libraries if they are there, and assembled sources.

Programs and a toolchain lie beside the checkout, in ../shared/ia64 (or RESPIKE_IA64), packed; they
are unpacked once beside the folder of the Alpha programs. If they are missing, tests do without
them and say so. Files in tests/programs/ia64 only need binutils-ia64-linux-gnu."""

import fcntl
import os
import pathlib
import subprocess

import common

SHARED = pathlib.Path(os.environ.get("RESPIKE_IA64", common.ROOT.parent / "shared" / "ia64"))
UNPACKED = pathlib.Path(os.environ.get("RESPIKE_IA64_UNPACKED", common.PROGRAMS.parent / "ia64"))
ASSEMBLER_SOURCES = common.ROOT / "tests" / "programs" / "ia64"
RANDOM = common.ROOT / "tests" / "programs" / "random"
MISSING = f"{SHARED} is missing: no real IA-64 programs"


def tool(name, *args, timeout=common.TOOL_TIMEOUT):
    """Runs ia64-linux-gnu-NAME, which has to succeed; returns its stdout."""
    outcome = common.run_command([f"ia64-linux-gnu-{name}", *args], timeout=timeout)
    if outcome.status != 0:
        text = outcome.stderr.decode(errors="replace").strip()[:600]
        raise common.Failure(f"ia64-linux-gnu-{name} {common.shorten_command(args)}: {text}")
    return outcome.stdout.decode(errors="replace")


def _unpack(target, command):
    """Makes `target`, once for all tests that run at the same time."""
    if target.exists():
        return
    UNPACKED.mkdir(parents=True, exist_ok=True)
    with open(UNPACKED / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            subprocess.run(command, check=True, timeout=300, cwd=UNPACKED)


def programs():
    """Paths of the real programs; empty if they are missing."""
    if not (SHARED / "programs").is_dir():
        return sorted(UNPACKED.glob("*.ia64"))
    paths = []
    for packed in sorted((SHARED / "programs").glob("*.ia64.zst")):
        path = UNPACKED / packed.stem
        part = UNPACKED / f".{packed.stem}"
        _unpack(
            path,
            ["sh", "-c", f"zstd -qdf '{packed}' -o '{part}' && chmod +x '{part}' && mv '{part}' '{path}'"],
        )
        paths.append(path)
    return paths


def toolchain():
    """The folder of gcc, glibc and libstdc++ for IA-64, or None."""
    path = UNPACKED / "toolchain"
    packed = SHARED / "toolchain.tar.zst"
    if not path.exists() and packed.exists():
        part = UNPACKED / ".toolchain"
        _unpack(
            path,
            ["sh", "-c", f"mkdir -p '{part}' && tar --zstd -C '{part}' -xf '{packed}' && mv '{part}'/* '{path}' && rmdir '{part}'"],
        )
    return path if path.exists() else None


def freestanding(name, folder, *flags):
    """A static program from a file of tests/programs/ia64/freestanding and the files that all such
    programs need."""
    sources, objects = ASSEMBLER_SOURCES / "freestanding", []
    for source in ("start", "runtime", name):
        objects.append(folder / f"{source}.o")
        tool("as", "-o", objects[-1], sources / f"{source}.s")
    image = folder / name
    tool("ld", *flags, "-o", image, *objects)
    return image


def assemble(source, folder):
    """A shared library of one file of tests/programs/ia64, linked with relocations."""
    unlinked, image = folder / f"{source.stem}.o", folder / f"{source.stem}.so"
    tool("as", "-o", unlinked, source)
    tool("ld", "-shared", "-q", "-o", image, unlinked)
    return image

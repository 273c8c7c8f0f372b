#!/usr/bin/env python3
"""Do two builds of respike write the same images, byte for byte?
For changes that must not change outputs.

  same_output.py BEFORE AFTER [--manifest build/programs/manifest.json] [--filter REGEX] [IMAGE[=PROFILE] ...]

BEFORE and AFTER are `respike` commands. Every image of the manifest and every IMAGE is written as
it is, in random order, scattered, by estimates, instrumented in two ways, and by a profile with and
without hot-cold optimization. If an image has no PROFILE and an emulator can run it, the script
makes a profile of a short run. The build-id and the fingerprint of Respike in .note.respike are not
compared: they name the Respike that wrote an image.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EMULATORS = {
    "alpha": ["qemu-alpha", "-L", "/usr/alpha-linux-gnu"],
    "ia64": [str(ROOT / "build" / "respike-ia64")],
    "x86-64": [],
}


def commands(profile):
    """Command lines without input and output."""
    for order in ("original", "random", "scatter"):
        yield ["image", "optimize", "--layout", order]
    yield ["image", "optimize"]
    yield ["image", "instrument", "--spool", "spool"]
    yield ["image", "instrument", "--spool", "spool", "--counters", "atomic"]
    if profile:
        yield ["image", "optimize", "--profile", profile]
        yield ["image", "optimize", "--profile", profile, "--hot-cold", "off"]
        yield ["image", "instrument", "--spool", "spool", "--weights", profile]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, **options)


def make_profile(respike, image, runs, folder):
    """A profile of one run of an image; None when there is no way to run it."""
    info = run(respike, "image", "info", image).stdout.decode()
    machine = re.search(r"^machine\s+(\S+)", info, re.M)
    if machine is None or "library" in info.split("\n")[0]:
        return None
    counting, spool, profile = folder / "counting", folder / "spool", folder / "profile"
    if run(respike, "image", "instrument", image, "-o", counting, "--spool", spool).returncode != 0:
        return None
    args = runs[0].get("args", []) if runs else []
    stdin = open(runs[0]["stdin"], "rb") if runs and runs[0].get("stdin") else subprocess.DEVNULL
    libraries = ":".join(sorted({str(p.parent) for p in image.parent.glob("lib*/*.so*")}))
    try:
        run(*EMULATORS[machine[1]], counting, *args, stdin=stdin, timeout=60, cwd=folder,
            env={**os.environ, "LD_LIBRARY_PATH": libraries})
    except (subprocess.TimeoutExpired, OSError):
        pass
    counts = sorted(spool.glob("*.counts")) if spool.exists() else []
    if not counts or run(respike, "image", "collect", *counts, "-o", profile).returncode != 0:
        return None
    return profile


def without_author(image):
    """An ELF64 image without the traces of the Respike that wrote it: its build-id is zeroed, and so is the
    fingerprint, the last text of .note.respike (32 digits after their number; optimizer/image/provenance.cc)."""
    if image is None or image[:4] != b"\x7fELF":
        return image
    masked = bytearray(image)
    table, = struct.unpack_from("<Q", image, 40)
    count, names = struct.unpack_from("<HH", image, 60)
    sections = [struct.unpack_from("<IIQQQQ", image, table + 64 * i) for i in range(count)]
    for name, _, _, _, offset, size in sections:
        start = sections[names][4] + name
        title, contents = image[start:image.index(0, start)], image[offset:offset + size]
        if title == b".note.gnu.build-id":
            masked[offset:offset + size] = bytes(size)
        elif title == b".note.respike":
            digits = re.search(rb"\x20([0-9a-f]{32})\0*$", contents)
            if digits:
                masked[offset + digits.start(1):offset + digits.end(1)] = bytes(32)
    return bytes(masked)


def outcome(respike, command, image, folder):
    """All results of a command: its status, its messages, and the file that it writes."""
    out = folder / "out"
    out.unlink(missing_ok=True)
    result = run(respike, *command, image, "-o", out, cwd=folder)
    written = out.read_bytes() if out.exists() else None
    return result.returncode, result.stdout, result.stderr, without_author(written)


def compare(before, after, image, profile, runs):
    """Whether an image had a profile, how many outputs are the same, and the commands whose outputs differ."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile = profile or make_profile(before, image, runs, folder)
        same, different = 0, []
        for command in commands(profile):
            if outcome(before, command, image, folder) == outcome(after, command, image, folder):
                same += 1
            else:
                different.append(f"{image.name}: {' '.join(map(str, command))}: different")
        return profile is not None, same, different


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("images", nargs="*")
    parser.add_argument("--manifest", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    before, after = args.before.resolve(), args.after.resolve()
    jobs = []
    if args.manifest:
        for program in json.loads(args.manifest.read_text())["programs"]:
            for image in [program["image"], *(library["path"] for library in program["libraries"])]:
                jobs.append((pathlib.Path(image), None, program["runs"] if image == program["image"] else []))
    for each in args.images:
        image, _, profile = each.partition("=")
        jobs.append((pathlib.Path(image).resolve(), pathlib.Path(profile).resolve() if profile else None, []))
    jobs = [job for job in jobs if re.search(args.filter, str(job[0]))]
    jobs = {job[0]: job for job in reversed(jobs) if job[0].exists()}  # each image once, as it is named first
    same = different = profiles = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for has_profile, equal, messages in pool.map(lambda job: compare(before, after, *job), jobs.values()):
            profiles += has_profile
            same += equal
            different += len(messages)
            for message in messages:
                print(message, flush=True)
    print(f"{len(jobs)} images, {profiles} with a profile: {same} outputs the same, {different} different")
    sys.exit(different != 0)


if __name__ == "__main__":
    main()

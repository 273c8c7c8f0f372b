#!/usr/bin/env python3
"""Outputs come into place whole or not at all, inputs stay as they are, and the exit status is
right whatever happens to the streams.

Each command that writes is tested with outputs that are inputs under another name, limits on the
size of files, places that cannot be written, interruption, and streams that are full or closed."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import common

expect = common.expect


class Setup:
    """A program, its instrumented image with a counter file, and a profile."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.program = common.find_program("calls.dynamic")
        self.image = self.program.image
        self.counting, self.spool = scratch.file("counting"), scratch.folder()
        common.respike_ok(
            *("image", "instrument", self.image, "-o", self.counting, "--spool", self.spool)
        )
        common.run_program(self.counting, self.program.runs[0])
        (self.counters,) = self.spool.iterdir()
        self.profile = scratch.file("profile")
        common.respike_ok("image", "collect", self.counters, "-o", self.profile)

    def names_of(self, file):
        """Three more names of a copy of a file: through a folder, by a symbolic link, by a hard
        link."""
        folder = self.scratch.folder()
        copy = folder / "copy"
        copy.write_bytes(file.read_bytes())
        (folder / "symbolic").symlink_to(copy)
        (folder / "hard").hardlink_to(copy)
        return copy, [copy, f"{folder}/./copy", folder / "symbolic", folder / "hard"]


def listing(folder):
    return sorted(str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*"))


def refused(*command):
    """The single line by which a command explains its refusal."""
    outcome = common.respike(*command)
    message = outcome.stderr.decode()
    expect(outcome.status == 1, f"{common.describe_status(outcome.status)}: {message!r}")
    one_line = message.endswith("\n") and message[:-1].isprintable()
    expect(message.startswith("respike: ") and one_line, f"not one line: {message!r}")
    return message


# --- Inputs stay as they are ----------------------------------------------------------------------


def check_merge_into_itself(setup):
    copy, names = setup.names_of(setup.profile)
    before = copy.read_bytes()
    for name in names:
        for inputs in ([copy], [f"{copy}:2", setup.profile], [setup.profile, f"{copy}:0.5"]):
            message = refused("profile", "merge", *inputs, "-o", name)
            expect("overwritten" in message, message)
            expect(copy.read_bytes() == before, f"{name}: the profile was changed")


def check_collect_into_image(setup):
    """The output of collect may be neither the image (by -o or with --image) nor a counter file."""
    folder = setup.scratch.folder()
    counting = folder / "counting"
    common.respike_ok("image", "instrument", setup.image, "-o", counting, "--spool", folder / "s")
    common.run_program(counting, setup.program.runs[0])
    (counters,) = (folder / "s").iterdir()
    before = counting.read_bytes()
    (folder / "symbolic").symlink_to(counting)
    (folder / "hard").hardlink_to(counting)
    for name in (counting, f"{folder}/s/../counting", folder / "symbolic", folder / "hard"):
        for more in ([], ["--image", counting]):
            message = refused("image", "collect", counters, "-o", name, *more)
            expect("overwritten" in message, message)
            expect(counting.read_bytes() == before, f"{name}: the image was changed")
    refused("image", "collect", counters, "-o", counters)


def check_optimize_into_inputs(setup):
    image, images = setup.names_of(setup.image)
    profile, profiles = setup.names_of(setup.profile)
    out = setup.scratch.file("out")
    for name in images + profiles:
        refused("image", "optimize", image, "--profile", profile, "-o", name)
        refused("image", "optimize", image, "--profile", profile, "-o", out, "--report", name)
    refused("image", "optimize", image, "-o", out, "--report", out)
    expect(image.read_bytes() == setup.image.read_bytes(), "the image was changed")
    expect(profile.read_bytes() == setup.profile.read_bytes(), "the profile was changed")
    expect(not out.exists(), "an output was written")


# --- All or nothing -------------------------------------------------------------------------------


def limited(kilobytes, *command):
    """Runs respike where files may not grow beyond a size; the kernel's usual signal ends a process
    that tries."""
    words = ["bash", "-c", f'ulimit -f {kilobytes}; exec "$0" "$@"', common.RESPIKE, *command]
    return common.run_command(words)


def check_size_limit(setup):
    folder = setup.scratch.folder()
    out, report = folder / "out", folder / "report"
    commands = {
        "optimize": ["image", "optimize", setup.image, "-o", out, "--report", report],
        "instrument": [
            *("image", "instrument", setup.image, "-o", out, "--block-map", report),
            *("--spool", folder / "deep" / "spool"),
        ],
        "collect": ["image", "collect", setup.counters, "-o", out],
        "merge": ["profile", "merge", setup.profile, "-o", out],
    }
    for name, command in commands.items():
        outcome = limited(0 if name in ("collect", "merge") else 20, *command)
        message = outcome.stderr.decode()
        expect(outcome.status == 1, f"{name}: {common.describe_status(outcome.status)}: {message}")
        expect("File too large" in message and message.count("\n") == 1, f"{name}: {message!r}")
        expect(not listing(folder), f"{name} left {listing(folder)}")
    with open(folder / "listing", "wb") as file:
        words = ["bash", "-c", 'ulimit -f 1; exec "$0" "$@"', common.RESPIKE]
        command = [*words, "image", "disasm", setup.image]
        outcome = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=False)
    expect(outcome.returncode == 1, f"a listing that is too long: {outcome}")


def check_second_output(setup):
    """If the second output cannot be written, the first output is not written, either."""
    folder = setup.scratch.folder()
    for second in ("/nowhere/second", "/proc/second", "/dev/full", folder):
        for command in (["optimize", "--report"], ["instrument", "--block-map"]):
            spool = ["--spool", folder / "spool"] if command[0] == "instrument" else []
            words = ["image", command[0], setup.image, "-o", folder / "out", command[1], second]
            refused(*words, *spool)
            expect(not listing(folder), f"{command[0]} {second}: left {listing(folder)}")


def check_spool(setup):
    """A spool is made only if the image exists, with the folders above it; existing folders
    stay."""
    folder = setup.scratch.folder()
    (folder / "old").mkdir()
    for spool in ("new", "new/deep/deeper", "old", "old/new"):
        for out in ("/nowhere/out", folder, setup.image):
            refused("image", "instrument", setup.image, "-o", out, "--spool", folder / spool)
            expect(listing(folder) == ["old"], f"{spool}, {out}: left {listing(folder)}")
    (folder / "file").write_text("")
    for spool in ("file", "file/spool"):
        out = folder / "out"
        refused("image", "instrument", setup.image, "-o", out, "--spool", folder / spool)
        expect(listing(folder) == ["file", "old"], f"{spool}: left {listing(folder)}")


def check_loops(setup):
    folder = setup.scratch.folder()
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    for command in (
        ["image", "optimize", setup.image],
        ["image", "instrument", setup.image, "--spool", folder / "spool"],
        ["image", "collect", setup.counters],
        ["profile", "merge", setup.profile],
    ):
        message = refused(*command, "-o", folder / "one")
        expect(f"{folder}/one: " in message and "symbolic links" in message, message)
    expect(listing(folder) == ["one", "two"], f"left {listing(folder)}")


def check_links(setup):
    """A symbolic link as output stays a link: the file that it leads to is written."""
    folder = setup.scratch.folder()
    (folder / "link").symlink_to("target")
    common.optimize(setup.image, folder / "link")
    expect((folder / "link").is_symlink(), "the link was replaced")
    expect(listing(folder) == ["link", "target"], f"{listing(folder)}")


def check_interruption(setup):
    """At whatever moment a signal comes: either the whole output exists, or nothing."""
    folder = setup.scratch.folder()
    whole = setup.scratch.file("whole")
    start = time.monotonic()
    common.optimize(setup.image, whole)
    seconds = time.monotonic() - start
    for part in range(12):
        command = [common.RESPIKE, "image", "optimize", setup.image, "-o", folder / "out"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
        time.sleep(seconds * (part + 1) / 12)
        process.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[part % 3])
        process.communicate(timeout=common.TOOL_TIMEOUT)
        left = listing(folder)
        expect(left in ([], ["out"]), f"left {left}")
        if left:
            expect((folder / "out").read_bytes() == whole.read_bytes(), "half an output")
            (folder / "out").unlink()


# --- Streams --------------------------------------------------------------------------------------


def run_with(stream_number, kind, *command):
    """Runs respike with stdout (1) or stderr (2) full or closed; returns the status and the other
    stream's text."""
    redirection = f"{stream_number}>&-" if kind == "closed" else f"{stream_number}>/dev/full"
    words = ["bash", "-c", f'exec "$0" "$@" {redirection}', common.RESPIKE, *command]
    outcome = common.run_command(words)
    return outcome.status, outcome.stderr if stream_number == 1 else outcome.stdout


def check_messages_unread(setup):
    """A message that cannot be printed changes neither exit status nor output."""
    seen, zero = setup.scratch.file("seen"), setup.scratch.file("zero")
    common.respike_ok("profile", "merge", f"{setup.profile}:0", "-o", zero)
    outcome = common.optimize(setup.image, seen, "--profile", zero, as_users_do=True)
    expect(b"warning" in outcome.stderr, "this was to make a warning")
    for kind in ("full", "closed"):
        out = setup.scratch.file("out")
        for status, command in (
            (1, ["image", "info", "/nowhere/image"]),
            (2, ["image", "frobnicate"]),
            (0, ["image", "optimize", setup.image, "-o", out, "--profile", zero]),
            (1, ["measure", "--", "/nowhere/program"]),
        ):
            got, _ = run_with(2, kind, *command)
            expect(got == status, f"{command[:2]}, stderr {kind}: {common.describe_status(got)}")
        expect(out.read_bytes() == seen.read_bytes(), f"stderr {kind}: another output")


def check_results_unread(setup):
    """Results that cannot be printed are a failure; a command that prints nothing does not fail."""
    for kind in ("full", "closed"):
        for command in (
            ["--help"],
            ["--version"],
            ["image", "info", setup.image],
            ["image", "info", setup.image, "--json"],
            ["image", "disasm", setup.image],
            ["profile", "show", setup.profile],
            ["image", "verify", setup.image, setup.image],
        ):
            status, message = run_with(1, kind, *command)
            expect(status == 1, f"{command[:2]}, stdout {kind}: {common.describe_status(status)}")
            expect(message == b"respike: standard output cannot be written\n", f"{message!r}")
        out = setup.scratch.file("out")
        status, message = run_with(1, kind, "image", "optimize", setup.image, "-o", out)
        expect(status == 0 and out.exists(), f"optimize, stdout {kind}: {status}, {message!r}")


def check_quoted_names(setup):
    """A message is one line, whatever characters a name has."""
    for name, shown in {
        "a\nb": r"a\nb: ",
        "tab\there\x1b[1m": r"tab\there\x1b[1m: ",
        b"\xff\xc3\xa9\xc2\x85\xed\xa0\x80": r"\xffé\xc2\x85\xed\xa0\x80: ",
        "größe-大-𝄞": "größe-大-𝄞: ",
        b"\xe5\xa4": r"\xe5\xa4: ",
        b"\xc0\x8a\xe0\x80\x8a": r"\xc0\x8a\xe0\x80\x8a: ",
    }.items():
        outcome = subprocess.run(
            [common.RESPIKE, "image", "info", name], capture_output=True, check=False
        )
        message = outcome.stderr.decode()
        expect(message.startswith(f"respike: {shown}"), f"{name!r}: {message!r}")
        expect(message.count("\n") == 1, f"{name!r}: {message!r}")
    outcome = common.respike("image", "info", setup.image, "a\nb")
    expect(outcome.stderr.count(b"\n") == 1, f"wrong usage: {outcome.stderr!r}")


def check_quoted_image(setup):
    """A message about a damaged counter file quotes the name of the image in it, and proposes a remedy."""
    data = bytearray(setup.counters.read_bytes())
    at = data.find(os.fsencode(setup.counting.parent))
    data[at + 1 : at + 4] = b"\n\xfe\x07"
    damaged = setup.scratch.file("damaged")
    damaged.write_bytes(data)
    message = refused("image", "collect", damaged, "-o", setup.scratch.file("out"))
    expect(r"/\n\xfe\x07" in message and "--image" in message, message)


def main():
    args = common.argument_parser(__doc__).parse_args()
    checks = [
        check_merge_into_itself,
        check_collect_into_image,
        check_optimize_into_inputs,
        check_size_limit,
        check_second_output,
        check_spool,
        check_loops,
        check_links,
        check_interruption,
        check_messages_unread,
        check_results_unread,
        check_quoted_names,
        check_quoted_image,
    ]
    with common.Scratch() as scratch:
        setup = Setup(scratch)
        cases = [
            common.Case(
                check.__name__.removeprefix("check_").replace("_", " "), lambda c=check: c(setup)
            )
            for check in checks
        ]
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""source_tree.py names what a run of the tests leaves, and nothing else."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile

import source_tree

DATABASE = b"SQLite format 3\0"


def write(path, content=b"text\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def make_tree(root):
    for name in ("README.md", "tests/a.py", "bench/journal/nightly.md", ".git/index", "build/x", "out/CMakeCache.txt"):
        write(root / name)
    write(root / "old.db", DATABASE)
    (root / "link").symlink_to("README.md")
    (root / "folder").symlink_to("tests")


def check(change, *expected, passes=False):
    """After `change` of a tree, the output has lines with these ends, and the exit status says whether it passes."""
    with tempfile.TemporaryDirectory() as folder:
        root, working, listed = (pathlib.Path(folder) / name for name in ("tree", "working", "list"))
        make_tree(root)
        write(working / "left by a run before")

        def run(when):
            with contextlib.redirect_stdout(io.StringIO()) as text:
                status = source_tree.main([when, str(listed), "--root", str(root), "--working", str(working)])
            return status, text.getvalue()

        assert run("before") == (0, "")
        change(root, working)
        status, text = run("after")
        lines = [line.strip() for line in text.splitlines() if line.startswith("  ")]
        wanted = [line.replace("WORKING", str(working)) for line in expected]
        assert lines == wanted and status == (0 if passes else 1), f"{status}: {text}, not {wanted}"


def edit(path):
    path.write_bytes(path.read_bytes() + b"more\n")


def replace_link(root, _):
    (root / "link").unlink()
    (root / "link").symlink_to("tests/a.py")


def main():
    check(lambda root, _: None, passes=True)
    check(lambda root, _: os.utime(root / "old.db", (1, 1)), passes=True)
    check(lambda root, _: write(root / "second.db", DATABASE), "second.db is new")
    check(lambda root, _: write(root / "tests" / "__pycache__" / "a.pyc", b"\0"), "tests/__pycache__/a.pyc is new")
    check(lambda root, _: write(root / "tests" / "build" / "x"), "tests/build/x is new")
    check(lambda root, _: (root / "dangling").symlink_to("nowhere"), "dangling is new")
    check(lambda root, _: edit(root / "old.db"), "old.db changed")
    check(lambda root, _: edit(root / "README.md"), "README.md changed", passes=True)
    check(lambda root, _: (root / "tests" / "a.py").unlink(), "tests/a.py is gone", passes=True)
    check(replace_link, "link changed", passes=True)
    for name in ("bench/journal/nightly.md", ".git/index", "build/y", "build-sanitize/y", "out/y"):
        check(lambda root, _, name=name: write(root / name, b"\0"), passes=True)
    check(lambda _, working: write(working / "core", b"\0"), "WORKING/core is new: a program ran without a folder of its own")
    print("source_tree.py: as it says")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A run of the tests leaves no file in the source tree.

    source_tree.py before LIST              notes all files of the source tree, and empties the folder that tests start in
    source_tree.py after LIST               compares, names what tests left, and fails
    source_tree.py ... --working FOLDER     the folder that tests start in; nothing may be left there either

CTest runs the first before all tests and the second after them, whichever tests are selected (cmake/source_tree.cmake).

A file that is new fails, and so does a file with zero bytes that changed, such as a database: people do not edit such
files. Texts that changed or are gone are only named, since somebody may edit them while tests run. The script leaves
out .git, folders of builds (build*, and all with a CMakeCache.txt), and EXPECTED. It does not need git.

Example: a program with the input file.sql runs without a working folder of its own, and "second.db is new"."""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPECTED = {"bench/journal/nightly.md"}  # the ledger that scripts/nightly.sh writes


def is_left_out(folder, root):
    return folder.name == ".git" or (folder.parent == root and folder.name.startswith("build")) or (folder / "CMakeCache.txt").exists()


def digest(path):
    """The contents of a file, in a few characters; for a link, its target."""
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if not path.is_file():
        return "no file"
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def list_files(root):
    """{path from the root: digest} of all files."""
    files = {}
    for where, folders, names in os.walk(root):
        here = pathlib.Path(where)
        folders[:] = sorted(name for name in folders if not is_left_out(here / name, root))
        links = [name for name in folders if (here / name).is_symlink()]
        for name in [*links, *names]:
            path = (here / name).relative_to(root).as_posix()
            if name != ".git" and path not in EXPECTED:
                try:
                    files[path] = digest(here / name)
                except FileNotFoundError:  # somebody's editor removed its temporary file
                    pass
    return files


def compare(before, after, root):
    """Files that tests left, and files that tests or somebody else changed: two lists of sentences."""
    left = [f"{path} is new" for path in sorted(after.keys() - before.keys())]
    changed = [f"{path} is gone" for path in sorted(before.keys() - after.keys())]
    for path in sorted(after.keys() & before.keys()):
        if before[path] != after[path]:
            is_text = not (root / path).is_file() or b"\0" not in (root / path).read_bytes()
            (changed if is_text else left).append(f"{path} changed")
    return left, changed


def clear(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("when", choices=("before", "after"))
    parser.add_argument("list", type=pathlib.Path, metavar="LIST")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the source tree (default: this one)")
    parser.add_argument("--working", type=pathlib.Path)
    args = parser.parse_args(words)
    root = args.root.resolve()
    if args.when == "before":
        args.list.parent.mkdir(parents=True, exist_ok=True)
        args.list.write_text(json.dumps(list_files(root)))
        if args.working:
            clear(args.working)
        return 0
    left, changed = compare(json.loads(args.list.read_text()), list_files(root), root)
    if args.working:
        left += [f"{path} is new: a program ran without a folder of its own" for path in sorted(args.working.rglob("*"))]
    if changed:
        print("while the tests ran, by them or by somebody else:", *changed, sep="\n  ")
    if left:
        print("FAILED: a run of the tests leaves no files, but", *left, sep="\n  ")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

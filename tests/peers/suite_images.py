"""The images of a build folder: which files Respike can rewrite, and rewritten images in the place of the originals.

    images = Images(folder, state)        all executables and libraries in the folder that were linked with relocations
    with images.replaced({"python": path}):
        ...                               the folder's tests run with these
    images.restore()                      images that a stopped run left in place

Example: images.names of CPython has `python` and `build/lib.linux-x86_64-3.11/_json.cpython-311-x86_64-linux-gnu.so`.
Originals lie in state/originals while others stand in for them. An image in place has its original's time, so make does
not build anything anew."""

import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import struct
import threading

import gcc_sources  # noqa: F401  (its folders of modules)
import common

RELA, ALLOC = 4, 2  # a section's type and flag
EXECUTABLE, SHARED = 2, 3  # kinds of ELF files
X86_64, ALPHA = 62, 0x9026  # machines of ELF files
WAITING = 100  # counter files of an image that may lie in its spool
INTERVAL = 5.0  # seconds between looks at the spools


def is_image(path, wanted=X86_64):
    """Whether a file is an executable or a library for the wanted machine that was linked with relocations."""
    with open(path, "rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF\2\1":
            return False
        kind, machine = struct.unpack_from("<HH", head, 16)
        (at,) = struct.unpack_from("<Q", head, 40)
        size, number = struct.unpack_from("<HH", head, 58)
        if kind not in (EXECUTABLE, SHARED) or machine != wanted or not at:
            return False
        file.seek(at)
        table = file.read(size * number)
    sections = (struct.unpack_from("<IQ", table, start + 4) for start in range(0, len(table), size))
    return any(kind == RELA and not flags & ALLOC for kind, flags in sections)


class Images:
    def __init__(self, folder, state, left_out="(?!)", machine=X86_64):
        self.folder, self.originals = pathlib.Path(folder), pathlib.Path(state) / "originals"
        self.restore()
        files = (pathlib.Path(top) / name for top, _, names in os.walk(self.folder) for name in names)
        found = sorted(p for p in files if not p.is_symlink() and p.is_file() and is_image(p, machine))
        self.names = [n for n in (str(p.relative_to(self.folder)) for p in found) if not re.search(left_out, n)]

    def restore(self):
        for path in sorted(self.originals.rglob("*")) if self.originals.exists() else []:
            if path.is_file():
                _put(path, self.folder / path.relative_to(self.originals), path)
        shutil.rmtree(self.originals, ignore_errors=True)

    @contextlib.contextmanager
    def replaced(self, others):
        """Puts others[name] in the place of each image that it names."""
        for name in others:
            kept = self.originals / name
            kept.parent.mkdir(parents=True, exist_ok=True)
            part = kept.with_name(f".{kept.name}.part")
            shutil.copy2(self.folder / name, part)
            part.rename(kept)
        try:
            for name, path in others.items():
                _put(path, self.folder / name, self.originals / name)
            yield
        finally:
            self.restore()


def _put(path, place, original):
    """Copies a file to a place, at once, with the time and mode of the original."""
    part = place.with_name(f".{place.name}.part")
    shutil.copyfile(path, part)
    shutil.copystat(original, part)
    part.rename(place)


def for_each(function, items):
    """{item: function(item)}, on all processors."""
    with concurrent.futures.ThreadPoolExecutor(common.jobs()) as pool:
        return dict(zip(items, pool.map(function, items)))


class Spools:
    """A spool for each counting image. A thread makes profiles of the files of processes that ended: otherwise
    thousands of processes would fill the disk.

        with Spools(folder) as spools:
            spools.of(name)               the folder for --spool
            ...                           runs
        spools.profiles                   {name: profile}, of images that ran
        spools.refused                    {name: `collect`'s messages on refused files}; some are kept in `damaged`"""

    def __init__(self, folder, images, damaged):
        self.folder, self.images, self.damaged = folder, images, damaged  # the counting images, by name
        self.profiles, self.refused = {}, {}
        self._numbers = {name: f"{number:04}" for number, name in enumerate(sorted(images))}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def of(self, name):
        return self.folder / self._numbers[name]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        for name in self.images:
            self._collect(name, lambda pid: True)

    def _watch(self):
        while not self._ended.wait(INTERVAL):
            for name in self.images:
                spool = self.of(name)
                if spool.exists() and sum(1 for _ in os.scandir(spool)) > WAITING:
                    self._collect(name, lambda pid: not os.path.exists(f"/proc/{pid}"))

    def _collect(self, name, may):
        """Of the files that may be taken. Their names are PROGRAM.PID.HASH.counts."""
        spool, profile = self.of(name), self.folder / f"{self._numbers[name]}.profile"
        files = [p for p in sorted(spool.iterdir()) if may(p.name.split(".")[-3])] if spool.exists() else []
        for start in range(0, len(files), WAITING):
            taken = files[start : start + WAITING]
            try:
                self._add(name, profile, taken)
            except common.Failure:
                for path in taken:  # which of them is at fault?
                    try:
                        self._add(name, profile, [path])
                    except common.Failure as failure:
                        self._keep(name, path, str(failure))
            for path in taken:
                path.unlink(missing_ok=True)

    def _add(self, name, profile, files):
        part, merged = profile.with_suffix(".part"), profile.with_suffix(".merged")
        common.respike_ok("image", "collect", *files, "--image", self.images[name], "-o", part)
        if profile.exists():
            common.respike_ok("profile", "merge", profile, part, "-o", merged)  # its output is none of its inputs
            part = merged
        part.rename(profile)
        self.profiles[name] = profile

    def _keep(self, name, path, message):
        """A counter file that `collect` refuses: a few of each image are kept."""
        refused = self.refused.setdefault(name, [])
        refused.append(message)
        if len(refused) <= 5:
            self.damaged.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.damaged / path.name)

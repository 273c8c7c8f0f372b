"""The benchmarks' work with workloads: collect profiles, lay out images, measure their runs.

All results are kept in a folder, under names made of content: a measurement has the hashes of the
image, of the files that its runs read, and of the plugin with the machine model. So only what
changed is measured again. Runs are repeatable: an empty folder, an empty environment, the same
argv[0] and names of files, no address randomization."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESPIKE = pathlib.Path(os.environ.get("RESPIKE", ROOT / "build" / "respike"))
SYSROOT = "/usr/alpha-linux-gnu"
TIMEOUT = 600.0
ORIGINAL, DEFAULT = (
    "original",
    "default",
)  # DEFAULT: `image optimize` without options
HOT_COLD = "+hot-cold"


class Failure(Exception):
    """A tool failed or an image misbehaves; the message is one sentence."""


class Progress:
    """A bar on stderr, if that is a terminal."""

    def __init__(self, total, label):
        self.total, self.label = total, label
        self.done = 0
        self._shown = sys.stderr.isatty()
        self._lock = threading.Lock()
        self._show("")

    def step(self, what):
        with self._lock:
            self.done += 1
            self._show(what)

    def end(self):
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _show(self, what):
        if self._shown:
            filled = 30 * self.done // max(1, self.total)
            bar = "#" * filled + "." * (30 - filled)
            line = f"\r\033[K{self.label} [{bar}] {self.done}/{self.total} {what}"
            print(line, end="", file=sys.stderr, flush=True)


def run_all(tasks, jobs, label):
    """Runs functions [(name, function)] in parallel with a progress bar; returns their results
    in order."""
    progress = Progress(len(tasks), label)

    def run(name, function):
        result = function()
        progress.step(name)
        return result

    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(run, name, function) for name, function in tasks]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        progress.end()


def digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:24]


def call(*command):
    """Runs a command, which has to succeed; returns its stdout."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise Failure(f"{command[0]}: exit status {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


class Lab:
    """Profiles, layouts and measurements, cached in a folder. May be used by several threads."""

    def __init__(self, folder, respike=RESPIKE):
        self.folder = pathlib.Path(folder).resolve()
        self.respike = pathlib.Path(respike).resolve()
        self.plugin = self.respike.parent / "respike-measure.so"
        for needed in (self.respike, self.plugin):
            if not needed.exists():
                raise Failure(f"{needed} is missing: build it with ninja")
        self._hashes = {}
        self._locks = {}
        self._guard = threading.Lock()

    # ---- keys ----

    def hash_file(self, path):
        stat = os.stat(path)
        known = (str(path), stat.st_mtime_ns, stat.st_size)
        if known not in self._hashes:
            content = pathlib.Path(path).read_bytes()
            self._hashes[known] = hashlib.sha256(content).hexdigest()[:24]
        return self._hashes[known]

    def hash_input(self, path):
        """A hash of a file's name and content, or of a folder's name: folders of one name are taken
        to hold the same files."""
        return digest(path.name, "" if path.is_dir() else self.hash_file(path))

    def key_of_run(self, run):
        words = [self.hash_input(a) if isinstance(a, pathlib.Path) else a for a in run.args]
        return digest(*words, "<", self.hash_file(run.stdin) if run.stdin else "")

    def _locked(self, key):
        with self._guard:
            return self._locks.setdefault(key, threading.Lock())

    def cached(self, path, make):
        """The JSON in a file. If the file is missing, make() gives the value, which is written
        there."""
        with self._locked(path):
            if not path.exists():
                value = make()
                path.parent.mkdir(parents=True, exist_ok=True)
                new = path.with_suffix(f".{os.getpid()}.new")
                new.write_text(json.dumps(value, indent=1) + "\n")
                new.rename(path)
            return json.loads(path.read_text())

    # ---- running ----

    @staticmethod
    def _arguments(run, scratch):
        """Arguments of a run. Files and folders get the same names everywhere (links with numbered
        names to folders), since a program may keep these names in memory that it searches."""
        folders, words = {}, []
        for word in run.args:
            if isinstance(word, pathlib.Path):
                folder = word if word.is_dir() else word.parent
                if folder not in folders:
                    folders[folder] = f"input{len(folders)}"
                    (scratch / folders[folder]).symlink_to(folder)
                word = os.path.join("..", folders[folder], "" if folder == word else word.name)
            words.append(str(word))
        return words

    @staticmethod
    def _start(image, run, command):
        """Runs a command that ends in the program; returns (stdout, stderr)."""
        with tempfile.TemporaryDirectory(prefix="respike-bench-") as scratch:
            scratch = pathlib.Path(scratch)
            (scratch / "work").mkdir()
            (scratch / "program").symlink_to(image)
            with open(run.stdin or os.devnull, "rb") as stdin:
                done = subprocess.run(
                    [*map(str, command), *Lab._arguments(run, scratch)],
                    stdin=stdin,
                    capture_output=True,
                    cwd=scratch / "work",
                    env={"PATH": os.environ["PATH"]},
                    timeout=TIMEOUT,
                )
        if done.returncode != 0:
            text = (done.stderr or done.stdout).decode(errors="replace").strip()[-300:]
            raise Failure(f"{image}: {run}: exit status {done.returncode}: {text}")
        return done.stdout, done.stderr

    # ---- the three steps ----

    def profile(self, image, runs):
        """The path of the profile of an image's runs."""
        runs_key = digest(*map(self.key_of_run, runs))
        folder = self.folder / "profiles" / digest(self.hash_file(image), runs_key)
        profile, stamp, counting = folder / "profile", folder / "stamp.json", folder / "counting"
        spool, ran = folder / "spool", folder / "ran"
        with self._locked(folder):
            tool = self.hash_file(self.respike)
            if stamp.exists() and json.loads(stamp.read_text()) == tool and profile.exists():
                return profile
            folder.mkdir(parents=True, exist_ok=True)
            call(self.respike, "image", "instrument", image, "-o", counting, "--spool", spool)
            # Another version of respike may make the same counting image: the runs then need not be
            # repeated.
            if not ran.exists() or ran.read_text() != self.hash_file(counting):
                shutil.rmtree(spool, ignore_errors=True)
                spool.mkdir()
                for run in runs:
                    qemu = ["qemu-alpha", "-L", SYSROOT, "../program"]
                    self._start(counting, run, qemu)
                ran.write_text(self.hash_file(counting))
            call(self.respike, "image", "collect", *sorted(spool.iterdir()), "-o", profile)
            stamp.write_text(json.dumps(tool))
        return profile

    def optimize(self, image, layout, profile=None):
        """The laid-out image, and the report about it. ORIGINAL is the image itself, not rewritten.
        Hot-cold optimization is on if the layout ends in HOT_COLD."""
        if layout == ORIGINAL:
            return image, {}
        named = "" if profile is None else self.hash_file(profile)
        tool = self.hash_file(self.respike)
        output = self.folder / "layouts" / digest(self.hash_file(image), layout, named, tool)
        report = output.with_suffix(".json")
        words = layout.removesuffix(HOT_COLD)
        options = [] if words == DEFAULT else ["--layout", words]
        options += ["--hot-cold", "off" if words == layout else "on"]
        if profile is not None:
            options += ["--profile", profile]
        with self._locked(output):
            if not (output.exists() and report.exists()):
                output.parent.mkdir(parents=True, exist_ok=True)
                call(
                    self.respike,
                    "image",
                    "optimize",
                    image,
                    "-o",
                    output,
                    "--report",
                    report,
                    *options,
                )
        return output, json.loads(report.read_text())

    def measure(self, image, runs):
        """The sum of the runs' costs on the model, and a hash of their outputs."""
        total = {}
        for run in runs:
            key = digest(self.hash_file(image), self.key_of_run(run), self.hash_file(self.plugin))
            figures = self.cached(
                self.folder / "measurements" / f"{key}.json", lambda: self._measure(image, run)
            )
            for name, value in figures.items():
                total[name] = total[name] + value if name in total else value
        return total

    def _measure(self, image, run):
        out, err = self._start(image, run, [self.respike, "measure", "--json", "--", "../program"])
        figures = json.loads(out)
        kept = {name: value for name, value in figures.items() if isinstance(value, int)}
        return {**kept, "output": hashlib.sha256(err).hexdigest()[:16]}

"""The tools that speed.py compares: each makes an image of a program with a profile of its training input, in a folder
of its own. Existing images that were made from the same input stay."""

import hashlib
import pathlib
import re
import shutil
import subprocess

# Of the documentation (bolt/README.md), for counts of -instrument.
BOLT = ("-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions", "-split-all-cold",
        "-split-eh", "-icf=1", "-use-gnu-stack", "-dyno-stats")


class Failed(Exception):
    pass


def call(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        lines = done.stdout.decode(errors="replace").strip().splitlines() or [""]
        raise Failed(f"{pathlib.Path(command[0]).name}: status {done.returncode}: {lines[-1][-200:]}")
    return done.stdout.decode(errors="replace")


def fresh(folder, *made_of):
    """Empties the folder; False if its contents were made from the same content."""
    contents = [p.read_bytes() if isinstance(p, pathlib.Path) else str(p).encode() for p in made_of]
    key = hashlib.sha256(b"\0".join(contents)).hexdigest()
    stamp = folder / "made-of"
    if stamp.exists() and stamp.read_text() == key and (folder / "done").exists():
        return False
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    stamp.write_text(key)
    return True


def files_of(run):
    """The files that a run reads: its arguments, its input, and those whose paths these files name."""
    files = [word for word in (*run.args, run.stdin) if isinstance(word, pathlib.Path) and word.is_file()]
    for file in list(files):
        if file.stat().st_size < 1 << 20:
            named = re.findall(r'"(/[^"\n]+)"', file.read_text(errors="replace"))
            files += [pathlib.Path(name) for name in named if pathlib.Path(name).is_file()]
    return files


def parts_of(runs):
    """The inputs that determine runs, for fresh()."""
    return [part for run in runs for part in (*map(str, run.args), *files_of(run))]


class Original:
    name = "original"

    def make(self, lab, program, folder):
        return program.image


class Bolt:
    name = "bolt"

    def __init__(self, program):
        self.program = program

    def make(self, lab, program, folder):
        output = folder / "output"
        binary = shutil.which(self.program)
        if binary is None:
            raise Failed(f"{self.program} is not installed")
        if not fresh(folder, program.image, pathlib.Path(binary), *BOLT, *parts_of(program.training)):
            return output
        data = folder / "data.fdata"
        call(self.program, program.image, "-o", folder / "counting", "-instrument", f"-instrumentation-file={data}",
             "-instrumentation-file-append-pid")
        lab.behaviour(folder / "counting", program.training)
        counted = sorted(folder.glob("data.fdata*"))
        if not counted:
            raise Failed("the counted run wrote no profile")
        merged = folder / "merged.fdata"
        merge = shutil.which(self.program.replace("llvm-bolt", "merge-fdata")) or "/usr/lib/llvm-22/bin/merge-fdata"
        call(merge, *counted, "-o", merged)
        told = call(self.program, program.image, "-o", output, f"-data={merged}", *BOLT)
        (folder / "told").write_text(told)
        (folder / "counting").unlink()
        (folder / "done").touch()
        return output


class Respike:
    def __init__(self, program, layout=None):
        self.program, self.layout = program, layout
        self.name = f"respike {layout}" if layout else "respike"

    def profile(self, lab, program, folder):
        """Kept while the image, the training and Respike are the same."""
        profile = folder / "profile"
        if fresh(folder, program.image, self.program, *parts_of(program.training)):
            spool = folder / "spool"
            call(self.program, "image", "instrument", program.image, "-o", folder / "counting", "--spool", spool)
            lab.behaviour(folder / "counting", program.training)
            call(self.program, "image", "collect", *spool.iterdir(), "-o", profile)
            shutil.rmtree(spool)
            (folder / "counting").unlink()
            (folder / "done").touch()
        return profile

    def make(self, lab, program, folder):
        profile = self.profile(lab, program, folder.parent / "respike-profile")
        output = folder / "output"
        layout = ["--layout", self.layout] if self.layout else []
        if fresh(folder, program.image, profile, self.program, *layout):
            call(self.program, "image", "optimize", program.image, "--profile", profile, "-o", output,
                 "--report", folder / "report.json", *layout)
            (folder / "done").touch()
        return output


class Gcc:
    name = "gcc"

    def make(self, lab, program, folder):
        if program.build is None:
            raise Failed("its parts come compiled")
        output = folder / "output"
        if fresh(folder, program.image, call("gcc", "--version"), *parts_of(program.training)):
            gcda = folder / "gcda"
            program.build(folder / "counting", (f"-fprofile-generate={gcda}", "-fprofile-update=single"))
            lab.behaviour(folder / "counting", program.training)
            # The compiler looks for the name that the counted object had.
            for file in gcda.rglob("*.gcda"):
                shutil.copy(file, file.with_name(re.sub(r"counting-", "output-", file.name)))
            program.build(output, (f"-fprofile-use={gcda}", "-Wno-missing-profile"))
            (folder / "done").touch()
        return output


class Lld:
    """Sections of procedures, ordered by how many instructions of them ran, most first."""

    name = "lld"

    def __init__(self, respike):
        self.respike = respike

    def make(self, lab, program, folder):
        if program.build is None:
            raise Failed("its parts come compiled")
        output = folder / "output"
        profile = self.respike.profile(lab, program, folder.parent / "respike-profile")
        if fresh(folder, program.image, profile, call("ld.lld", "--version")):
            shown = call(self.respike.program, "profile", "show", "--json", profile)
            import json
            procedures = json.loads(shown)["procedures"]
            procedures.sort(key=lambda each: -each.get("instructions", each.get("executed", 0)))
            order = folder / "order"
            order.write_text("".join(each["name"] + "\n" for each in procedures))
            program.build(output, ("-ffunction-sections", "-fuse-ld=lld", f"-Wl,--symbol-ordering-file={order}",
                                   "-Wl,--no-warn-symbol-ordering"))
            (folder / "done").touch()
        return output


def named(names, respike, bolt, layouts):
    ours = Respike(respike)
    tools = {"original": Original(), "bolt": Bolt(bolt), "respike": ours, "gcc": Gcc(), "lld": Lld(ours)}
    unknown = [name for name in names if name not in tools]
    if unknown:
        raise SystemExit(f"speed.py: no tool {', '.join(unknown)}; there are {', '.join(tools)}")
    return [tools[name] for name in names] + [Respike(respike, layout) for layout in layouts]

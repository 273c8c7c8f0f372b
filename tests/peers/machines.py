"""The machines of the tests: how programs are compiled for them, run under their emulators, and counted by these.

    machine.compile(sources, output, language, flags, folder)      the compiler's output if it fails, or None
    machine.run(program, arguments, environment)                   common.Outcome
    machine.count(program, arguments, image, environment)          (outcome, counts of that image's instructions)

Counts are by link-time address; on Itanium the number of the slot is added to the address of the bundle."""

import collections
import os
import pathlib
import platform
import shutil
import tempfile

import gcc_sources  # noqa: F401  (its folders of modules)
import build
import common
import dejagnu
import ia64_programs
import oracle

EMULATOR = os.environ.get("RESPIKE_IA64_EMULATOR", str(pathlib.Path(common.RESPIKE).parent / "respike-ia64"))
COMPILE_TIMEOUT = 300.0
COUNT_TIMEOUT = 300.0


def _option_sets(more):
    """Names of flags of the compiler and the linker; `library` is a shared library that a small program opens."""
    sets = {
        "O0": ["-O0"],
        "O1": ["-O1"],
        "O2": ["-O2"],
        "O3": ["-O3"],
        "Os": ["-Os"],
        "Og": ["-Og", "-g"],
        "unroll": "-O3 -fomit-frame-pointer -funroll-loops -fpeel-loops -ftracer -finline-functions".split(),
        "pic": ["-O2", "-fPIC"],
        "pie": ["-O2", "-fPIE", "-pie"],
        "sections": ["-O2", "-ffunction-sections", "-Wl,--gc-sections"],
        "no-tables": ["-O2", "-fno-jump-tables"],
        "library": ["-O2", "-fPIC", "-shared"],
        "library-O0": ["-O0", "-fPIC", "-shared"],
        "library-gnu": ["-O2", "-fPIC", "-shared", "-Wl,--hash-style=gnu"],
        "library-sysv": ["-O3", "-fPIC", "-shared", "-Wl,--hash-style=sysv"],
    }
    return {**sets, **more}


class Machine:
    name = triplet = ""
    ieee = ()
    sets = {}
    models = True  # a model gives the cycles of its programs

    def target(self, language):
        return dejagnu.Target(self.triplet, self.ieee, language)

    def compiler(self, language):
        raise NotImplementedError

    def compile(self, sources, output, language, flags, folder):
        command = [self.compiler(language), "-w", *flags, build.RELOCATIONS, *sources, "-o", output, "-lm", "-ldl", "-pthread"]
        done = common.run_command(command, timeout=COMPILE_TIMEOUT, cwd=folder)
        if done.status == 0:
            return None
        said = done.stderr.decode(errors="replace").strip()
        errors = [line for line in said.splitlines() if "error" in line or "undefined" in line]
        return (errors or said.splitlines() or [f"exit status {done.status}"])[0][-300:]

    def compile_stub(self, source, output, language, folder):
        """The program that opens a library of this language."""
        return self.compile([source], output, "c", ["-O1"], folder)

    def fallback(self):
        """Flags with which an original may run that fails otherwise."""
        return []


class Alpha(Machine):
    name, triplet, ieee = "alpha", "alpha-unknown-linux-gnu", ("-mieee",)
    sets = _option_sets(
        {
            "static": ["-O2", *build.KINDS["static"][1]],
            "static-O3": ["-O3", *build.KINDS["static"][1]],
            "no-relax": ["-O2", build.NO_RELAX],
            "ev67": ["-O3", "-mcpu=ev67"],
            "lto": ["-O2", "-flto", "-fno-fat-lto-objects"],
        }
    )

    def missing(self):
        return None

    def compiler(self, language):
        return build.CXX if language == "c++" else build.CC

    def fallback(self):
        # See build.NO_RELAX: exceptions from other images find a wrong gp.
        return [build.NO_RELAX]

    def run(self, program, arguments=(), environment=None, timeout=common.PROGRAM_TIMEOUT):
        with tempfile.TemporaryDirectory(prefix="respike-run-") as folder:
            command = list(common.QEMU)
            for name, value in (environment or {}).items():
                command += ["-E", f"{name}={value}"]
            return common.run_command([*command, "-0", "program", program, *arguments], timeout=timeout, cwd=folder)

    def count(self, program, arguments, image, environment=None):
        counted = oracle.count(program, arguments, images=[image], environment=environment, timeout=COUNT_TIMEOUT)
        return counted.outcome, counted.images[image]

    def measuring(self):
        return {"QEMU_LD_PREFIX": common.SYSROOT}


class Itanium(Machine):
    name, triplet = "ia64", "ia64-unknown-linux-gnu"
    sets = _option_sets({"static": ["-O2", "-static"], "static-O3": ["-O3", "-static"]})

    def missing(self):
        return None if ia64_programs.toolchain() else ia64_programs.MISSING

    def compiler(self, language):
        return ia64_programs.toolchain() / "bin" / ("ia64-linux-gnu-g++" if language == "c++" else "ia64-linux-gnu-gcc")

    # There is only a static libstdc++, which fits in no library: the program that opens the library holds all of it.
    def compile(self, sources, output, language, flags, folder):
        if language == "c++" and "-shared" in flags:
            language, flags = "c", ["-xc++", *flags]
        return super().compile(sources, output, language, flags, folder)

    def compile_stub(self, source, output, language, folder):
        if language == "c":
            return super().compile_stub(source, output, language, folder)
        whole = ["-Wl,--whole-archive", "-l:libstdc++.a", "-Wl,--no-whole-archive"]
        return self.compile([source], output, language, ["-xc", "-O1", "-rdynamic", *whole], folder)

    def sysroot(self):
        return ia64_programs.toolchain() / "sysroot"

    def _run(self, options, program, arguments, environment, timeout):
        variables = {"PATH": os.environ["PATH"], **(environment or {})}
        with tempfile.TemporaryDirectory(prefix="respike-run-") as folder:
            command = [EMULATOR, "--sysroot", self.sysroot(), "--brief", *options, "--argv0", "program", program, *arguments]
            return common.run_command(command, timeout=timeout, cwd=folder, env=variables)

    def run(self, program, arguments=(), environment=None, timeout=common.PROGRAM_TIMEOUT):
        return self._run([], program, arguments, environment, timeout)

    def count(self, program, arguments, image, environment=None):
        with tempfile.TemporaryDirectory(prefix="respike-counts-") as folder:
            file = pathlib.Path(folder) / "counts"
            outcome = self._run(["--counts", file], program, arguments, environment, COUNT_TIMEOUT)
            if not file.exists():
                raise common.Failure(f"nothing was counted: {common.describe_difference(outcome, outcome)}")
            return outcome, _read_counts(file, image)

    def measuring(self):
        return {"QEMU_LD_PREFIX": str(self.sysroot())}


def _read_counts(file, image):
    """The sum over all processes (emulators/ia64/counts.cc has the format)."""
    code, totals = oracle.Code(image), collections.Counter()
    places, slots = [], {}
    for line in file.read_text().splitlines():
        words = line.split(None, 4)
        if words[0] == "map":
            start, end, offset = (int(word, 16) for word in words[1:4])
            # A mapping begins at a page; the segment need not.
            for first, size, address in code.segments if os.path.realpath(words[4]) == code.path else ():
                if first < offset + end - start and offset < first + size:
                    places.append((start, end, start - (address - first + offset)))
        elif words[0] == "end":
            for (address, slot), count in slots.items():
                bias = next((b for start, end, b in places if start <= address < end), None)
                if bias is not None:
                    totals[address - bias + slot] += count
            places, slots = [], {}
        elif words[0] not in ("respike-ia64", "process", "slots"):
            slots[int(words[0], 16), int(words[1])] = int(words[2])
    return totals


class Host(Machine):
    """x86-64, whose programs the host runs directly."""

    name, triplet, models = "x86_64", "x86_64-unknown-linux-gnu", False
    sets = _option_sets(
        {
            "no-pie": ["-O2", "-no-pie"],
            "v3": ["-O3", "-march=x86-64-v3"],
            "cet": ["-O2", "-fcf-protection=full"],
            "no-plt": ["-O2", "-fno-plt", "-Wl,-z,now"],
            "large": ["-O2", "-mcmodel=large", "-no-pie"],
            "tls-descriptors": ["-O2", "-mtls-dialect=gnu2"],
            "gold": ["-O2", "-fuse-ld=gold"],
            "lto": ["-O2", "-flto", "-fno-fat-lto-objects"],
        }
    )

    def missing(self):
        if platform.machine() != "x86_64":
            return "this host cannot run its programs"
        lacking = [c for c in (self.compiler("c"), self.compiler("c++"), "ld.gold") if not shutil.which(c)]
        return f"{lacking[0]} is not installed" if lacking else None

    def compiler(self, language):
        return "x86_64-linux-gnu-g++" if language == "c++" else "x86_64-linux-gnu-gcc"

    def run(self, program, arguments=(), environment=None, timeout=common.PROGRAM_TIMEOUT):
        variables = {"PATH": os.environ["PATH"], **(environment or {})}
        with tempfile.TemporaryDirectory(prefix="respike-run-") as folder:
            command = ["program", *arguments]
            return common.run_command(command, timeout=timeout, cwd=folder, env=variables, executable=program)

    def count(self, program, arguments, image, environment=None):
        counted = oracle.count(
            program, arguments, images=[image], environment=environment, native=True, timeout=COUNT_TIMEOUT
        )
        return counted.outcome, counted.images[image]


MACHINES = {machine.name: machine for machine in (Alpha(), Itanium(), Host())}


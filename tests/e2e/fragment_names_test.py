#!/usr/bin/env python3
"""Programs find the names of their own code wherever it is: dladdr and backtrace_symbols name the procedure in all
fragments of procedures that dynamic symbols name, in shuffled libraries and in programs linked with -rdynamic, for
x86-64 natively and for Alpha under qemu; in all forms of hash tables and of several linkers.

A procedure calls back from each case of a switch, and each callback asks for the name of the place from which it was
called. So names come from fragments all over the image. The new symbols are found by address only: dlsym finds the same
symbols as before, linkers link against the output, strip accepts it, and it can be rewritten again.

Local symbols of fragments follow the file of their procedure in .symtab."""

import re
import shutil
import sys

import common

CASES = 24
TIMEOUT = 60.0

BODY = "\n".join(f"    case {n}: sum += note({n}) * {n + 3}; if (sum % {n + 2} == 1) sum ^= note({n + 100}); break;" for n in range(CASES))

LIBRARY = f"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void tell(const char* what, void* address) {{
  Dl_info info;
  char* place = (char*)address - 1;
  if (dladdr(place, &info) == 0) printf("%s nothing\\n", what);
  else printf("%s %s\\n", what, info.dli_sname ? info.dli_sname : "unnamed");
}}
__attribute__((noinline)) int note(int number) {{
  void* stack[3];
  char text[16];
  snprintf(text, sizeof text, "note %d", number);
  tell(text, __builtin_return_address(0));
  if (number % 5 == 0) {{
    int depth = backtrace(stack, 3);
    char** names = backtrace_symbols(stack, depth);
    for (int i = 0; i < depth; i++) printf("  %s\\n", names[i]);
    free(names);
  }}
  return number + 1;
}}
__attribute__((noinline)) int exported(int which, int sum) {{
  switch (which) {{
{BODY}
    default: sum += note(50);
  }}
  return sum;
}}
__attribute__((noinline)) static int hidden(int which, int sum) {{
  switch (which) {{
{BODY}
    default: sum -= note(51);
  }}
  return sum * 3;
}}
int twice(int which, int sum) {{ return exported(which, sum) + hidden(which, sum); }}
int alias(int which, int sum) __attribute__((alias("twice")));
"""

MAIN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int twice(int, int), alias(int, int), exported(int, int);
int main(int argc, char** argv) {
  int sum = argc;
  for (int i = 0; i < 26; i++) sum = twice(i, sum) % 1000 + alias(i, sum) % 7;
  const char* names[] = {"exported", "twice", "alias", "note", "tell", "exported.frag.0", "exported.frag.1", "twice.frag.0", "hidden", "printf"};
  for (int i = 0; i < 10; i++) printf("%s %s\\n", names[i], dlsym(RTLD_DEFAULT, names[i]) ? "found" : "not found");
  printf("%d\\n", sum);
  return 0;
}
"""

VERSIONS = "OLD { global: tell; note; };\nNEW { global: exported; twice; alias; local: *; } OLD;\n"
# Shape: flags of the link.
SHAPES = {
    "": (),
    "sysv": ("-Wl,--hash-style=sysv",),
    "gnu": ("-Wl,--hash-style=gnu",),
    "both": ("-Wl,--hash-style=both",),
    "versions": ("-Wl,--version-script=versions",),
    "lld": ("-fuse-ld=lld",),
    "lld both": ("-fuse-ld=lld", "-Wl,--hash-style=both", "-Wl,--version-script=versions"),
    "gold": ("-fuse-ld=gold",),
    "packed": ("-Wl,-z,pack-relative-relocs",),
}
COMPILERS = {"x86_64": "gcc", "alpha": "alpha-linux-gnu-gcc"}


def run_tool(command, folder):
    done = common.run_command(command, timeout=TIMEOUT, cwd=folder)
    text = done.stderr.decode(errors="replace")
    if done.status != 0 and re.search("unrecognized option|invalid linker name|cannot find 'ld'|unknown -z", text):
        raise common.Skip(text.strip()[-200:])
    common.expect(done.status == 0, f"{common.shorten_command(command)}: {text[-400:]}")
    return text


def compile_library(machine, folder, flags):
    compiler = COMPILERS[machine]
    if shutil.which(compiler) is None:
        raise common.Skip(f"there is no {compiler}")
    (folder / "library.c").write_text(LIBRARY)
    (folder / "main.c").write_text(MAIN)
    (folder / "versions").write_text(VERSIONS)
    relax = ["-Wl,--no-relax"] if machine == "alpha" else []
    run_tool([compiler, "-O2", "-fPIC", "-shared", "-Wl,-q", *relax, *flags, "library.c", "-o", "liboriginal.so", "-ldl"], folder)
    shutil.copy(folder / "liboriginal.so", folder / "libnames.so")
    run_tool([compiler, "-O2", "main.c", "-o", "program", "-L.", "-lnames", "-ldl"], folder)


def behaviour(machine, program, folder, libraries=True):
    """The program's output, without addresses and numbers of fragments; and the names with numbers."""
    if machine == "alpha":
        command = [*common.QEMU, *(["-E", f"LD_LIBRARY_PATH={folder}"] if libraries else []), program]
        environment = None
    else:
        command, environment = [program], {"LD_LIBRARY_PATH": str(folder) if libraries else ""}
    done = common.run_command(command, timeout=TIMEOUT, cwd=folder, env=environment)
    common.expect(done.status == 0, f"{program}: {common.describe_status(done.status)}: {done.stderr.decode()[-300:]}")
    text = done.stdout.decode()
    plain = re.sub(r"\.frag\.\d+", "", text)
    plain = re.sub(r"^  .*/", "  ", plain, flags=re.M)
    plain = re.sub(r"\+0x[0-9a-f]+\)", ")", plain)
    return re.sub(r"\[0x[0-9a-f]+\]", "", plain), set(re.findall(r"^note \d+ (\S+\.frag\.\d+)", text, re.M))


LEAST = {"random": 1, "scatter": 8}  # names of later fragments


def compare(machine, expected, program, folder, what, least=1):
    """The program has the expected output, and enough names come from later fragments."""
    actual, fragments = behaviour(machine, program, folder)
    for line, other in zip(expected.splitlines(), actual.splitlines()):
        common.expect(line == other, f"{what}: {line!r} became {other!r}")
    common.expect(actual == expected, f"{what}: it prints more or less")
    common.expect(len(fragments) >= least, f"{what}: only {sorted(fragments)} were told")


def check_library(machine, shape, scratch):
    folder = scratch.folder()
    compile_library(machine, folder, SHAPES[shape])
    original, output = folder / "liboriginal.so", folder / "libnames.so"
    expected, fragments = behaviour(machine, folder / "program", folder)
    common.expect(not fragments and "note 7 exported" in expected, f"the original prints {expected[:300]!r}")
    for layout in ("random", "scatter"):
        common.respike_ok("image", "optimize", original, "-o", output, "--layout", layout, "--dynamic-fragments")
        compare(machine, expected, folder / "program", folder, layout, LEAST[layout])
    common.respike_ok("image", "verify", original, output)
    again = folder / "again.so"
    common.respike_ok("image", "optimize", output, "-o", again, "--layout", "random", "--seed", "7", "--dynamic-fragments")
    if machine == "x86_64":
        check_linkers(output, folder)
        check_strip(expected, output, folder)
    shutil.copy(again, output)
    compare(machine, expected, folder / "program", folder, "rewritten again")
    counting = folder / "counting.so"
    common.respike_ok("image", "instrument", original, "-o", counting, "--spool", folder / "spool")
    shutil.copy(counting, output)
    compare(machine, expected, folder / "program", folder, "counting", least=0)


def check_linkers(library, folder):
    """Linkers link against the output without a word."""
    for linker in ("bfd", "gold", "lld"):
        if shutil.which(f"ld.{linker}") is None:
            continue
        said = run_tool(["gcc", f"-fuse-ld={linker}", "main.c", "-o", f"linked.{linker}", library, "-ldl"], folder)
        common.expect(not said, f"{linker}: {said[:300]}")


def check_strip(expected, library, folder):
    for strip in ("strip", "llvm-strip-22"):
        if shutil.which(strip) is None:
            continue
        kept = library.read_bytes()
        said = run_tool([strip, library], folder)
        common.expect(not said, f"{strip}: {said[:300]}")
        compare("x86_64", expected, folder / "program", folder, f"after {strip}")
        library.write_bytes(kept)
    for command in (["readelf", "-W", "-a", library], ["objdump", "-T", library]):
        said = run_tool(command, folder)
        common.expect(not said, f"{command[0]}: {said[:300]}")


def check_program(machine, flags, scratch):
    """A program that names its procedures for libraries (-rdynamic)."""
    folder = scratch.folder()
    compiler = COMPILERS[machine]
    if shutil.which(compiler) is None:
        raise common.Skip(f"there is no {compiler}")
    (folder / "all.c").write_text(LIBRARY + MAIN.replace("#define _GNU_SOURCE", ""))
    relax = ["-Wl,--no-relax"] if machine == "alpha" else []
    run_tool([compiler, "-O2", "-Wl,-q", "-rdynamic", *relax, *flags, "all.c", "-o", "original", "-ldl"], folder)
    shutil.copy(folder / "original", folder / "program")
    expected, fragments = behaviour(machine, folder / "program", folder)
    common.expect(not fragments and "note 7 exported" in expected, f"the original prints {expected[:300]!r}")
    for layout in ("random", "scatter"):
        common.respike_ok("image", "optimize", folder / "original", "-o", folder / "program", "--layout", layout)
        compare(machine, expected, folder / "program", folder, layout, LEAST[layout])


# --- Files of local symbols -----------------------------------------------------------------------------------------

LOCAL = """
#include <stdio.h>
__attribute__((noinline)) static int helper(int n) {{
  for (int i = 0; i < n; i++) if (i % {0} == 2) printf("{0} %d\\n", i); else n ^= i;
  return n;
}}
int work{0}(int n) {{ return n > 3 ? helper(n) + {0} : n; }}
"""


def check_files(scratch):
    folder = scratch.folder()
    for n in (3, 5):
        (folder / f"unit{n}.c").write_text(LOCAL.format(n))
    (folder / "main.c").write_text("int work3(int), work5(int); int main(int c, char** v) { return (work3(c + 20) + work5(c + 30)) & 7; }\n")
    run_tool(["gcc", "-O2", "-Wl,-q", "unit3.c", "main.c", "unit5.c", "-o", "program"], folder)
    image = folder / "program"
    for round in range(2):
        output = folder / f"output{round}"
        common.respike_ok("image", "optimize", image, "-o", output, "--layout", "scatter", "--seed", str(round + 1))
        file, files, others = "", {}, set()
        table = common.binutils("readelf", "-sW", output).split("'.symtab'")[-1]
        for value, kind, name in re.findall(r"^ *\d+: ([0-9a-f]+) +\d+ (\S+) +LOCAL +\S+ +\S+ *(.*)$", table, re.M):
            if kind == "FILE":
                file = name
            elif name.startswith("helper.frag."):
                files.setdefault(file, []).append(int(value, 16))
            elif re.match(r"(work\d|main)\.frag\.", name):
                others.add(file)
        common.expect(files.keys() == {"unit3.c", "unit5.c"}, f"fragments of helper are of {sorted(files)}")
        common.expect(others == {""}, f"fragments of global procedures are of {sorted(others)}")
        gdb = common.run_command(
            ["gdb-multiarch", "-nx", "-batch", *(word for at in files["unit3.c"] for word in ("-ex", f"info symbol {at:#x}")), output]
        )
        common.expect(gdb.stdout.decode().count("helper.frag") == len(files["unit3.c"]), f"gdb says {gdb.stdout.decode()[:300]}")
        image = output


def cases(scratch):
    yield common.Case("files of local symbols", lambda: check_files(scratch))
    for shape in SHAPES:
        yield common.Case(f"library x86_64 {shape}".strip(), lambda s=shape: check_library("x86_64", s, scratch))
    for shape in ("", "sysv", "gnu", "versions"):
        yield common.Case(f"library alpha {shape}".strip(), lambda s=shape: check_library("alpha", s, scratch))
    for name, flags in {"pie": ("-pie",), "fixed": ("-no-pie", "-fno-pie"), "lld": ("-fuse-ld=lld",)}.items():
        yield common.Case(f"program x86_64 {name}", lambda f=flags: check_program("x86_64", f, scratch))
    yield common.Case("program alpha", lambda: check_program("alpha", (), scratch))
    yield common.Case("program alpha pie", lambda: check_program("alpha", ("-pie", "-fPIE"), scratch))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

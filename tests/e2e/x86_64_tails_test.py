#!/usr/bin/env python3
"""By a profile, x86-64 programs get copies of hot tails and call imports without stubs, and behave as before.

An interpreter and programs in C and C++ are counted, optimized by the counts, compared with `image verify`, run, counted
and optimized again. Hosts of other machines skip the test."""

import functools
import json
import pathlib
import platform
import shutil
import sys

import common
from common import Skip, expect

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "programs"
scratch = common.Scratch()

# All operations end in one dispatch, and call the C library.
INTERPRETER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { PUSH, ADD, SWAP, LENGTH, LOOP, END };
static long run(const unsigned char* code, long rounds, const char* text) {
  long stack[16] = {0}, *top = stack, steps = 0;
  const unsigned char* at = code;
  for (;;) {
    ++steps;
    switch (*at++) {
      case PUSH: *++top = *at++; break;
      case ADD: top[-1] += top[0]; --top; break;
      case SWAP: { long x = top[0]; top[0] = top[-1]; top[-1] = x; break; }
      case LENGTH: top[0] += (long)strlen(text + (top[0] & 3)); break;
      case LOOP: if (--rounds > 0) at = code; break;
      case END: return top[0] * 1000000 + steps % 1000000;
      default: abort();
    }
  }
}
int main(int argc, char** argv) {
  const unsigned char code[] = {PUSH, 3, PUSH, 4, SWAP, LENGTH, ADD, PUSH, 1, ADD, LENGTH, SWAP, ADD, LOOP, END};
  const unsigned char calm[] = {PUSH, 2, LOOP, END};
  long sum = 0;
  for (int i = 0; i < 50; ++i) sum += run(i % 5 ? code : calm, 200, argv[0] + 2) % 1000;
  char line[64];
  for (int i = 0; i < 2000; ++i) sum += snprintf(line, sizeof line, "%d %s", i, argc > 1 ? argv[1] : "none");
  printf("%ld\n", sum);
  return 0;
}
"""
# A switch in a loop, as gcc compiles it; gcc itself takes minutes for 16,000 cases.
SWITCH = """
	.text
	.globl main
	.type main, @function
main:
	push %rbx
	push %r12
	push %r13
	mov $200000, %ebx
	mov $1, %r12d
	xor %r13d, %r13d
next:
	dec %ebx
	js done
	imul $1664525, %r12d, %r12d
	add $1013904223, %r12d
	mov %r12d, %eax
	shr $8, %eax
	xor %edx, %edx
	mov $CASES, %ecx
	div %ecx
	cmp $CASES-1, %edx
	ja done
	lea table(%rip), %rax
	movslq (%rax,%rdx,4), %rdx
	add %rax, %rdx
	notrack jmp *%rdx
HANDLERS
done:
	lea format(%rip), %rdi
	mov %r13d, %esi
	xor %eax, %eax
	call printf@PLT
	xor %eax, %eax
	pop %r13
	pop %r12
	pop %rbx
	ret
	.size main, .-main
	.section .rodata
format:
	.string "%u\\n"
	.p2align 2
table:
TABLE
	.section .note.GNU-stack,"",@progbits
"""
FLAGS = {
    "pie": ["-O2"],
    "fixed": ["-O2", "-no-pie"],
    "now": ["-O2", "-Wl,-z,now"],
    "cet": ["-O2", "-fcf-protection", "-Wl,-z,ibtplt"],
    "static": ["-O2", "-static"],
}


def compiled(output, source, flags):
    compiler = "g++" if source.suffix == ".cc" else "gcc"
    if shutil.which(compiler) is None:
        raise Skip(f"there is no {compiler}")
    standard = ["-std=c++20"] if compiler == "g++" else []
    done = common.run_command([compiler, "-w", "-Wl,-q", *standard, source, *flags, "-o", output, "-lm", "-pthread"],
                              timeout=common.TOOL_TIMEOUT)
    expect(done.status == 0, done.stderr.decode()[:400])
    return output


def run(image):
    with common.Scratch() as own:
        folder = own.folder()
        (folder / "program").symlink_to(image)
        return common.run_command(["./program"], cwd=folder)


def optimized(image, output, expected, *options):
    """Optimizes by the counts of a run; the report."""
    with common.Scratch() as own:
        folder = own.folder()
        counting, spool = folder / "counting", folder / "spool"
        common.respike_ok("image", "instrument", image, "-o", counting, "--spool", spool)
        expect(run(counting).behaviour() == expected.behaviour(), "the counted program behaves differently")
        common.respike_ok("image", "collect", *spool.iterdir(), "-o", folder / "profile")
        report = folder / "report.json"
        common.respike_ok("image", "optimize", image, "--profile", folder / "profile", "-o", output, "--report", report, *options)
        told = json.loads(report.read_text())
    actual = run(output)
    expect(actual.behaviour() == expected.behaviour(), common.describe_difference(expected, actual))
    common.respike_ok("image", "verify", image, output)
    return told


def twice(source, flags):
    """Layouts requested by the user are written whatever they gain, so that something changes."""
    folder = scratch.folder()
    image = compiled(folder / "image", source, flags)
    expected = run(image)
    optimized(image, folder / "first", expected, "--layout", "ext-tsp,split,colour")
    optimized(folder / "first", folder / "second", expected, "--layout", "ext-tsp,split,colour")
    if shutil.which("strip") is not None:
        common.run_command(["strip", folder / "second", "-o", folder / "stripped"], timeout=common.TOOL_TIMEOUT)
        expect(run(folder / "stripped").behaviour() == expected.behaviour(), "behaves differently after strip")


def interpreter(kind):
    folder = scratch.folder()
    source = folder / "interpreter.c"
    source.write_text(INTERPRETER)
    image = compiled(folder / "image", source, FLAGS[kind])
    expected = run(image)
    told = optimized(image, folder / "output", expected, "--layout", "ext-tsp,split,colour")
    expect(told["copied_tails"] > 0, "no tail was copied")
    expect(told["direct_imports"] > 0 or kind == "static", "no import is called directly")
    told = optimized(image, folder / "without", expected, "--layout", "ext-tsp,split,colour", "--hot-cold", "off")
    expect(told["copied_tails"] == 0 and told["direct_imports"] == 0, "--hot-cold off changes instructions")
    twice(source, FLAGS[kind])


def large_switch():
    """Counting a switch of 16,000 cases and its layout by the counts take some 7 times as long as a random layout; they
    took 65 times as long while each step of the walk looked at all cases."""
    cases, folder = 16000, scratch.folder()
    source = folder / "switch.s"
    handlers = (f"case{i}:\n\timul ${2 * i + 3}, %r13d, %r13d\n\tadd ${i}, %r13d\n\tjmp next\n" for i in range(cases))
    text = SWITCH.replace("HANDLERS", "".join(handlers)).replace("CASES", str(cases))
    source.write_text(text.replace("TABLE", "".join(f"\t.long case{i}-table\n" for i in range(cases))))
    image = compiled(folder / "image", source, ["-pie"])
    expected = run(image)
    measurements = (
        lambda: common.respike_ok("image", "optimize", image, "--layout", "random", "-o", scratch.file("random")),
        lambda: optimized(image, scratch.file("output"), expected),
    )
    timed = [lambda m=measure: common.processor_seconds(m) for measure in measurements]
    random, by_counts = common.least_times(timed, lambda random, by_counts: by_counts < 20 * random, times=1)
    expect(by_counts < 20 * random, f"{by_counts:.1f} s by the counts, {random:.1f} s at random")


def main():
    args = common.argument_parser(__doc__).parse_args()
    if platform.machine() != "x86_64":
        print(f"skipped: this host is {platform.machine()}, not x86_64")
        return 0
    cases = [common.Case(f"interpreter.{kind}", functools.partial(interpreter, kind)) for kind in FLAGS]
    names = ("c/interpreter", "c/switches", "c/signals", "cxx/exceptions", "cxx/containers", "cxx/concurrency", "cxx/modern")
    for source in [SOURCES / f"{name}{'.cc' if name.startswith('cxx') else '.c'}" for name in names]:
        if source.exists():
            cases.append(common.Case(source.stem, functools.partial(twice, source, FLAGS["pie"])))
    cases.append(common.Case("large switch", large_switch))
    with scratch:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

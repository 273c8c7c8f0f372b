"""Turns gcc's assembly for Alpha Linux into the form that compilers for Windows NT gave their code.

Linux code finds everything relative to gp; NT code has no gp. If gp is taken for 0, an offset from gp is the address
itself, so the conversion is textual: the instructions that load gp go, register 29 becomes register 31, which reads as
0, and words relative to gp become addresses. The ELF relocations GPRELHIGH and GPRELLOW then correspond to REFHI and
REFLO in NT's objects.

Each procedure gets an entry of .pdata: begin, end, handler, handler's data, end of the prolog. Example:

    f:  lda $30,-16($30)
        stq $26,0($30)         the prolog ends here: the entry is {f, end of f, 0, 0, f + 8}
        bsr $26,g

Thread-local variables are at distances from the thread's copy of the image's template, which code finds through the
block of the thread (rdteb) and the number of the image (emulators/nt/thread_data.c). Where Linux's code asks for the
thread pointer, the code asks for that copy; register 28 is needed, so files with such variables are compiled with
THREAD_FLAGS.
"""

import re

# Deliberately not scheduled: prologs must be contiguous, since unwinders of NT read their code.
COMPILER_FLAGS = (
    "-O2 -fno-pic -mexplicit-relocs -msmall-data -G0 -msmall-text -fno-schedule-insns2 "
    "-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions -fno-stack-protector -fno-common "
    "-U_FORTIFY_SOURCE -fvisibility=hidden"
).split()

# For files with thread-local variables.
THREAD_FLAGS = ["-ftls-model=local-exec", "-ffixed-28"]
FIND_THREAD_DATA = [
    "\tldah $28,_tls_index($31)\t!gprelhigh",
    "\tcall_pal 0xab",
    "\tldl $0,44($0)",
    "\tldl $28,_tls_index($28)\t!gprellow",
    "\ts4addl $28,$0,$0",
    "\tldl $0,0($0)",
]

# Saves of registers, the frame, and the copy of the stack pointer.
PROLOG = re.compile(
    r"\s*(ldah?|subq) \$30,|\s*stq \$(9|1[0-5]|26),-?\d+\(\$30\)|\s*stt \$f[2-9],-?\d+\(\$30\)"
    r"|\s*(mov|bis) \$30,(\$30,|\$31,)?\$15|\s*(unop|nop|fnop)$"
)
LITERAL = re.compile(r"\s*ldq (\$\d+),([^(]+)\(\$29\)\s+!literal")
IS_INSTRUCTION = re.compile(r"\s+[a-z]")


def form_address(register, symbol):
    return [f"\tldah {register},{symbol}($31)\t!gprelhigh", f"\tlda {register},{symbol}({register})\t!gprellow"]


def end_prolog(out, name):
    out.append(f"$prolog_end_{name}:")
    return False


def convert(assembly):
    """The assembly of one file in NT's form."""
    out, procedures, name, in_prolog = [], [], None, False
    for line in assembly.splitlines():
        if "!gpdisp" in line or re.match(r"\$\S+\.\.ng:", line):
            continue
        if literal := LITERAL.match(line):
            out += form_address(literal[1], literal[2])
            continue
        if re.match(r"\s*call_pal 0x9e$", line):
            in_prolog = end_prolog(out, name) if in_prolog else False
            out += FIND_THREAD_DATA
            continue
        line = re.sub(r"\s+!lituse_\w+!\d+", "", line)
        line = line.replace("($29)", "($31)").replace("addq $29,", "addq $31,").replace(".gprel32", ".long")
        if entry := re.match(r"\s*\.ent (\S+)", line):
            name = entry[1]
        if re.match(r"\s*\.prologue", line):
            in_prolog = True
            line = "\t.prologue 0"
        elif in_prolog and (IS_INSTRUCTION.match(line) or line.endswith(":")) and not PROLOG.match(line):
            in_prolog = end_prolog(out, name)
        out.append(line)
        if end := re.match(r"\s*\.end (\S+)", line):
            if in_prolog:
                out.insert(-1, f"$prolog_end_{name}:")
                in_prolog = False
            out.append(f"$end_{end[1]}:")
            procedures.append(end[1])
    out.append('\t.section .pdata,"a",@progbits\n\t.align 2')
    out += [f"\t.long {p},$end_{p},0,0,$prolog_end_{p}" for p in procedures]
    out.append('\t.section .note.GNU-stack,"",@progbits')
    return "\n".join(out) + "\n"

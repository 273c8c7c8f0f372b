"""Delayed imports: libraries that are loaded when their first function is called.

For each function there is a slot, which leads to a piece of code that loads the library at first. That code passes the
address of the slot to delay_load.c (on NT: to a helper that every program contains), which loads the library, looks the
function up, and puts the address of the function into the slot.

    f:       load the slot, jump
    load_f:  $28 = address of the slot; go to the library's common code
    common:  save arguments, call the helper, restore arguments, jump to the function

Format: Microsoft PE/COFF specification, section 5.8 (delay-load import tables). In the older form tables hold
addresses, in the newer form (attribute 1) distances from the base; link.py makes the newer form from the older."""

import tables

ARGUMENTS = [f"q ${n}" for n in range(16, 22)] + [f"t $f{n}" for n in range(16, 22)]
FRAME = 112


def assembly(library, functions, relative=False):
    """`functions`: names, or (name, number)."""
    functions = [f if isinstance(f, tuple) else (f, None) for f in functions]
    text, slots, names, hints = [], [], [], []
    for name, number in functions:
        text += [
            "\t.align 4", f"\t.globl {name}", f"\t.ent {name}", f"{name}:",
            f"\tldah $27,__imp_{name}($31)\t!gprelhigh", f"\tldl $27,__imp_{name}($27)\t!gprellow", "\tjmp $31,($27),0",
            f"\t.end {name}",
            f"\t.ent $load_{name}", f"$load_{name}:",
            f"\tldah $28,__imp_{name}($31)\t!gprelhigh", f"\tlda $28,__imp_{name}($28)\t!gprellow", "\tbr $31,$common",
            f"\t.end $load_{name}",
        ]
        slots += [f"\t.globl __imp_{name}", f"__imp_{name}:", f"\t.long $load_{name}"]
        names.append(f"\t.long {0x80000000 | number if number is not None else f'$hint_{name}'}")
        hints += ["\t.align 1", f"$hint_{name}:", "\t.short 0", f'\t.asciz "{name}"']
    places = [(f"{what},{8 * i + 8}($30)") for i, what in enumerate(ARGUMENTS)]
    text += ["\t.align 4", "\t.ent $common", "$common:", f"\tlda $30,-{FRAME}($30)", "\tstq $26,0($30)"]
    text += [f"\tst{p}" for p in places]
    text += [
        "$prolog_end:", "\tldah $16,__delay_descriptors($31)\t!gprelhigh", "\tlda $16,__delay_descriptors($16)\t!gprellow",
        "\tmov $28,$17", "\tbsr $26,__delay_load\t\t!samegp", "\tmov $0,$27", "\tldq $26,0($30)",
    ]
    text += [f"\tld{p}" for p in places]
    text += [f"\tlda $30,{FRAME}($30)", "\tjmp $31,($27),0", "$end:", "\t.end $common"]
    lines = ["\t.set noreorder", "\t.set volatile", "\t.set noat", "\t.set nomacro", "\t.text", *text]
    lines += ["\t.section .pdata,\"a\",@progbits", "\t.align 2", "\t.long $common,$end,0,0,$prolog_end"]
    lines += ["\t.data", "\t.align 2", "$slots:", *slots, "\t.long 0", "$handle:", "\t.long 0"]
    lines += [f"\t.section {tables.DELAY_TABLE},\"a\",@progbits", "\t.align 2", "\t.globl __delay_descriptors", "__delay_descriptors:"]
    lines += [f"\t.long {int(relative)},$library,$handle,$slots,$names,0,0,0", "\t.long 0,0,0,0,0,0,0,0"]
    lines += ["$names:", *names, "\t.long 0", *hints, "$library:", f'\t.asciz "{library}"']
    return "\n".join(lines) + '\n\t.section .note.GNU-stack,"",@progbits\n'

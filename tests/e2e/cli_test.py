#!/usr/bin/env python3
"""The command line keeps its promises: info, disasm, --only, --skip, --report, --help and exit
status 2.

Also, over all programs: at most 1% of the procedures and 2% of the text bytes are opaque, each with
a reason. The exception is `offsets`, whose purpose is a procedure that cannot be understood."""

import json
import re
import sys

import common
import profiles

MAX_OPAQUE_PROCEDURES = 0.01
MAX_OPAQUE_BYTES = 0.02
INFO_FIELDS = {
    "format": str,
    "machine": str,
    "procedures": int,
    "opaque_procedures": int,
    "opaque": list,
    "blocks": int,
    "instructions": int,
    "text_bytes": int,
    "opaque_bytes": int,
    "relocations": int,
}


def read_info(image):
    return json.loads(common.respike_ok("image", "info", image, "--json").stdout)


def check_info(image, is_understood):
    info = read_info(image)
    for field, kind in INFO_FIELDS.items():
        common.expect(isinstance(info.get(field), kind), f"field {field}: {info.get(field)!r}")
    common.expect(info["machine"] == "alpha", f"machine {info['machine']!r}")
    common.expect("ELF" in info["format"].upper(), f"format {info['format']!r}")
    common.expect(info["blocks"] >= info["procedures"] > 0, "fewer blocks than procedures")
    common.expect(info["instructions"] >= info["blocks"], "fewer instructions than blocks")
    common.expect(
        0 < info["instructions"] * 4 <= info["text_bytes"] + 4,
        f"{info['instructions']} instructions in {info['text_bytes']} bytes",
    )
    common.expect(info["relocations"] > 0, "no relocations")
    common.expect(
        len(info["opaque"]) == info["opaque_procedures"],
        "the list of opaque procedures is not complete",
    )
    for entry in info["opaque"]:
        common.expect(entry["name"] and len(entry["reason"]) > 10, f"no reason: {entry}")
    if not is_understood:
        return
    share = info["opaque_procedures"] / info["procedures"]
    common.expect(
        share <= MAX_OPAQUE_PROCEDURES,
        f"{share:.1%} of the procedures are opaque: {info['opaque'][:5]}",
    )
    share = info["opaque_bytes"] / info["text_bytes"]
    common.expect(
        share <= MAX_OPAQUE_BYTES, f"{share:.1%} of the text is opaque: {info['opaque'][:5]}"
    )


def check_info_text(image):
    text = common.respike_ok("image", "info", image).stdout.decode()
    for word in ("alpha", "procedures", "blocks", "instructions", "relocations", "opaque"):
        common.expect(word in text, f"no {word!r} in {text!r}")
    common.expect(
        str(read_info(image)["procedures"]) in text, "the number of procedures is missing"
    )


def check_disasm(image):
    whole = common.respike_ok("image", "disasm", image).stdout.decode()
    common.expect(" 1 block" in whole and " 1 blocks" not in whole, "one block is no blocks")
    one = common.respike_ok("image", "disasm", image, "--procedure", "ackermann").stdout.decode()
    common.expect(
        "ackermann" in one and "huge_frame" not in one.split("ackermann")[0],
        "not the procedure's listing",
    )
    common.expect(
        0 < len(one) < len(whole) / 4, "the listing of one procedure is as long as the whole"
    )
    outcome = common.respike("image", "disasm", image, "--procedure", "no_such_procedure")
    common.expect(
        outcome.status == 1 and b"no_such_procedure" in outcome.stderr,
        f"unknown procedure: {outcome}",
    )


def code_of(image, name):
    """The code of a procedure's symbol: its words, in order."""
    symbol = next(s for s in common.read_symbols(image) if s.name == name)
    words = [w for section in common.objdump_code(image) for w in section]
    return symbol.value, [
        w.word for w in words if symbol.value <= w.address < symbol.value + symbol.size
    ]


def fragments(image):
    return {
        m[1] for s in common.read_symbols(image) if (m := re.match(r"(.*)\.frag\.\d+$", s.name))
    }


def check_only(program, scratch):
    output = scratch.file("only")
    common.optimize(
        program.image,
        output,
        "--layout",
        "random",
        "--seed",
        "1",
        "--only",
        "ackermann",
        "--only",
        "main",
    )
    common.check_behaviour(program, output)
    common.expect(fragments(output) <= {"ackermann", "main"}, f"also moved: {fragments(output)}")
    common.expect("main" in fragments(output), "main was not moved")
    before, after = code_of(program.image, "huge_frame"), code_of(output, "huge_frame")
    common.expect(
        before[0] == after[0] and len(before[1]) == len(after[1]),
        "a procedure that was not named moved",
    )


def check_skip(program, scratch):
    output = scratch.file("skip")
    common.optimize(
        program.image,
        output,
        "--layout",
        "random",
        "--seed",
        "1",
        "--skip",
        "main",
        "--skip",
        "huge_frame",
    )
    common.check_behaviour(program, output)
    for name in ("main", "huge_frame"):
        before, after = code_of(program.image, name), code_of(output, name)
        common.expect(before[0] == after[0] and len(before[1]) == len(after[1]), f"{name} moved")
    common.expect(
        not fragments(output) & {"main", "huge_frame"}, "a skipped procedure has fragments"
    )
    common.expect(fragments(output), "nothing was moved")


def check_unknown_name(program, scratch, option):
    output = scratch.file("unknown")
    outcome = common.respike(
        "image", "optimize", program.image, "-o", output, option, "no_such_procedure"
    )
    common.expect(
        outcome.status == 1 and b"no_such_procedure" in outcome.stderr, f"{option}: {outcome}"
    )
    common.expect(not output.exists(), "an output was written")


def check_report(program, scratch):
    output, report = scratch.file("output"), scratch.file("report.json")
    common.optimize(program.image, output, "--layout", "random", "--seed", "2", "--report", report)
    data = json.loads(report.read_text())
    info = read_info(program.image)
    common.expect(
        data["procedures"] == info["procedures"],
        f"{data['procedures']} procedures reported, info says {info['procedures']}",
    )
    common.expect(
        0 < data["moved_procedures"] <= data["procedures"], f"{data['moved_procedures']} moved"
    )
    common.expect(
        data["opaque"] == info["opaque"], "info and report differ about opaque procedures"
    )
    common.expect(data["output_bytes"] == output.stat().st_size, "the output's size is wrong")
    common.expect(data["layout"] == "random" and data["seed"] == 2, "layout or seed are missing")


def check_profile_report(program, scratch):
    output, report, profile = (scratch.file(n) for n in ("output", "report.json", "profile"))
    profiles.make("random", "1", program.image, profile)
    common.optimize(program.image, output, "--profile", profile, "--report", report)
    data = json.loads(report.read_text())
    common.expect(data["profile"] == str(profile), f"profile {data['profile']!r}")
    common.expect(data["profiled_procedures"] == data["procedures"], "not all procedures matched")
    common.expect(data["profiled_share"] == 1, f"{data['profiled_share']} of the work matched")
    common.expect(data["dropped_nops"] > 0, "no no-op was dropped")


def check_help(arguments):
    outcome = common.respike(*arguments, "--help")
    text = outcome.stdout.decode()
    common.expect(
        outcome.status == 0 and not outcome.stderr,
        f"exit status {outcome.status}, stderr {outcome.stderr!r}",
    )
    common.expect(len(text.splitlines()) >= 3, f"help is {text!r}")


def wrong_usages(image, scratch):
    out = scratch.file("out")
    yield "no command", []
    yield "unknown command", ["frobnicate"]
    yield "no subcommand", ["image"]
    yield "unknown subcommand", ["image", "frobnicate", image]
    yield "info without image", ["image", "info"]
    yield "info with two images", ["image", "info", image, image]
    yield "unknown option", ["image", "info", image, "--frobnicate"]
    yield "optimize without image", ["image", "optimize"]
    yield "optimize without output", ["image", "optimize", image]
    for layout in (
        *("spiral", "", ",", "chain,", ",chain", "Chain", "chain split"),
        *("chain,chain", "split,split", "chain,ext-tsp", "place,segments", "segments,cdsort"),
        *("random,split", "chain,original"),
    ):
        yield f"layout {layout!r}", ["image", "optimize", image, "-o", out, "--layout", layout]
    yield "profile without a name", ["image", "optimize", image, "-o", out, "--profile", ""]
    yield "spool without a name", ["image", "instrument", image, "-o", out, "--spool", ""]
    yield "instrumented image without a name", ["image", "instrument", image, "-o", ""]
    yield "seed is no number", [
        "image",
        "optimize",
        image,
        "-o",
        out,
        "--layout",
        "random",
        "--seed",
        "many",
    ]
    yield "negative seed", [
        "image",
        "optimize",
        image,
        "-o",
        out,
        "--layout",
        "random",
        "--seed",
        "-1",
    ]
    yield "option without value", ["image", "optimize", image, "-o"]
    yield "verify with one image", ["image", "verify", image]


def check_usage(arguments):
    outcome = common.respike(*arguments)
    text = outcome.stderr.decode()
    common.expect(
        outcome.status == 2, f"exit status {outcome.status} instead of 2; stderr {text!r}"
    )
    common.expect(text.strip(), "no message on stderr")


def check_verify(program, scratch):
    output = scratch.file("output")
    common.optimize(program.image, output, "--layout", "random")
    common.respike_ok("image", "verify", program.image, output)
    common.respike_ok("image", "verify", program.image, program.image)
    other = common.find_program("strings.dynamic").image
    outcome = common.respike("image", "verify", program.image, other)
    common.expect(outcome.status == 1 and outcome.stderr, f"another program is accepted: {outcome}")


# Objects without a source file's name: the linker names them in the symbol table.
NAMELESS = """
        .set    noat
        .text
        .globl  __start, leave
        .ent    __start
__start:
        .frame  $30, 0, $26, 0
        .prologue 0
local:
        br      leave
        .end    __start
        .ent    leave
leave:
        .frame  $30, 0, $26, 0
        .prologue 0
        bis     $31, 1, $0
        call_pal 0x83
        .end    leave
"""


def check_verify_rebuilt(scratch):
    """The same code out of objects of other names, as compilers make them up, is the same."""
    folder, images = scratch.folder(), []
    for name in ("one", "two"):
        (folder / f"{name}.s").write_text(NAMELESS)
        link = ["-nostdlib", "-static", "-Wl,-q,-e,__start", f"{name}.o", "-o", name]
        for command in (["-c", f"{name}.s"], link):
            outcome = common.run_command(["alpha-linux-gnu-gcc", *command], cwd=folder)
            common.expect(outcome.status == 0, outcome.stderr.decode())
        images.append(folder / name)
        names = [s.name for s in common.read_symbols(images[-1])]
        common.expect(f"{name}.o" in names, f"no symbol of the object: {names}")
    common.respike_ok("image", "verify", *images)


def check_unused_profile(program, scratch):
    """Layouts that go by no counts say so when they get some."""
    output, report, profile = (scratch.file(n) for n in ("output", "report.json", "profile"))
    profiles.make("random", "1", program.image, profile)
    for layout in ("original", "random", "scatter"):
        outcome = common.optimize(
            *(program.image, output, "--layout", layout),
            *("--profile", profile, "--report", report),
        )
        warning = f"the profile is not used: the layout {layout} goes by no counts"
        common.expect(
            outcome.stderr.decode() == f"respike: warning: {warning}\n",
            f"{layout}: {outcome.stderr!r}",
        )
        common.expect(warning in json.loads(report.read_text())["warnings"], "not reported")
    outcome = common.optimize(program.image, output, "--layout", "chain", "--profile", profile)
    common.expect(not outcome.stderr, f"chain: {outcome.stderr!r}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    program = common.find_program("calls.dynamic")
    image = program.image
    with common.Scratch() as scratch:
        cases = [
            common.Case(
                f"info: {name}", lambda n=name, i=path: check_info(i, not n.startswith("offsets."))
            )
            for name, path in common.all_images()
        ]
        cases += [
            common.Case("info as text", lambda: check_info_text(image)),
            common.Case("disasm", lambda: check_disasm(image)),
            common.Case("--only", lambda: check_only(program, scratch)),
            common.Case("--skip", lambda: check_skip(program, scratch)),
            common.Case(
                "--only with an unknown name",
                lambda: check_unknown_name(program, scratch, "--only"),
            ),
            common.Case(
                "--skip with an unknown name",
                lambda: check_unknown_name(program, scratch, "--skip"),
            ),
            common.Case("--report", lambda: check_report(program, scratch)),
            common.Case("--profile --report", lambda: check_profile_report(program, scratch)),
            common.Case("unused profile", lambda: check_unused_profile(program, scratch)),
            common.Case("verify", lambda: check_verify(program, scratch)),
            common.Case("verify a rebuilt program", lambda: check_verify_rebuilt(scratch)),
        ]
        for arguments in (
            [],
            ["image"],
            *(["image", c] for c in ("info", "disasm", "optimize", "verify")),
        ):
            cases.append(
                common.Case(
                    f"help: {' '.join(arguments) or 'respike'}", lambda a=arguments: check_help(a)
                )
            )
        for what, arguments in wrong_usages(image, scratch):
            cases.append(common.Case(f"usage: {what}", lambda a=arguments: check_usage(a)))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

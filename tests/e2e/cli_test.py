#!/usr/bin/env python3
"""The command line keeps its promises: info, disasm, --only, --skip, --report, --help and exit
status 2.

Also, over all programs: at most 1% of the procedures and 2% of the text bytes are opaque, each with
a reason. The exception is `offsets`, whose purpose is a procedure that Respike cannot
understand."""

import json
import pathlib
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


def check_nothing_left(program, scratch):
    """A procedure chosen by --only and left out by --skip does not move, and a warning says that nothing moves."""
    options = ["--layout", "random", "--only", "main", "--skip", "main"]
    outcome = common.optimize(program.image, scratch.file("nothing"), *options)
    common.expect(b"nothing moves" in outcome.stderr, f"no warning: {outcome}")


def check_demangled(scratch):
    """Names are as in the symbol table, unless the output is a terminal, or as the options say."""
    image = common.PROGRAMS / "x86_64" / "images" / "exceptions.patchable.pie"  # whose C++ procedures are opaque
    if not image.exists():
        raise common.Skip("there are no programs for x86-64")
    words = ["image", "info", image]
    plain, source = (common.respike_ok(*words, *option).stdout.decode() for option in ([], ["--demangle"]))
    common.expect("_Z" in plain and "_Z" not in source and "std::operator+" in source, f"{plain} {source}")
    command = f"{common.RESPIKE} image info {image}"
    terminal, kept = (
        common.run_command(["script", "-qec", command + option, "/dev/null"]).stdout.decode().replace("\r", "")
        for option in ("", " --no-demangle")
    )
    common.expect((terminal, kept) == (source, plain), f"on a terminal: {terminal} {kept}")


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
        *("chain,chain", "split,split", "chain,ext-tsp", "place,colour", "colour,cdsort"),
        *("random,split", "chain,original"),
    ):
        yield f"layout {layout!r}", ["image", "optimize", image, "-o", out, "--layout", layout]
    yield "profile without a name", ["image", "optimize", image, "-o", out, "--profile", ""]
    yield "disasm's profile without a name", ["image", "disasm", image, "--profile", ""]
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


def usage_messages(image, scratch):
    """[(arguments, part of the message)]"""
    out, profile = scratch.file("out"), scratch.file("profile")
    yield ["frobnicate"], "unknown command frobnicate: the commands are image, profile,"
    yield ["frobnicate", "--json", image], "unknown command frobnicate"
    yield ["image", "frobnicate", image], "unknown command frobnicate: the commands are info,"
    yield ["--frobnicate"], "unknown option --frobnicate"
    yield [], "no command: the commands are image"
    yield ["optimise", image], "unknown command optimise, did you mean optimize? the commands are"
    yield ["image", "ifno", image], "unknown command ifno, did you mean info?"
    yield ["image", "optimize", image, "--layuot", "original", "-o", out], "unknown option --layuot, did you mean --layout?"
    yield ["image", "optimize", image, out], f"give the output with -o: -o {out}"
    yield ["image", "optimize", image], "give the output with -o FILE"
    yield ["image", "optimize", image, "-o"], "give the output with -o FILE"
    yield ["image", "optimize", image, "-o", out, "-o", out], "--output is given more than once"
    yield ["image", "optimize", image, "-o", out, "--layout"], "--layout needs a value"
    yield ["verify", image, image], "unknown command verify, did you mean respike image verify?"
    yield ["optimize", "x", "-o", out], f"not expected: -o {out}; of an image: respike image optimize x -o {out}"
    yield ["compare", image], "give two programs: respike compare BEFORE AFTER; the name of an application stands alone"
    yield ["profile", "merge", profile], "give the output with -o FILE"
    yield ["measure", image], f"the program stands behind --: respike measure -- {image}"
    yield ["measure"], "the program stands behind --: respike measure -- PROGRAM [ARGS...]"
    yield ["measure", "--"], "the program stands behind --: respike measure -- PROGRAM [ARGS...]"
    yield ["exec", "app", "make", "check"], "the command stands behind --: respike exec app -- make check"
    yield ["exec", "app,other", "--"], "the command stands behind --: respike exec app,other -- COMMAND [ARGS...]"
    yield ["compare", image, image, "--by", "line"], "unknown option --by"
    yield ["compare", image, image, "x"], f"arguments stand behind --: respike compare {image} {image} -- x"
    yield ["export", "app"], "DIR, --root DESTDIR or --into DESTDIR"
    yield ["image", "info", image, "a.profile", "--profile"], "not expected: a.profile --profile"
    yield ["image", "--fast", "info", image], "unknown option --fast"
    yield ["image", "optimize", image, "-o", out, "--fast"], "image optimize: unknown option --fast"
    yield ["image", "optimize", image, "-o", out, "-z"], "image optimize: unknown option -z"
    yield ["image", "optimize", image, "-o", out, "--layuot=random"], "unknown option --layuot, did you mean --layout?"
    yield ["measure", "--fast", "--", image], "measure: unknown option --fast"
    yield ["exec", "app", "--fast", "make"], "exec: unknown option --fast"
    yield ["image", "info"], "image info: IMAGE is missing"
    yield ["image", "verify", image], "image verify: OUT is missing"
    yield ["mode", "app"], "mode: MODE is missing"
    yield ["mode", "app", "fast"], 'mode: MODE: "fast" is none of original, instrumented, optimized'
    yield ["image", "optimize", image, "-o", out, "--hot-cold", "no"], '--hot-cold: "no" is none of on, off'
    yield ["image", "instrument", image, "-o", out, "--counters", "some"], '--counters: "some" is none of shared, atomic, threads'
    yield ["measure", "--model", "vax", "--", image], '--model: "vax" is none of alpha21164, '
    yield ["measure", "--native", "--model", "zen3", "--", image], "exclude each other"
    yield ["image", "optimize", image, "-o", out, "--debug-output", out], "--debug-output needs --debug-file"
    yield ["image", "info", image, "--json=maybe"], "image info: --json takes no value"
    yield ["prune", "--keep", "0"], 'prune: --keep: "0" is no number from 1 to 1000000'
    yield ["check", "app", "--runs", "x", "--"], 'check: --runs: "x" is no number from 2 to 100000'
    yield ["check", "app", "--driver", "true", "--stop-within", "0", "--"], 'check: --stop-within: "0" is no number from 1 to 86400'
    yield ["optimize", "app", "--half-life", "0"], '--half-life: "0" is no number above 0'
    yield ["optimize", "app", "--half-life", "2", "--profile", profile], "exclude each other"
    yield ["export", "app", out, "--root", out], "exclude each other"
    yield ["profile", "shwo", profile], "profile: unknown command shwo, did you mean show?"
    yield ["help", "image", "fly"], "help: unknown command image fly"
    for number in ("-1", "99999999999999999999", "", "1.5", "0x3", " 1", "1 "):
        yield ["profile", "show", profile, "--top", number], f'--top: "{number}" is no number'
        yield ["image", "optimize", image, "-o", out, "--seed", number], "--seed: "
    yield ["image", "optimize", image, "-o", "-"], "standard output"
    yield ["image", "optimize", image, "-o", out, "--report", "-"], "standard output"
    yield ["image", "instrument", image, "-o", "-"], "standard output"
    yield ["image", "instrument", image, "-o", out, "--block-map", "-"], "standard output"
    yield ["image", "collect", profile, "-o", "-"], "standard output"
    yield ["profile", "merge", profile, "-o", "-"], "standard output"
    for option in (["--ir"], ["--procedure", "main"], ["--profile", profile]):
        yield ["image", "disasm", image, "--objdump", *option], "exclude each other"


# Words of the parser's library.
PARSER = r"(?i)is required|requires|excludes |not in \{|at (most|least) \d|could not|following argument|subcommand|disallowed"


def check_usage_messages(image, scratch):
    for arguments, part in usage_messages(image, scratch):
        outcome = common.respike(*arguments)
        message = outcome.stderr.decode()
        common.expect(outcome.status == 2, f"{arguments}: exit status {outcome.status}")
        common.expect(part in message, f"{arguments}: {message!r}")
        common.expect(message.count("\n") == 1, f"{arguments}: {message!r}")
        common.expect(message.startswith("respike: ") and message.endswith("; --help says more\n"), f"{arguments}: {message!r}")
        common.expect(not re.search(PARSER, message), f"{arguments}: {message!r} is what the parser says")
    common.expect(not list(scratch.path.glob("*/-")), "a file called - was written")


def to_int(text):
    return int(text.replace(",", ""))


def check_disasm_counts(program, scratch):
    """Blocks and edges have the counts of the profile; blocks that the profile does not know have
    no count."""
    image, profile = program.image, scratch.file("profile")
    counting, spool = scratch.file("counting"), scratch.folder()
    common.respike_ok("image", "instrument", image, "-o", counting, "--spool", spool)
    common.run_program(counting, program.runs[0])
    common.respike_ok("image", "collect", *spool.iterdir(), "-o", profile)
    shown = json.loads(common.respike_ok("profile", "show", profile, "--json").stdout)
    expected = {p["name"]: [b["count"] for b in p["blocks"]] for p in shown["procedures"]}
    edges = {p["name"]: sorted(e["count"] for e in p["edges"]) for p in shown["procedures"]}
    text = common.respike_ok("image", "disasm", image, "--profile", profile).stdout.decode()
    found = set()
    for part in text.strip().split("\n\n"):
        name = re.search(r"<(.*)>", part)[1]
        counts = [to_int(n) for n in re.findall(r"^  block \d+, ran ([\d,]+)", part, re.M)]
        if "not counted" in part.splitlines()[0]:
            common.expect(name not in expected and not counts, f"{name} is counted")
            continue
        found.add(name)
        common.expect(counts == expected[name], f"{name}: {counts}, not {expected[name]}")
        ways = " ".join(re.findall(r"^  block .* -> (.*)", part, re.M))
        along = sorted(to_int(n) for n in re.findall(r": ([\d,]*\d)", ways))
        common.expect(along == edges[name], f"{name}: {along}, not {edges[name]}")
    common.expect(found == set(expected), f"not listed: {set(expected) - found}")
    plain = common.respike_ok("image", "disasm", image).stdout
    common.expect(b", ran" not in plain and b"not counted" not in plain, "counts of nothing")
    other = common.find_program("strings.dynamic").image
    outcome = common.respike("image", "disasm", other, "--profile", profile)
    common.expect(outcome.status == 1 and not outcome.stdout, f"another program: {outcome}")


def check_addresses(program, scratch):
    """disasm, optimize and profile show take the same NAME@ADDRESS."""
    image, profile = program.image, scratch.file("profile")
    profiles.make("random", "1", image, profile)
    address = next(s.value for s in common.read_symbols(image) if s.name == "ackermann")
    for digits in (f"{address:x}", f"0x{address:x}", f"{address:X}"):
        name = f"ackermann@{digits}"
        common.respike_ok("image", "disasm", image, "--procedure", name)
        common.respike_ok("profile", "show", profile, "--procedure", name)
        common.optimize(image, scratch.file("out"), "--only", name)
    name = f"ackermann@{address + 4:x}"
    outcome = common.respike("profile", "show", profile, "--procedure", name)
    common.expect(outcome.status == 1 and b"has no procedure" in outcome.stderr, f"{outcome}")


def check_left_out(scratch):
    """All commands that leave opaque code unchanged say so if there is much of it."""
    program = common.find_program("offsets.dynamic")
    (opaque,) = read_info(program.image)["opaque"]
    counting, spool, profile = scratch.file("counting"), scratch.folder(), scratch.file("profile")
    outcomes = [
        common.respike_ok("image", "instrument", program.image, "-o", counting, "--spool", spool)
    ]
    common.run_program(counting, program.runs[0])
    outcomes.append(common.respike_ok("image", "collect", *spool.iterdir(), "-o", profile))
    outcomes.append(common.optimize(program.image, scratch.file("out")))
    for outcome in outcomes:
        line = rf"respike: warning: \d+\.\d\d% of the code is .*: {opaque['name']} \(\d+ bytes\)"
        common.expect(re.match(line, outcome.stderr.decode()), f"{outcome.stderr!r}")
        common.expect(outcome.stderr.count(b"\n") == 1, f"{outcome.stderr!r}")
    static = common.find_program("offsets.static").image  # with hardly any opaque code
    outcome = common.optimize(static, scratch.file("out"))
    common.expect(not outcome.stderr, f"{outcome.stderr!r}")


def check_empty_profile(program, scratch):
    """A profile in which nothing ran is as good as no profile, and a message says so."""
    zero, plain, report = scratch.file("zero"), scratch.file("plain"), scratch.file("report")
    profile = profiles.make("random", "1", program.image, scratch.file("profile"))
    common.respike_ok("profile", "merge", f"{profile}:0", "-o", zero)
    options = ["--profile", zero, "--report", report]
    outcome = common.optimize(program.image, scratch.file("out"), *options, as_users_do=True)
    common.expect(b"nothing ran in the profile" in outcome.stderr, f"{outcome.stderr!r}")
    data = json.loads(report.read_text())
    common.expect("nothing ran" in data["warnings"][0], f"{data['warnings']}")
    common.optimize(program.image, plain)
    common.expect(
        plain.read_bytes() == pathlib.Path(data["output"]).read_bytes(), "not as without a profile"
    )


def check_other_files(program, scratch):
    """A user who passes a file of another kind is told which kind the file is."""
    image, profile, script = program.image, scratch.file("profile"), scratch.file("script")
    counting, spool, out = scratch.file("counting"), scratch.folder(), scratch.file("out")
    common.respike_ok("image", "instrument", image, "-o", counting, "--spool", spool)
    common.run_program(counting, program.runs[0])
    (counts,) = spool.iterdir()
    common.respike_ok("image", "collect", counts, "-o", profile)
    script.write_text("#!/bin/sh\n")
    for arguments, said in (
        (["profile", "show", image], f"{image}: it is a program or library, not a profile"),
        (["profile", "show", counts], f"{counts}: it is a counter file, not a profile: respike image collect"),
        (["image", "optimize", image, "-o", out, "--profile", image], "not a profile"),
        (["image", "collect", profile, "-o", out], f"{profile}: it is a profile, not a counter file"),
        (["image", "collect", image, "-o", out], "it is a program or library, not a counter file"),
        (["image", "info", profile], f"{profile}: it is a profile, not an ELF, PE or ECOFF file"),
        (["image", "info", script], f"{script}: it is a script, not an ELF, PE or ECOFF file"),
    ):
        outcome = common.respike(*arguments)
        text = outcome.stderr.decode()
        common.expect(outcome.status == 1 and said in text and text.count("\n") == 1, f"{arguments}: {text}")
    common.expect(not out.exists(), "an output was written")


def check_verify(program, scratch):
    output = scratch.file("output")
    common.optimize(program.image, output, "--layout", "random")
    common.respike_ok("image", "verify", program.image, output)
    common.respike_ok("image", "verify", program.image, program.image)
    other = common.find_program("strings.dynamic").image
    outcome = common.respike("image", "verify", program.image, other)
    common.expect(outcome.status == 1 and outcome.stderr, f"another program is accepted: {outcome}")


def check_verify_other_respike(program, scratch):
    """Outputs of another Respike are verified like any output; a message says that differences may
    come from that Respike's other steps."""
    image, output, other = program.image, scratch.file("output"), scratch.file("other")
    common.optimize(image, output, "--layout", "random")
    note = scratch.file("note")
    common.binutils("objcopy", "--dump-section", f".note.respike={note}", output, scratch.file("copy"))
    fingerprint = re.findall(rb"[0-9a-f]{32}", note.read_bytes())[-1]
    other.write_bytes(output.read_bytes().replace(fingerprint, bytes(reversed(fingerprint))))
    common.respike_ok("image", "verify", image, other)
    strange = common.find_program("strings.dynamic").image
    for out, said in ((output, False), (other, True)):
        outcome = common.respike("image", "verify", strange, out)
        text = outcome.stderr.decode()
        common.expect(outcome.status == 1 and text.count("\n") == 1, f"{outcome}")
        common.expect(("another Respike made the image" in text) == said, text)


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


def check_verify_coverage(program, scratch):
    """`verify` says how much it compared; less than half is too little."""
    output = scratch.file("output")
    common.optimize(program.image, output)
    text = common.respike_ok("image", "verify", program.image, output).stdout.decode()
    counts = re.search(r" \((\d+) of its (\d+) basic blocks were compared\)$", text.strip())
    common.expect(counts and 0.9 * int(counts[2]) < int(counts[1]) <= int(counts[2]), text)

    folder = scratch.folder()
    dead = "".join(f" beq $1,{n}f\n lda $2,{n}($2)\n{n}:\n lda $3,{n}($3)\n" for n in range(1, 20))
    source = f".text\n.globl _start\n.ent _start\n_start:\n ldgp $29,0($27)\n lda $0,1($31)\n callsys\n1: br 1b\n{dead} br 1b\n.end _start\n"
    (folder / "dead.s").write_text(source)
    command = ["alpha-linux-gnu-gcc", "-nostdlib", "-static", "-Wl,-q", "dead.s", "-o", "dead"]
    common.expect(common.run_command(command, cwd=folder).status == 0, "dead.s cannot be assembled")
    common.optimize(folder / "dead", output)
    outcome = common.respike("image", "verify", folder / "dead", output)
    common.expect(outcome.status == 1 and b"basic blocks could be compared" in outcome.stderr, f"{outcome}")


def check_verify_rebuilt(scratch):
    """The same code from objects with other names, such as compilers make up, is the same."""
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
    """Layouts that use no counts say so if they get a profile."""
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
    outcome = common.optimize(program.image, output, "--layout", "original", "--seed", "1")
    common.expect(b"the seed is not used: the layout original draws" in outcome.stderr, f"{outcome.stderr!r}")


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
            common.Case("--only and --skip", lambda: check_nothing_left(program, scratch)),
            common.Case("--demangle", lambda: check_demangled(scratch)),
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
            common.Case("other files", lambda: check_other_files(program, scratch)),
            common.Case("verify", lambda: check_verify(program, scratch)),
            common.Case(
                "verify what another Respike made",
                lambda: check_verify_other_respike(program, scratch),
            ),
            common.Case("verify says how much", lambda: check_verify_coverage(program, scratch)),
            common.Case("verify a rebuilt program", lambda: check_verify_rebuilt(scratch)),
            common.Case("usage messages", lambda: check_usage_messages(image, scratch)),
            common.Case("disasm --profile", lambda: check_disasm_counts(program, scratch)),
            common.Case("addresses", lambda: check_addresses(program, scratch)),
            common.Case("left out", lambda: check_left_out(scratch)),
            common.Case("empty profile", lambda: check_empty_profile(program, scratch)),
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

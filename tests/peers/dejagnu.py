"""Reads the directives of GCC's tests, comments such as `{ dg-do run { target c++11 } }`.

    test = dejagnu.read(path, target)
    test.runs, test.options, test.sources, test.environment, test.left_out

DejaGnu evaluates them as Tcl. This module handles the directives that say whether a test is a program to run, for which
targets, and how it is compiled. Expected messages and outputs of the compiler (dg-error, dg-final) are ignored. A
selector has three values: true, false, and None for a property of the target that is not known here. A test is left out
when a directive certainly excludes it; in doubt it is tried, and its original shows whether it can be compiled and
run."""

import dataclasses
import fnmatch
import pathlib
import re

# Properties that certainly hold, or do not hold, on 64-bit Linux without vectors of other machines.
FALSE = re.compile(
    r"ilp32|int16|llp64|x32|ia32|fopenmp|fopenacc|dfp\w*|fixed_point|newlib\w*|uclibc\w*|vxworks\w*|mingw\w*|short_enums|"
    r"(arm|aarch64|powerpc|ppc|vmx|vsx|p8|p9|p10|sse|avx|mips|s390|riscv|msp430|avr|nvptx|amdgcn|i.86|x86)\w*|"
    r"no_alignment_constraints|default_packed|offload\w*|split_stack|llvm_binutils"
)
TRUE = re.compile(
    r"lp64|int128|int32(plus)?|size(20|32)plus|ptr32(plus|eq)?|alloca|label_values|indirect_jumps|nonlocal_goto|trampolines|"
    r"exceptions|pthread|signal|wchar|tls\w*|c99_runtime|stdint_types\w*|inttypes_types\w*|fpic|shared|pie|native|run|"
    r"run_expensive_tests|double64(plus)?|inf|exceptions_enabled|rtti|freestanding|untyped_assembly|cxa_atexit|hosted|"
    r"\*-\*-\*|mmap|fork|unwind|little_endian|le"
)
STANDARDS = ["98", "11", "14", "17", "20", "23"]
OF_OPTION = {"03": "98", "0x": "11", "1y": "14", "1z": "17", "2a": "20", "2b": "23"}
PREFERRED = ["17", "20", "23", "14", "11", "98"]


@dataclasses.dataclass(frozen=True)
class Target:
    """The properties that selectors ask about."""

    triplet: str  # such as alpha-unknown-linux-gnu
    ieee: tuple  # options that make floating point follow the standard
    language: str  # "c" or "c++"
    standard: str = "17"  # of C++


@dataclasses.dataclass
class Test:
    runs: bool
    options: list
    sources: list  # beside the test's own
    environment: dict
    fails: bool  # it has to end with another status than 0
    left_out: str | None


class Malformed(Exception):
    """It is no list of Tcl."""


def split(text):
    """The words of a Tcl list: pairs of the word and whether it was in braces."""
    words, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "{":
            end = _closing(text, at)
            words.append((text[at + 1 : end], True))
            at = end + 1
        elif text[at] == '"':
            match = re.compile(r'"((?:[^"\\]|\\.)*)"').match(text, at)
            if not match:
                raise Malformed(text)
            words.append((re.sub(r"\\(.)", r"\1", match[1]), False))
            at = match.end()
        else:
            match = re.compile(r"\S+").match(text, at)
            words.append((match[0], False))
            at = match.end()
    return words


def _closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        if text[i] == "\\":
            continue
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise Malformed(text)


def directives(text):
    """(name, words) of all directives."""
    found = []
    for match in re.finditer(r"\{\s*dg-[a-z-]+\b", text):
        line = text[match.start() :].partition("\n")[0]
        try:
            words = split(line[1 : _closing(line, 0)])
        except Malformed:
            continue
        found.append((words[0][0], words[1:]))
    return found


# --- Selectors ------------------------------------------------------------------------------------


def holds(selector, target):
    """True, False, or None when it is not known."""
    return _evaluate(split(selector), target)


def _evaluate(words, target):
    texts = [word for word, _ in words]
    if texts and texts[0] == "!":
        inner = _evaluate(words[1:], target)
        return None if inner is None else not inner
    if "&&" in texts:
        at = texts.index("&&")
        sides = [_evaluate(words[:at], target), _evaluate(words[at + 1 :], target)]
        return False if False in sides else None if None in sides else True
    texts = [(t, b) for t, b in words if t != "||"]
    values = [holds(t, target) if b else _keyword(t, target) for t, b in texts]
    return True if True in values else None if None in values else False


def _keyword(word, target):
    if match := re.fullmatch(r"c\+\+(\w\w)(_only|_down)?", word):
        wanted = OF_OPTION.get(match[1], match[1])
        if target.language != "c++" or wanted not in STANDARDS:
            return False
        here, there = STANDARDS.index(target.standard), STANDARDS.index(wanted)
        return here == there if match[2] == "_only" else here <= there if match[2] else here >= there
    if word in ("c", "c++"):
        return word == target.language
    if "-" in word or "*" in word:
        return fnmatch.fnmatchcase(target.triplet, word)
    return True if TRUE.fullmatch(word) else False if FALSE.fullmatch(word) else None


def _applies(words, target, otherwise):
    """Of the `{ target SELECTOR }` among a directive's words; `otherwise` when it is not known."""
    for word, braced in words:
        if braced and (match := re.match(r"\s*target\s+(.*?)(\s+xfail\s.*)?$", word, re.DOTALL)):
            value = holds(match[1], target)
            return otherwise if value is None else value
    return True


def _skips(words, options, target):
    """dg-skip-if and dg-xfail-run-if: comment, selector, options that must be there, options that must not."""
    if len(words) < 2 or not holds(words[1][0], target):
        return False
    include = words[2][0].split() if len(words) > 2 else ["*"]
    exclude = words[3][0].split() if len(words) > 3 else []
    given = " ".join(options)
    found = lambda patterns: any(p == "*" or (p and p in given) for p in patterns)  # noqa: E731
    return found([p.strip('"') for p in include] or ["*"]) and not found([p.strip('"') for p in exclude])


# --- Tests ----------------------------------------------------------------------------------------


def _try(found, target, runs, given):
    test = Test(runs, [], [], {}, False, None)
    required = []
    for name, words in found:
        texts = [word for word, _ in words]
        if name == "dg-do":
            test.runs = bool(texts) and texts[0] == "run"
            if test.runs and not _applies(words[1:], target, True):
                required.append("dg-do")
        elif name in ("dg-options", "dg-additional-options") and texts:
            if _applies(words[1:], target, False):
                test.options = ([] if name == "dg-options" else test.options) + texts[0].split()
        elif name == "dg-add-options":
            test.options += target.ieee if "ieee" in texts else []
        elif name == "dg-require-effective-target" and texts:
            if _applies(words[1:], target, False) and holds(texts[0], target) is False:
                required.append(texts[0])
        elif name == "dg-additional-sources" and texts:
            if _applies(words[1:], target, False):
                test.sources += texts[0].split()
        elif name == "dg-set-target-env-var" and len(texts) > 1:
            test.environment[texts[0]] = texts[1]
        elif name == "dg-shouldfail":
            test.fails = True
    for name, words in found:
        if name in ("dg-skip-if", "dg-xfail-run-if") and _skips(words, given + test.options, target):
            required.append(f"{name} {words[0][0]}".strip())
    if required:
        test.left_out = "not for this target: " + ", ".join(required)
    return test


def read(path, target, runs=False, given=()):
    """The directives of the file; `runs` if there is no dg-do, `given` options of the command line."""
    found = directives(pathlib.Path(path).read_text(encoding="latin-1"))
    first = None
    for standard in PREFERRED if target.language == "c++" else [target.standard]:
        target = dataclasses.replace(target, standard=standard)
        test = _try(found, target, runs, list(given))
        chosen = [o for o in [*given, *test.options] if o.startswith("-std=")]
        if chosen:
            spelled = chosen[-1].removeprefix("-std=").removeprefix("gnu++").removeprefix("c++")
            standard = OF_OPTION.get(spelled, spelled)
            if standard in STANDARDS:
                test = _try(found, dataclasses.replace(target, standard=standard), runs, list(given))
        elif target.language == "c++":
            test.options = [f"-std=gnu++{standard}", *test.options]
        first = first or test
        if not test.left_out:
            return test
    return first

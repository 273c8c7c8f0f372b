#!/usr/bin/env python3
"""Makes a manual page of section 5 from a page of docs/: manual_page.py PAGE NAME SUMMARY VERSION > NAME.5

So docs/database.md and respike-database(5) cannot differ. The page's Markdown is what docs/ uses: headings, paragraphs,
lists, tables of two columns, lines of code indented by four blanks, `code`, *words*, **words** and links, whose text is
kept. Example: "## Where it is" and "`--db PATH`, else" become

    .SH WHERE IT IS
    .PP
    \\fB\\-\\-db PATH\\fR, else
"""

import pathlib
import re
import sys

FONTS = (("**", r"\fB", r"\fR"), ("*", r"\fI", r"\fR"))


def roff(text, typed=False):
    """Text for roff. `typed`: hyphens are those of a keyboard."""
    text = text.replace("\\", "\\e").replace("-", "\\-") if typed else text.replace("\\", "\\e")
    text = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)
    return text


def inline(text):
    """A paragraph's text: code, emphasis and links."""
    text = re.sub(r"\[([^][]*)\]\([^()]*\)", r"\1", text)
    parts = re.split(r"(`[^`]+`)", text)
    result = ""
    for part in parts:
        if part.startswith("`") and part.endswith("`") and len(part) > 2:
            result += r"\fB" + roff(part[1:-1], typed=True) + r"\fR"
            continue
        part = roff(part)
        for mark, begin, end in FONTS:
            mark = re.escape(mark)
            part = re.sub(rf"(?<![\w*]){mark}(?=\S)(.+?)(?<=\S){mark}(?![\w*])", lambda m: begin + m[1] + end, part)
        result += part
    return result


def protected(lines):
    """Ensures that no line of text is taken for a request."""
    return [("\\&" + line if line.startswith((".", "'")) else line) for line in lines]


def paragraph(lines):
    # Emphasis and links may continue on the next line.
    return protected(inline("\n".join(line.strip() for line in lines)).split("\n"))


def table(lines):
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    if all(rows[0]):
        rows[0] = [f"*{cell}*" for cell in rows[0]]
    else:
        del rows[0]
    result = []
    for key, *rest in rows:
        if not re.fullmatch(r":?-+:?", key):  # the line below the head
            result += [".TP", *(protected([inline(key)]) if key else [r"\&"]), *paragraph([" ".join(rest)])]
    return result


def blocks(text):
    """The page in parts: ("code" | "table" | "heading" | "item" | "text", lines)."""
    kind, lines = None, []
    for line in [*text.splitlines(), ""]:
        item = re.match(r"(-|\d+\.) ", line)
        if line.startswith("    ") and kind != "item":
            found = "code"
        elif line.startswith("|"):
            found = "table"
        elif line.startswith("#"):
            found = "heading"
        elif item:
            found = "item"
        elif not line.strip():
            found = "code" if kind == "code" else None
        else:
            found = "item" if kind == "item" and line.startswith("  ") else "text"
        if found != kind or item or found == "heading":
            if kind:
                yield kind, lines
            kind, lines = found, []
        lines.append(line)
    if kind:
        yield kind, lines


def page(text, name, summary, version):
    result = [f'.TH {name.upper()} 5 "" "Respike {version}" "Respike"', ".SH NAME", f"{name} \\- {summary}", ".SH DESCRIPTION"]
    fresh = True  # no text below the heading yet
    for kind, lines in blocks(text):
        if kind == "heading":
            level, _, title = lines[0].partition(" ")
            if len(level) > 1:
                result.append(f".SH {roff(title.upper())}" if len(level) == 2 else f".SS {roff(title)}")
            fresh = True
            continue
        if kind == "code":
            code = [roff(line[4:], typed=True) for line in lines]
            while code and not code[-1]:
                code.pop()
            result += [*([] if fresh else [".PP"]), ".RS 4", ".nf", *protected(code), ".fi", ".RE"]
        elif kind == "table":
            result += table(lines)
        elif kind == "item":
            mark, _, first = lines[0].partition(" ")
            head = r".IP \(bu 2" if mark == "-" else f".IP {mark} 4"
            result += [head, *paragraph([first, *lines[1:]])]
        else:
            result += [*([] if fresh else [".PP"]), *paragraph(lines)]
        fresh = False
    result += [".SH SEE ALSO", r"\fBrespike\fR(1)"]
    return "\n".join(result) + "\n"


if __name__ == "__main__":
    source, name, summary, version = sys.argv[1:]
    sys.stdout.write(page(pathlib.Path(source).read_text(encoding="utf-8"), name, summary, version))

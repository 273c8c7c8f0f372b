"""Runs inside gdb for debug_lines_test.py: what gdb knows about addresses of an image, and all of its names.

The environment variable DEBUG_JOB names a JSON file with: addresses, result. The result has: places, a list [file,
line, blocks] for each address, where blocks is a text of the procedures and names around the address; functions,
variables, types: lists of `info`; checks: complaints of maintenance commands."""

import json
import os

import gdb

JOB = json.load(open(os.environ["DEBUG_JOB"]))


def ask(command):
    return gdb.execute(command, to_string=True)


def describe_block(block):
    """Names of the block and around it, from inside to outside."""
    parts = []
    while block is not None and not block.is_static and not block.is_global:
        names = sorted(f"{s.name}:{s.line}{'a' if s.is_argument else ''}" for s in block if not s.is_function)
        parts.append(f"{block.function or ''}({' '.join(names)})")
        block = block.superblock
    return " < ".join(parts)


def place(address):
    line = gdb.find_pc_line(address)
    block = gdb.block_for_pc(address)
    return [line.symtab.filename if line.symtab else "", line.line, describe_block(block) if block else "no block"]


def main():
    ask("set pagination off")
    ask("set width 0")
    ask("maint expand-symtabs")
    result = {
        "checks": ask("maint check-symtabs") + ask("maint check-psymtabs"),
        "functions": ask("info functions -n"),
        "variables": ask("info variables -n"),
        "types": ask("info types"),
        "places": [place(address) for address in JOB["addresses"]],
    }
    with open(JOB["result"], "w") as out:
        json.dump(result, out)


main()

#!/usr/bin/env python3
"""Little of common x86-64 code is opaque: bounds on the share of the text, and each opaque procedure has a reason.

Static programs hold the hand-written code of the C library, libcrypto has data in its text; SQLite is plain C."""

import json
import pathlib
import sys

import common
from common import expect

WORKLOADS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "workloads"
STATIC_GLIBC, STATIC_MUSL, LIBCRYPTO, PLAIN_C = 0.015, 0.03, 0.12, 0.001  # largest shares of the bytes


def check_share(image, bound):
    info = json.loads(common.respike_ok("image", "info", "--json", image).stdout)
    share = info["opaque_bytes"] / info["text_bytes"]
    expect(share <= bound, f"{share:.2%} of the text is opaque, more than {bound:.2%}: {info['opaque'][:5]}")
    without = [opaque["name"] for opaque in info["opaque"] if not opaque["reason"]]
    expect(not without, f"no reason is given for {without[:5]}")


def check_libcrypto(scratch):
    image = scratch.file("openssl")
    common.run_command(
        ["gcc", "-O2", "-fno-pie", "-static", "-w", "-Wl,--emit-relocs", WORKLOADS / "openssl.c", "-o", image, "-lcrypto"],
        timeout=common.TOOL_TIMEOUT,
    )
    check_share(image, LIBCRYPTO)


def bound_of(name):
    if ".musl." in name and "static" in name:
        return STATIC_MUSL
    if "static" in name:
        return STATIC_GLIBC
    return PLAIN_C if name.startswith("sqlite3.") else None


def cases(scratch):
    for program in common.load_programs():
        bound = bound_of(program.name)
        if bound is not None:
            yield common.Case(program.name, lambda p=program, b=bound: check_share(p.image, b))
    yield common.Case("libcrypto", lambda: check_libcrypto(scratch))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

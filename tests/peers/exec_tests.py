#!/usr/bin/env python3
"""Test-suites of other people's software train its programs through `respike exec`, with their results unchanged.

All programs of a build are registered as one application, and the suite, which knows nothing of Respike, runs below
`respike exec suite -- ...` in each mode: the originals, counted, and optimized by the suite's counts. Each test has to
end as it ends without Respike (for Alpha, whose programs do not run without it: as with the originals), and the files
of the build have to be the same afterwards. The builds are those of suite_tests.py, and sed, GMP and a part of OpenSSL
for Alpha."""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import gcc_sources  # noqa: F401  (its folders of modules)
import common
import machines
import packages
import runner
import suite_images
import suite_tests
import suites

MODES = ("original", "instrumented", "optimized")
ALPHA = machines.MACHINES["alpha"]


# --- sed for Alpha ----------------------------------------------------------------------------------


def _build_sed(build, folder):
    source = packages.source("sed")
    settings = ["CC=alpha-linux-gnu-gcc", "CFLAGS=-O2 -w", "LDFLAGS=-Wl,-q", "--host=alpha-linux-gnu", "--disable-nls"]
    packages.checked(["nice", source / "configure", *settings], folder, suites.LONGEST_BUILD)
    packages.checked([*suites.MAKE], folder, suites.LONGEST_BUILD)
    packages.checked([*suites.MAKE, "check", "TESTS=", "SUBDIRS=."], folder, suites.LONGEST_BUILD)


def _sed_units(folder):
    text = (folder / "Makefile").read_text(errors="replace")
    listed = re.search(r"^T = *((?:.*\\\n)*.*)$", text, re.M) or re.search(r"^TESTS = *((?:.*\\\n)*.*)$", text, re.M)
    return sorted(set(re.findall(r"testsuite/[\w.-]+\.(?:sh|pl)\b", listed[1])))


def _run_sed(folder, unit, scratch):
    name = re.sub(r"\.\w+$", "", unit)
    (folder / f"{name}.trs").unlink(missing_ok=True)
    done = suites._start([*suites.MAKE, "check", f"TESTS={unit}", "SUBDIRS=."], folder, {"TMPDIR": str(scratch)}, scratch / "log")
    return suites._results(unit, done, suites._trs(folder, [name]))


# --- GMP and OpenSSL for Alpha ----------------------------------------------------------------------

CROSS = packages.Build("alpha-linux-gnu-gcc")
REPETITIONS = {"GMP_CHECK_REPFACTOR": "0.05"}  # a twentieth of the tests' usual loops, which take long under an emulator


def _build_gmp(build, folder):
    suites._build_gmp(CROSS, folder)


def _run_gmp(folder, unit, scratch):
    return suites._run_gmp(folder, unit, scratch, REPETITIONS)


# Recipes and their programs, most of which link libcrypto.so; some recipes only start `openssl`, many times. All of
# OpenSSL's would take hours under an emulator.
OPENSSL_RECIPES = {
    "test_lhash": "lhash_test", "test_stack": "stack_test", "test_exdata": "exdatatest", "test_conf": "confdump",
    "test_asn1_decode": "asn1_decode_test", "test_asn1_encode": "asn1_encode_test", "test_asn1_time": "asn1_time_test",
    "test_bf": "bftest", "test_cast": "casttest", "test_bn": "bntest", "test_exp": "exptest", "test_sha": "sha_test",
    "test_ige": "igetest", "test_aesgcm": "aesgcmtest", "test_bio_enc": "bio_enc_test", "test_evp": "evp_test",
    "test_evp_byname": "evp_byname_test", "test_evp_kdf": "evp_kdf_test", "test_packet": "packettest",
    "test_crl": "crltest", "test_x509": "v3ext", "test_x509_time": "x509_time_test", "test_v3name": "v3nametest",
    "test_x509_check_cert_pkey": "x509_check_cert_pkey_test", "test_x509_dup_cert": "x509_dup_cert_test",
    "test_threads": "threadstest threadstest_fips", "test_clienthello": "clienthellotest", "test_cipherlist": "cipherlist_test",
    "test_dtls": "dtlstest", "test_dgst": "", "test_pkeyutl": "", "test_gensm2": "", "test_genrsa": "",
    "test_ec": "ectest", "test_ecdsa": "ecdsatest", "test_rsa": "rsa_test", "test_hmac": "hmactest",
}  # fmt: skip


def _build_openssl(build, folder):
    programs = [f"test/{name}" for names in OPENSSL_RECIPES.values() for name in names.split()]
    modules = ["providers/legacy.so", "engines/ossltest.so"]
    scripts = ["util/wrap.pl", "util/shlib_wrap.sh"]
    suites._build_openssl(CROSS, folder, "apps/openssl", *modules, *scripts, *programs)


# --- All --------------------------------------------------------------------------------------------

ALPHAS = tuple(
    suites.Suite(f"{name}-alpha", build, units, run, (packages.Build("alpha"),), keeps=keeps)
    for name, build, units, run, keeps in (
        ("sed", _build_sed, _sed_units, _run_sed, "^(?!sed/sed$)"),
        ("gmp", _build_gmp, suites._gmp_units, _run_gmp, "(?!)"),
        ("openssl", _build_openssl, lambda folder: list(OPENSSL_RECIPES), suites._run_openssl, "(?!)"),
    )
)
SUITES = {f"{suite.name}@{build.name}": (suite, build) for suite in (*suites.SUITES, *ALPHAS) for build in suite.builds}


# --- A suite ----------------------------------------------------------------------------------------


def _is_program(path):
    outcome = common.respike("image", "info", "--json", path)
    return outcome.status == 0 and "executable" in json.loads(outcome.stdout)["kind"]


def _images(suite, folder, state):
    """Paths of programs and of all images."""
    machine = suite_images.ALPHA if suite in ALPHAS else suite_images.X86_64
    images = suite_images.Images(folder, state, suite.keeps, machine)
    paths = [folder / name for name in images.names]
    programs = suite_images.for_each(_is_program, paths)
    return [path for path in paths if programs[path]], paths


def _sums(paths):
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


class Below:
    """Runs units of a suite, below `respike exec` or without it."""

    def __init__(self, name, folder, units, database):
        self.name, self.folder, self.units, self.database = name, folder, units, database

    def run(self, exec_words, logs):
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "out.json"
            words = json.dumps({"name": self.name, "units": self.units, "logs": str(logs), "out": str(out)})
            command = [*exec_words, sys.executable, __file__, "--inner", words]
            done = subprocess.run([str(word) for word in command], env=dict(os.environ, RESPIKE_DB=str(self.database)), check=False)
            if done.returncode != 0 or not out.exists():
                raise common.Failure(f"the suite's runner ended with {done.returncode}")
            return json.loads(out.read_text())


def inner(words):
    """The command below `exec`: the suite itself."""
    words = json.loads(words)
    suite, build = SUITES[words["name"]]
    logs = pathlib.Path(words["logs"])
    found = suite_tests._run_units(suite, suite.folder(build), words["units"], logs)
    pathlib.Path(words["out"]).write_text(json.dumps(found))


def _ok(database, *words, environment=None):
    outcome = common.respike(*words, env=dict(os.environ, RESPIKE_DB=str(database), **(environment or {})), timeout=3600)
    if outcome.status != 0:
        raise common.Failure(f"respike {' '.join(map(str, words[:2]))}: {outcome.stderr.decode(errors='replace')[-800:]}")
    return outcome


def take(name, pattern, wanted):
    suite, build = SUITES[name]
    folder, state = suite.make(build), suite.state(build)
    units = [unit for unit in suite.units(folder) if re.search(pattern, unit)]
    programs, paths = _images(suite, folder, state)
    before = _sums(paths)
    database = state / "exec" / "respike.db"
    shutil.rmtree(database.parent, ignore_errors=True)
    database.parent.mkdir()
    environment = {"LD_LIBRARY_PATH": str(folder)} if suite.name in ("openssl", "cpython") else {}
    if suite in ALPHAS:
        environment["QEMU_LD_PREFIX"] = os.environ.get("QEMU_LD_PREFIX", "/usr/alpha-linux-gnu")
    _ok(database, "register", *programs, "--name", "suite", environment=environment)
    below = ["exec", "suite", "--"]
    runner_of = Below(name, folder, units, database)
    logs = state / "logs"
    plain = [common.RESPIKE, *below] if suite in ALPHAS else []
    first = runner_of.run(plain, logs / "exec.plain.1")
    second = runner_of.run(plain, logs / "exec.plain.2")
    unstable = {test for test in {**first, **second} if first.get(test) != second.get(test)}
    unstable |= {test for test in first for p in suite.uncompared if re.search(p, test)}
    rows = {}
    for mode in wanted:
        started = time.monotonic()
        if mode == "original":
            _ok(database, "mode", "suite", "original")
        else:
            _ok(database, "instrument" if mode == "instrumented" else "optimize", "suite")
        made = time.monotonic() - started
        found = runner_of.run([common.RESPIKE, *below], logs / f"exec.{mode}")
        different = {t: (first.get(t), found.get(t)) for t in {**first, **found} if first.get(t) != found.get(t) and t not in unstable}
        again = sorted({suite_tests._unit(test) for test in different})
        shaky = {}
        for _ in range(suite_tests.AGAIN if again else 0):
            repeated = Below(name, folder, again, database).run([common.RESPIKE, *below], logs / f"exec.{mode}.again")
            shaky.update({t: p for t, p in different.items() if repeated.get(t) == p[0]})
        wrong = {t: pair for t, pair in different.items() if t not in shaky}
        rows[mode] = {
            "tests": len([t for t in found if ": " in t]), "different": len(wrong), "shaky": len(shaky),
            "results": dict(collections.Counter(found[t] for t in found if ": " in t)),
            "making": round(made, 1), "seconds": round(time.monotonic() - started - made, 1), "wrong": dict(list(wrong.items())[:20]),
        }  # fmt: skip
        print(f"{name} {mode}: {rows[mode]}", flush=True)
    shown = json.loads(_ok(database, "show", "suite", "--json").stdout)
    counted = [image for image in shown["images"] if image["profile"]["runs"] > 0]
    same = _sums(paths) == before
    print(
        f"{name}: {len(programs)} programs, {len(units)} units, {len(unstable)} results not compared; counted {len(counted)} images, "
        f"{sum(image['profile']['runs'] for image in counted):.0f} runs; files {'unchanged' if same else 'CHANGED'}",
        flush=True,
    )
    return same and counted and not any(row["wrong"] for row in rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument("--filter", default="^(coreutils|sqlite|gmp|openssl)@gcc$|-alpha@", help="suites, such as coreutils@gcc: a regular expression")
    parser.add_argument("--unit", default="", help="only these parts of a suite: a regular expression")
    parser.add_argument("--mode", action="append", choices=MODES, help="instead of all modes (repeatable)")
    parser.add_argument("--list", action="store_true", help="print the names of the suites")
    parser.add_argument("--inner", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inner:
        inner(args.inner)
        return 0
    names = [name for name in SUITES if re.search(args.filter, name)]
    if args.list:
        print("\n".join(names))
        return 0

    def take_suite(name, suite_and_build):
        suite, build = suite_and_build
        with suite.locked(build):
            common.expect(take(name, args.unit, args.mode or MODES), "tests end otherwise than without Respike")

    return packages.take_each({name: SUITES[name] for name in names}, take_suite)


if __name__ == "__main__":
    runner.WORK.mkdir(parents=True, exist_ok=True)
    sys.exit(main())

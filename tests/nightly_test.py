#!/usr/bin/env python3
"""The nightly run ends, goes on where it ended, and runs what has not passed: scripts/nightly/ with a table of small parts.

Each case makes a git repository with two folders of a product, one, two, and a table whose parts `first` and `second`
depend on one folder each. A case of the table is a shell command that notes in the file `log` that it ran. Example: after
a whole run, a change in the folder two makes the cases of `second` run again, and no others."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS / "nightly"))
import ledger  # noqa: E402
import parts  # noqa: E402
import running  # noqa: E402

# The table: cases are lines of the file cases, PART NAME [alone] [SECONDS] COMMAND.
TABLE = '''
import dataclasses, pathlib, sys
sys.path.insert(0, {scripts!r})
sys.dont_write_bytecode = True
import nightly
from parts import Context, Part
from running import Case

TURN = 600
ROOT = pathlib.Path(__file__).resolve().parent

def cases(part):
    def listed(context):
        made = []
        for line in (ROOT / "cases").read_text().splitlines():
            name, case, seconds, command = line.split(maxsplit=3)
            if name == part:
                alone = seconds.startswith("!")
                made.append(Case(case, ["sh", "-c", f"echo {{case}} >> log; {{command}}"], seconds=float(seconds.strip("!")), alone=alone))
        return made or None
    return listed

PREPARATIONS = {{"build": lambda context: [Case("make", ["sh", "-c", "echo make >> log; " + (ROOT / "make").read_text()])]}}
PARTS = (
    Part("first", "of one", ("one",), cases("first")),
    Part("second", "of two", ("two",), cases("second"), prepare=None),
)
sys.exit(nightly.main(sys.argv[1:], sys.modules["__main__"], ROOT))
'''


class Repository:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ("one/a.cc", "two/b.cc", "bench/journal/README.md"):
            self.write(name, name)
        self.write(".gitignore", "/build*/\n/log\n/cases\n/make\n")
        self.write("make", "true")
        self.write("table.py", TABLE.format(scripts=str(SCRIPTS / "nightly")))
        self.write("cases", "first a 1 true\nfirst b 1 true\nsecond x.1 1 true\nsecond x.2 1 true\nsecond y !1 true\n")
        subprocess.run(["git", "-C", folder, "init", "--quiet"], check=True)
        subprocess.run(["git", "-C", folder, "add", "--all"], check=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(self, *arguments):
        command = [sys.executable, str(self.folder / "table.py"), *arguments]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *arguments):
        """(status, output, cases that ran)."""
        self.ran()
        process = self.start(*arguments)
        said = process.communicate(timeout=60)[0]
        return process.returncode, said, self.ran()

    def ran(self):
        log = self.folder / "log"
        lines = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def rows(self):
        """(part, cases, result without numbers of seconds) of the ledger."""
        path = self.folder / "bench" / "journal" / "nightly.md"
        rows = ledger.Ledger(path, []).read()[1]
        return [(row.part, row.cases, re.sub(r"[\d,]+ s\b", "N s", row.result)) for row in rows]


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it does not come about")
        time.sleep(0.02)


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class NightlyTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="respike-nightly-")
        self.addCleanup(scratch.cleanup)
        self.repository = Repository(scratch.name)

    def run_ok(self, *arguments):
        status, said, ran = self.repository.run(*arguments)
        self.assertEqual(status, 0, said)
        return said, ran

    def test_what_passed_does_not_run_again(self):
        said, ran = self.run_ok("--for", "1m")
        self.assertEqual(sorted(ran), ["a", "b", "make", "x.1", "x.2", "y"])
        self.assertEqual(self.repository.rows(), [("first", "all 2", "passed in N s"), ("second", "all 3", "passed in N s")])
        self.assertIn("5 passed, 0 failed, 0 skipped, 0 stopped, 0 have not run", said)
        said, ran = self.run_ok()
        self.assertEqual(ran, [])
        self.assertIn("second: all 3 cases have passed", said)
        self.assertEqual(sorted(self.run_ok("--again")[1]), ["a", "b", "make", "x.1", "x.2", "y"])

    def test_changed_files_make_their_parts_needed(self):
        self.run_ok()
        os.utime(self.repository.folder / "one" / "a.cc", (1, 1))
        self.repository.write("bench/journal/README.md", "another text")
        self.assertEqual(self.run_ok()[1], [])
        self.repository.write("two/new.cc", "not known to git")
        self.assertEqual(sorted(self.run_ok()[1]), ["x.1", "x.2", "y"])
        before = self.repository.rows()
        self.assertEqual([row[:2] for row in before], [("first", "all 2"), ("second", "all 3"), ("second", "all 3")])
        (self.repository.folder / "two" / "new.cc").unlink()
        self.assertEqual(self.run_ok()[1], [], "this state has passed before")

    def test_stopped_and_resumed(self):
        self.repository.write("cases", "first a 1 true\nfirst b 1 exec sleep 100\nsecond y 1 true\n")
        process = self.repository.start("--for", "1m", "--jobs", "1")
        wait_until(lambda: "b" in (self.repository.folder / "log").read_text().split() if (self.repository.folder / "log").exists() else False)
        start = time.monotonic()
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=30)[0]
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, said)
        self.assertEqual(self.repository.rows(), [("first", "a (1 of 2)", "passed in N s")])
        self.repository.write("cases", "first a 1 true\nfirst b 1 true\nsecond y 1 true\n")
        said, ran = self.run_ok("--for", "1m")
        self.assertEqual(ran, ["make", "b", "y"], "also the preparation of the stopped run is not lost")
        self.assertEqual([row[:2] for row in self.repository.rows()], [("first", "all 2"), ("second", "all 1")])

    def test_a_failed_case_stays_needed(self):
        self.repository.write("cases", "first a 1 echo FAILED to see; exit 3\nfirst b 1 true\nsecond y 1 echo no network; exit 77\n")
        status, said, ran = self.repository.run()
        self.assertEqual((status, sorted(ran)), (1, ["a", "b", "make", "y"]), said)
        self.assertIn("failed: first/a: build-nightly/logs/first.a.log: FAILED to see (status 3)", said)
        self.assertEqual(self.repository.rows(), [
            ("first", "b (1 of 2)", "passed in N s"),
            ("first", "a", "failed after N s: build-nightly/logs/first.a.log: FAILED to see (status 3)"),
            ("second", "y", "skipped: no network"),
        ])  # fmt: skip
        needed = self.run_ok("--needed")[0]
        self.assertRegex(needed, r"first +1 of 2 needed, about 0:00:0\d: a\n +a failed after")
        self.repository.write("cases", "first a 1 true\nfirst b 1 true\nsecond y 1 true\n")
        self.assertEqual(self.run_ok()[1], ["make", "a", "y"])
        self.assertEqual([row[:2] for row in self.repository.rows()], [("first", "all 2"), ("second", "all 1")])

    def test_the_end_of_the_time_kills_a_case_with_its_children(self):
        hang = "setsid sh -c 'echo $$ > pid; trap \"\" TERM HUP; while :; do sleep 1; done' & wait"
        self.repository.write("cases", f"first a 0 {hang}\nsecond x 100 true\n")
        start = time.monotonic()
        status, said, ran = self.repository.run("--for", "3s")
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual((status, ran), (0, ["make", "a"]), said)
        self.assertIn("first/a stopped", said)
        self.assertFalse(is_alive((self.repository.folder / "pid").read_text().strip()))
        self.assertEqual(self.repository.rows(), [])
        # It is known now that this takes longer.
        self.assertEqual(self.repository.run("--for", "2s", "--only", "first")[2], ["make"])

    def test_what_fits_comes_first(self):
        self.repository.write("cases", "first a 100 true\nfirst b 1 true\nsecond x 1 true\nsecond y 100 true\n")
        self.assertEqual(self.run_ok("--for", "20s", "--jobs", "1")[1], ["make", "b", "x", "a", "y"])

    def test_cases_that_run_alone(self):
        beside = "test ! -e busy && touch busy && sleep 0.3 && rm busy"
        self.repository.write("cases", f"first a !1 {beside}\nfirst b !1 {beside}\nsecond x !1 {beside}\n")
        self.assertEqual(len(self.run_ok("--jobs", "4")[1]), 4)
        together = "touch at.%s; for i in 1 2 3 4 5 6 7 8 9; do [ -e at.%s ] && exit 0; sleep 0.3; done; exit 1"
        self.repository.write("cases", f"second p 1 {together % (1, 2)}\nsecond q 1 {together % (2, 1)}\n")
        self.run_ok("--jobs", "2", "--only", "second", "--again")

    def test_files_that_change_meanwhile(self):
        self.repository.write("cases", "first a 1 echo more >> one/a.cc\nfirst b 1 true\n")
        status, said, ran = self.repository.run("--jobs", "1", "--only", "first")
        self.assertEqual((status, ran, self.repository.rows()), (1, ["make", "a"], []), said)
        self.assertIn("files of first have changed since the run began", said)

    def test_a_preparation_that_fails(self):
        self.repository.write("make", "echo no compiler; exit 1")
        status, said, ran = self.repository.run()
        self.assertEqual((status, sorted(ran)), (1, ["make", "x.1", "x.2", "y"]), said)
        self.assertEqual(self.repository.rows()[0][:2], ("first", "preparation"))
        self.assertIn("prepare-build.make.log: no compiler", self.repository.rows()[0][2])
        self.repository.write("make", "true")
        self.run_ok()
        self.assertEqual([row[:2] for row in self.repository.rows()], [("first", "all 2"), ("second", "all 3")])

    def test_some_cases(self):
        self.assertEqual(sorted(self.run_ok("--only", "second/x")[1]), ["x.1", "x.2"])
        self.assertEqual(self.repository.rows(), [("second", "x.1..2 (2 of 3)", "passed in N s")])
        self.assertEqual(self.run_ok("--only", "second/.*,first/b")[1], ["make", "b", "y"])
        needed = self.run_ok("--needed")[0]
        self.assertRegex(needed, r"first +1 of 2 needed, about 0:00:0\d: a\nsecond +passed, all 3 cases\n1 cases needed")
        self.assertEqual(self.repository.run("--only", "first/nothing")[0], 1)

    def test_wrong_usage(self):
        for arguments, sentence in (
            (["--only", "third"], 'there is no part "third"; parts are: first second'),
            (["--only", "first/("], "( is no regular expression"),
            (["--for", "soon"], "soon is no time"),
            (["--jobs", "0"], "0 is no number above 0"),
            (["60"], "unrecognized arguments: 60"),
        ):
            status, said, ran = self.repository.run(*arguments)
            self.assertEqual((status, ran, said.count("\n")), (2, [], 1), said)
            self.assertIn(f"nightly: {'argument ' if 'argument ' in said else ''}", said)
            self.assertIn(sentence, said)


CTEST = '''
foreach(name Codec.Reads Codec.Writes FuzzSmoke.PeReader)
  add_test(${name} "/bin/true" "--gtest_filter=${name}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
endforeach()
add_test(not_compiled_NOT_BUILT not_compiled_NOT_BUILT)
add_test(programs "/bin/true")
set_tests_properties(programs PROPERTIES FIXTURES_SETUP programs LABELS e2e)
foreach(name e2e.pe_test e2e.pe_dll_test.x86_64 gui_code_test e2e.timing_test)
  add_test(${name} "/usr/bin/python3" "${name}.py" "--filter" "")
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "RESPIKE=/x/respike;RESPIKE_SEEDS=3" FIXTURES_REQUIRED programs
                       LABELS "e2e;gui" COST 10 TIMEOUT 600 WORKING_DIRECTORY "/tmp")
endforeach()
set_tests_properties(e2e.timing_test PROPERTIES RUN_SERIAL ON COST 1000)
set_tests_properties(gui_code_test PROPERTIES COST 20)
'''


class CTestTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="respike-nightly-")
        self.addCleanup(scratch.cleanup)
        self.build = pathlib.Path(scratch.name)
        self.context = parts.Context(self.build, self.build, 2, 600, {})

    def test_cases(self):
        self.assertIsNone(parts.of_ctest(self.context, self.build), "it is not configured")
        (self.build / "CTestTestfile.cmake").write_text(CTEST)
        cases = parts.of_ctest(self.context, self.build, None, {"RESPIKE_SEEDS": "20", "MORE": "1"}, {"pe": 2})
        self.assertEqual([case.name for case in cases], ["gui_code", "pe.1", "pe.2", "pe_dll.x86_64", "timing", "unit"])
        self.assertEqual([case.alone for case in cases], [False] * 4 + [True] * 2)
        second = cases[2]
        self.assertEqual(second.command, ["/usr/bin/python3", "e2e.pe_test.py", "--filter", ""])
        variables = {"RESPIKE": "/x/respike", "RESPIKE_SEEDS": "3", "MORE": "1", "RESPIKE_SLICE": "2/2"}
        self.assertEqual((second.environment, second.folder, second.seconds), (variables, "/tmp", 10))
        command = list(map(str, cases[-1].command))
        unit = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        self.assertIn("75% tests passed, 1 tests failed out of 4", unit.stdout)  # not_compiled is one of them
        (fuzzed,) = parts.of_ctest(self.context, self.build, r"^FuzzSmoke\.Pe", {"A": "1"})
        self.assertEqual((fuzzed.name, fuzzed.environment, fuzzed.skipped_if), ("FuzzSmoke.PeReader", {"A": "1"}, "SKIPPED"))

    def test_tests_are_there(self):
        """Each part that runs tests of CTest finds some in the build that runs this test."""
        if "RESPIKE_BUILD" not in os.environ:
            self.skipTest("no build")
        build = pathlib.Path(os.environ["RESPIKE_BUILD"])
        context = parts.Context(SCRIPTS.parent, build, 2, 600, {})
        for part in parts.PARTS:
            if part.name in ("cases", "arithmetic", "pe", "emulator", "seeds"):
                self.assertTrue(part.cases(context), part.name)
        self.assertIn("unit.database_model_test", [test["name"] for test in parts.ctest_tests(build)])

    def test_the_table(self):
        """Names of cases can be written down, and the files on which parts depend exist."""
        root = SCRIPTS.parent
        if not (root / ".git").exists():
            self.skipTest("no git")
        context = parts.Context(root, self.build, 2, 600, {part.name: "0123456789" for part in parts.PARTS})
        for part in parts.PARTS:
            names = [case.name for case in part.cases(context) or ()]
            self.assertEqual(sorted(ledger.expand(ledger.compress(names))), sorted(set(names)), part.name)
            self.assertFalse([name for name in names if re.search(r"[\s,|]|\.\.", name)], part.name)
        for path in sorted({path for part in parts.PARTS for path in part.depends}):
            listed = subprocess.run(["git", "-C", root, "ls-files", "--", path], stdout=subprocess.PIPE, check=True)
            self.assertTrue(listed.stdout, f"{path} is not there")


class LedgerTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="respike-nightly-")
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name) / "nightly.md"
        self.ledger = ledger.Ledger(self.path, ["first", "second"])

    def rows(self):
        return [str(row).split(" | ") for row in self.ledger.read()[1]]

    def test_names(self):
        for names, text in (
            (["profiled.1", "profiled.2", "profiled.3", "pe", "x86_64"], "profiled.1..3, pe, x86_64"),
            ([f"{k:02}" for k in range(100)], "00..99"),
            (["08", "09", "10", "12"], "08..10, 12"),
            ([f"a.{k}" for k in (1, 2, 9, 10, 11)], "a.1..2, a.9..11"),
            (["zlib@g++.gold", "a-1", "a"], "zlib@g++.gold, a-1, a"),
        ):
            self.assertEqual(ledger.compress(names), text)
            self.assertEqual(ledger.expand(text), names)

    def test_rows(self):
        names = [f"{k}" for k in range(4)]
        self.path.write_text("# A page\n\nText.\n\n" + ledger.HEAD)
        for case, verdict, text in (("0", "passed", "seed 7"), ("1", "failed", "a | b"), ("2", "passed", "seed 7"), ("3", "skipped", "no gdb")):
            self.ledger.note("second", "0123456789", names, case, verdict, 1000, text)
        self.ledger.note("first", "0123456789", ["only"], "only", "passed", 1, "")
        self.assertTrue(self.path.read_text().startswith("# A page\n\nText.\n\n| part |"))
        self.assertEqual([row[:2] for row in self.rows()], [["| first", "all 1"], ["| second", "0, 2 (2 of 4)"], ["| second", "1"], ["| second", "3"]])
        self.assertIn("passed in 2,000 s; seed 7 |", self.rows()[1][4])
        self.assertIn("failed after 1,000 s: a / b |", self.rows()[2][4])
        self.assertEqual(self.ledger.passed("second", "0123456789", names), {"0", "2"})
        self.assertEqual(self.ledger.mean_seconds("second"), 1000)
        # Another state: the results of the state before become a row.
        self.ledger.note("second", "abcdef0123", names, "0", "passed", 10, "")
        self.assertEqual([row[1:3] for row in self.rows()[1:]], [["0 (1 of 4)", "abcdef0123"], ["2 of 4", "0123456789"]])
        self.assertIn("passed in 2,000 s; did not pass: 1, 3 |", self.rows()[2][4])
        for case in names:
            self.ledger.note("second", "abcdef0123", names, case, "passed", 10, "")
        self.assertEqual(self.ledger.complete("second", "abcdef0123"), 4)
        # A row of a whole part stays rather than a newer one of some of its cases.
        self.ledger.note("second", "1111111111", names, "0", "passed", 10, "")
        self.ledger.note("second", "2222222222", names, "0", "passed", 10, "")
        self.assertEqual([row[1:3] for row in self.rows()[1:]], [["0 (1 of 4)", "2222222222"], ["all 4", "abcdef0123"]])
        self.assertEqual(self.ledger.passed("second", "abcdef0123", names), set(names))

    def test_verdicts(self):
        case = running.Case("a", [], remark="seed 7", skipped_if=r"\[  SKIPPED \]")
        for status, text, verdict in (
            (0, "40 cases, 0 failed, 3.0 s\n", ("passed", "seed 7")),
            (0, "NOTE: without ia64\n40 cases, 0 failed\n", ("passed", "seed 7; NOTE: without ia64")),
            (0, "skipped b: no gdb\nskipped c: no gdb\n2 cases, 0 failed, 3.0 s\n", ("skipped", "b: no gdb")),
            (0, "skipped b: no gdb\n2 cases, 0 failed, 3.0 s\n", ("passed", "seed 7")),
            (0, "[ RUN      ] A.B\n[  SKIPPED ] A.B (0 ms)\n", ("skipped", "[  SKIPPED ] A.B (0 ms)")),
            (77, "x\nno compiler\n", ("skipped", "no compiler")),
            (1, "FAILED b: wrong\n2 cases, 1 failed\n", ("failed", "FAILED b: wrong (status 1)")),
            (8, "1/2 Test #1: A.B ...***Failed  0.1 sec\n", ("failed", "1/2 Test #1: A.B ...***Failed  0.1 sec (status 8)")),
            (139, "", ("failed", " (status 139)")),
        ):
            self.assertEqual(running.verdict_of(case, status, text), verdict)


if __name__ == "__main__":
    unittest.main()

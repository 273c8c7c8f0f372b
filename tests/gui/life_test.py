#!/usr/bin/env python3
"""A whole life in the real window, driven from outside through the accessibility bus (AT-SPI), as a screen reader would
drive it. First a user without any knowledge takes a program of this machine from registering to export by pressing only
the highlighted button of the page Overview. Then: register, instrument, run twice, look at each page, optimize, run,
export, for an Alpha program and, if there is one, an Itanium program. The exported image has to print the same and to
execute fewer instructions. At last the window is closed by its menu and has to end with 0; LeakSanitizer then reports
leaks.

The window runs in an X server (Xvfb), a window manager and a message bus of its own. A screenshot of each page is kept
in build/gui/screenshots. Environment: RESPIKE_GUI_SHOTS (another folder for them), RESPIKE_GUI_DARK=1 (dark colours),
QT_SCALE_FACTOR=2 (high resolution). Where Xvfb, openbox or pyatspi is missing, the test says so and is skipped.

If a user of the keyboard or of a screen reader cannot reach a control, this test cannot reach it either: then fix the
window, not the test."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import common
import ia64_programs
from common import expect

SKIPPED = 77
MANAGER = os.environ.get("RESPIKE_MANAGER", str(pathlib.Path(common.RESPIKE).parent / "respike-manager"))
SHOTS = pathlib.Path(os.environ.get("RESPIKE_GUI_SHOTS", common.PROGRAMS.parent / "gui" / "screenshots"))
SCALE = float(os.environ.get("QT_SCALE_FACTOR", "1"))
TOOLS = ["Xvfb", "openbox", "dbus-run-session", "import"]
WAIT = 300.0 if os.environ.get("RESPIKE_SANITIZED") else 60.0
KEYS = {"Tab": 0xFF09, "Home": 0xFF50, "Return": 0xFF0D}  # X11/keysymdef.h
DARK = """
[Colors:Window]
BackgroundNormal=42,46,50
ForegroundNormal=252,252,252
[Colors:View]
BackgroundNormal=27,30,32
BackgroundAlternate=35,38,41
ForegroundNormal=252,252,252
ForegroundLink=29,153,243
ForegroundVisited=155,89,182
[Colors:Button]
BackgroundNormal=49,54,59
ForegroundNormal=252,252,252
[Colors:Selection]
BackgroundNormal=61,174,233
ForegroundNormal=252,252,252
[Colors:Tooltip]
BackgroundNormal=49,54,59
ForegroundNormal=252,252,252
"""  # KDE's dark colours; Qt reads them without KDE
SCRIPT = """
local words = {}
for i = 1, 300 do words[#words + 1] = ("w%d"):format(i * 7919 % 101) end
table.sort(words)
print(("%d %s %s %d"):format(#words, words[1], words[150], table.concat(words):find("w99")))
"""


# --- The session: an X server, a window manager, a bus ------------------------------------------------------------------


def missing():
    """The needs of the test that this machine lacks; empty: none."""
    lacking = [tool for tool in TOOLS if not shutil.which(tool)]
    python = subprocess.run(["/usr/bin/python3", "-c", "import pyatspi"], capture_output=True)
    return lacking + (["pyatspi"] if python.returncode else []) + ([] if os.path.exists(MANAGER) else ["respike-manager"])


def start_session(scratch):
    """Starts this file once more inside a session of its own; returns its status."""
    environment = dict(os.environ, RESPIKE_GUI_INSIDE=str(scratch), HOME=str(scratch / "home"), LC_ALL="C.UTF-8",
                       XDG_RUNTIME_DIR=str(scratch / "runtime"), XDG_CONFIG_HOME=str(scratch / "home"),
                       RESPIKE_DB=str(scratch / "life.db"), QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1",
                       QT_QPA_PLATFORM="xcb", NO_AT_BRIDGE="0")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS"):
        environment.pop(variable, None)
    for folder in ("home", "runtime"):
        (scratch / folder).mkdir(mode=0o700)
    if dark():
        environment |= {"QT_QPA_PLATFORMTHEME": "kde", "XDG_CURRENT_DESKTOP": "KDE", "KDE_SESSION_VERSION": "5"}
        (scratch / "home" / "kdeglobals").write_text(DARK)
    reading, writing = os.pipe()
    size = f"{round(1160 * SCALE)}x{round(790 * SCALE)}x24"
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp", "-noreset"],
                              pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        os.close(writing)
        with os.fdopen(reading) as pipe:
            display = pipe.readline().strip()
        expect(display, "Xvfb did not start")
        environment["DISPLAY"] = ":" + display
        return subprocess.run(["dbus-run-session", "--", "/usr/bin/python3", __file__], env=environment).returncode
    finally:
        server.terminate()
        server.wait()


# --- The window ---------------------------------------------------------------------------------------------------------


class Window:
    """The window as assistive technology sees it."""

    def __init__(self, scratch):
        import pyatspi
        from gi.repository import GLib

        self.atspi, self.scratch = pyatspi, scratch
        self.gone = (GLib.GError, RuntimeError, AttributeError)  # errors of objects of a closed dialog
        self.helpers = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                        for command in (["openbox"], ["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"])]
        self.log = open(scratch / "manager.log", "w+")
        self.process = subprocess.Popen([MANAGER, "-style", "fusion"], stdout=self.log, stderr=self.log)
        self.application = self.wait("the window", self._application)

    def quit(self):
        """Ends the window as a user does, by its menu; returns the exit status."""
        self.act(self.menu_item("File", "Quit"), "press")
        return self.process.wait(WAIT)

    def close(self):
        for process in [self.process, *self.helpers]:
            if process.poll() is None:
                process.terminate()
            process.wait()

    def _application(self):
        expect(self.process.poll() is None, f"the window ended: {self.said()}")
        desktop = self.atspi.Registry.getDesktop(0)
        for i in range(desktop.childCount):
            child = desktop.getChildAtIndex(i)
            if child and child.name == "respike-manager" and child.childCount:
                return child
        return None

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def wait(self, what, condition, limit=WAIT):
        end = time.monotonic() + limit
        while True:
            try:
                value = condition()
            except self.gone:
                value = None
            if value:
                return value
            if time.monotonic() > end:
                self.shoot("failure")
                self.describe()
                raise common.Failure(f"{what}: not within {limit:g} s; {self.said()}")
            time.sleep(0.05)

    def describe(self):
        """Prints all reachable controls, to see which are missing."""
        for node in self.walk(self.application):
            print(f"  {node.getRoleName()} \"{node.name}\"")

    def walk(self, node):
        """All objects that show, without the cells of tables."""
        yield node
        if node.getRoleName() in ("table", "tree table", "tree", "list", "menu", "combo box"):
            return
        for i in range(node.childCount):
            child = node.getChildAtIndex(i)
            if child is not None and child.getState().contains(self.atspi.STATE_SHOWING):
                yield from self.walk(child)

    def top(self):
        """The dialog that is open, or the window."""
        windows = [self.application.getChildAtIndex(i) for i in range(self.application.childCount)]
        dialogs = [w for w in windows if w is not None and w.getRoleName() in ("dialog", "alert", "message box")]
        return dialogs[-1] if dialogs else windows[0]

    def seek(self, name, roles):
        for node in self.walk(self.top()):
            if node.getRoleName() in roles and node.name.replace("&", "").rstrip("…") == name:
                return node
        return None

    def find(self, name, *roles):
        return self.wait(f"{'/'.join(roles)} \"{name}\"", lambda: self.seek(name, roles))

    def act(self, node, *names):
        """Does the first of the named actions that the object has."""
        actions = node.queryAction()
        have = [actions.getName(i).lower() for i in range(actions.nActions)]
        for name in names:
            if name in have:
                actions.doAction(have.index(name))
                return
        raise common.Failure(f"{node.getRoleName()} {node.name}: has {have}, not {names}")

    def menu_item(self, menu, name):
        def items(node):
            return [node.getChildAtIndex(i) for i in range(node.childCount)]

        def named(nodes, name):
            return next((n for n in nodes if n.name.replace("&", "").rstrip("…") == name), None)

        bar = self.find("", "menu bar")
        (popup,) = items(named(items(bar), menu))
        return named(items(popup), name)

    def press(self, name):
        def enabled():
            button = self.seek(name, ("push button", "check box"))
            return button if button and button.getState().contains(self.atspi.STATE_ENABLED) else None

        self.act(self.wait(f"button {name} to press", enabled), "press", "toggle", "check")

    def type(self, name, text):
        self.find(name, "text").queryEditableText().setTextContents(str(text))

    def text(self, name):
        text = self.find(name, "text").queryText()
        return text.getText(0, text.characterCount)

    def keys(self, *names):
        """Presses keys one after another, as the keyboard would."""
        for name in names:
            self.atspi.Registry.generateKeyboardEvent(KEYS[name], None, self.atspi.KEY_SYM)
            time.sleep(0.1)

    def value(self, label):
        """The contents of the box with a label: Qt names a box after its current choice."""
        for node in self.walk(self.top()):
            for relation in node.getRelationSet() if node.getRoleName() == "combo box" else []:
                if relation.getRelationType() == self.atspi.RELATION_LABELLED_BY:
                    if relation.getTarget(0).name.strip() == label:
                        return node.name
        return None

    def page(self, name):
        def shown():
            if self.seek(name, ("page tab list",)):  # the list has the name of the page that shows
                return True
            self.act(self.find(name, "page tab"), "press", "setfocus")
            return False

        self.wait(f"page {name}", shown)

    def dialog(self, title):
        self.wait(f"dialog {title}", lambda: self.top().name == title)
        time.sleep(0.3)  # until it is painted

    def no_dialog(self):
        self.wait("the end of the dialog", lambda: self.top().getRoleName() not in ("dialog", "alert"))

    def idle(self):
        """Waits until no action runs: the button Cancel is gone."""
        time.sleep(0.2)
        self.wait("the end of the work", lambda: self.seek("Cancel", ("push button",)) is None)

    def pages(self):
        return [n.name for n in self.walk(self.top()) if n.getRoleName() == "page tab"]

    def shoot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        variant = ("-dark" if dark() else "") + (f"-{SCALE:g}x" if SCALE != 1 else "")
        path = SHOTS / f"{name.lower().replace(' ', '-')}{variant}.png"
        subprocess.run(["import", "-window", "root", path], check=True, timeout=60)
        return path


def dark():
    return os.environ.get("RESPIKE_GUI_DARK") == "1"


# --- A life -------------------------------------------------------------------------------------------------------------


def outcome_of(program, arguments, stdin):
    return common.run_command([*emulator_of(program), program, *arguments], stdin=stdin)


def emulator_of(program):
    if program.suffix == ".ia64":
        return [os.environ.get("RESPIKE_IA64_EMULATOR", str(pathlib.Path(common.RESPIKE).parent / "respike-ia64"))]
    return common.QEMU


def images(name):
    return json.loads(common.respike_ok("show", name, "--json").stdout)["images"]


def next_button(window):
    """The highlighted button, by its text for screen readers; None: there is none."""
    for node in window.walk(window.top()):
        if node.getRoleName() == "push button" and node.description.startswith("Next step: "):
            return node if node.getState().contains(window.atspi.STATE_ENABLED) else None
    return None


def press_next(window, name):
    """Presses the highlighted button, which has to be the one of this name."""
    button = window.wait(f"the highlighted button {name}", lambda: (found := next_button(window)) and named(found) == name and found)
    highlighted = [n for n in window.walk(window.top()) if n.description.startswith("Next step: ")]
    expect(len(highlighted) == 1, f"{len(highlighted)} buttons are highlighted")
    window.shoot(f"overview-{name}")
    window.act(button, "press")


def named(node):
    return node.name.replace("&", "").rstrip("…")


def be_guided(window):
    """A life by the highlighted buttons alone; returns False when there is no program for it."""
    lua = common.PROGRAMS / "x86_64" / "images" / "lua.pie"
    if not lua.exists():
        print("NOTE: without a program of this machine", flush=True)
        return False
    program, script = window.scratch / "my program", window.scratch / "work.lua"
    script.write_text(SCRIPT)
    arguments = [str(script)]
    shutil.copy(lua, program)
    expected = subprocess.run([program, *arguments], capture_output=True).stdout
    out = window.scratch / "out-guided"
    press_next(window, "Register a program")
    window.dialog("Register programs")
    window.type("Program", program)
    window.press("Register")
    window.no_dialog()
    press_next(window, "Instrument")
    window.wait("arguments", lambda: window.seek("Arguments of the program", ("text",)))
    window.type("Arguments of the program", shlex.join(arguments))
    press_next(window, "Run")
    press_next(window, "Optimize")
    press_next(window, "Check")
    press_next(window, "Export")
    window.dialog("Export my program")
    window.type("Folder", out)
    window.press("Export")
    window.no_dialog()
    window.idle()
    window.wait("the end", lambda: next_button(window) is None and any(
        "is done: the optimized files are in" in node.name for node in window.walk(window.top())))
    window.shoot("overview-done")
    outcome = subprocess.run([out / program.name, *arguments], capture_output=True)
    expect(outcome.stdout == expected, "the exported program prints something else")
    shown = json.loads(common.respike_ok("show", "my program", "--json").stdout)
    expect(shown["mode"] == "optimized", f"{shown}")
    # The command line and the window propose the same next step.
    common.respike_ok("instrument", "my program")
    press_next(window, "Run")
    press_next(window, "Optimize")
    window.idle()
    return True


def live(window, name, program, arguments, stdin, shoot):
    """Takes a program from registering to export; with `shoot`, keeps pictures of all pages."""
    out = window.scratch / f"out-{name}"
    window.page("Applications")
    window.press("Register a program" if window.seek("Register a program", ("push button",)) else "Register")
    window.dialog("Register programs")
    window.type("Program", program)
    window.type("Name", name)
    if shoot:
        window.shoot("register")
    window.press("Register")
    window.no_dialog()
    window.idle()
    window.wait(f"{name} is chosen", lambda: window.value("Application:") == name)

    window.press("Instrument")
    window.dialog("Instrument " + name)
    if shoot:
        window.shoot("instrument")
    window.press("Instrument")
    window.no_dialog()
    window.idle()

    window.page("Run")
    window.type("Arguments", arguments)
    window.type("Input file", stdin or "")
    window.find("Runs", "spin button").queryValue().currentValue = 2
    window.press("Run")
    expected = outcome_of(program, arguments.split(), stdin).stdout.decode()
    window.wait("two runs", lambda: window.text("Output of the program").count(expected) == 2)
    window.wait("two profiles", lambda: images(name)[0]["profile"]["runs"] == 2)
    window.find("Runs", "spin button").queryValue().currentValue = 1

    window.page("Time")
    table = window.find("Procedures", "table", "tree table")
    window.wait("procedures", lambda: table.queryTable().nRows > 20)
    window.find("Find a procedure", "text").queryComponent().grabFocus()
    window.keys("Tab", "Tab", "Tab", "Home", "Return")  # past the two buttons into the table
    window.wait("the procedure's page", lambda: window.seek("Procedure", ("page tab list",)))
    window.wait("the listing", lambda: window.find("Listing", "table").queryTable().nRows > 10)

    window.page("Applications")
    window.press("Optimize")
    window.dialog("Optimize " + name)
    if shoot:
        window.shoot("optimize")
    window.press("Optimize")
    window.no_dialog()
    window.idle()
    window.page("Run")
    window.press("Clear")
    window.press("Run")
    window.wait("the optimized run", lambda: expected in window.text("Output of the program"))
    window.page("Layout")
    touched = window.find("Code that runs", "table")
    window.wait("the layouts", lambda: touched.queryTable().nRows > 0)
    window.page("Profiles")
    ran = window.find("Procedures of the profile", "table")
    window.wait("the profile", lambda: ran.queryTable().nRows > 20)
    window.page("Gain")
    window.type("Arguments of the workload", arguments)
    window.type("Input file of the workload", stdin or "")
    window.press("Compare")
    window.idle()
    kept = window.find("Comparisons", "table")
    window.wait("the comparison", lambda: kept.queryTable().nRows == 1)
    window.page("Applications")
    window.press("Verify")
    window.idle()
    window.press("Export")
    window.dialog("Export " + name)
    window.type("Folder", out)
    if shoot:
        window.shoot("export")
    window.press("Export")
    window.no_dialog()
    window.idle()
    exported = out / program.name
    window.wait("the exported image", exported.exists)
    check_exported(program, exported, arguments.split(), stdin, expected)
    window.page("Commands")
    lines = window.text("Command lines")
    for words in (f"register {program}", f"instrument {name}", f"run {name}", f"optimize {name}", f"export {name} {out}"):
        expect(f" {words}" in lines, f"no {words} in {lines}")
    if shoot:
        look_at_pages(window)


def check_exported(program, exported, arguments, stdin, expected):
    expect(outcome_of(exported, arguments, stdin).stdout.decode() == expected, "the exported image prints something else")
    outcome = common.respike_ok("compare", program, exported, "--json", "--", *arguments, stdin=stdin)
    compared = json.loads(outcome.stdout)
    before, after = (compared[side]["instructions"] for side in ("before", "after"))
    expect(after < before, f"{program.name}: {after} instructions after, {before} before")
    print(f"{program.name}: {100 - 100 * after / before:.1f}% fewer instructions", flush=True)


def look_at_pages(window):
    window.act(window.menu_item("Application", "Collect counts"), "press")  # a last sentence without paths
    window.idle()
    for name in window.pages():
        window.page(name)
        time.sleep(0.5)  # a page reads in the background
        window.shoot(name)


def programs(scratch):
    """[(name, copy of the program, arguments, file to read)]"""
    work = scratch / "input.lua"
    work.write_text(SCRIPT)
    found = []
    for name, source in [("lua", common.PROGRAMS / "images" / "lua.dynamic"),
                         ("itanium", next((p for p in ia64_programs.programs() if p.name == "mix.ia64"), None))]:
        if source is None or not source.exists():
            print(f"NOTE: without the program of {name}", flush=True)
            continue
        copy = scratch / "programs" / source.name
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(source, copy)
        is_lua = name == "lua"
        found.append((name, copy, "-" if is_lua else "", str(work) if is_lua else None))
    return found


def inside(scratch):
    window = Window(scratch)
    try:
        start = time.monotonic()
        if be_guided(window):
            print(f"guided: {time.monotonic() - start:.1f} s", flush=True)
        for number, (name, program, arguments, stdin) in enumerate(programs(scratch)):
            start = time.monotonic()
            live(window, name, program, arguments, stdin, shoot=number == 0)
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
        expect(window.process.poll() is None, window.said())
        status = window.quit()
        expect(status == 0, f"the window ended with {status}: {window.said()}")
        expect("QObject" not in window.said() and "Warning" not in window.said(), window.said())
    finally:
        window.close()


def main():
    inner = os.environ.get("RESPIKE_GUI_INSIDE")
    if inner:
        inside(pathlib.Path(inner))
        return 0
    if missing():
        print(f"SKIPPED: without {', '.join(missing())}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="respike-life-") as scratch:
        return start_session(pathlib.Path(scratch))


if __name__ == "__main__":
    sys.exit(main())

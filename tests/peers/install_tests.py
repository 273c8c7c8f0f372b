#!/usr/bin/env python3
"""Respike as users install it, in a Debian 12 of its own (mmdebstrap, as root).

    packages    dpkg-buildpackage twice, in two folders: the same packages; lintian has no errors and warnings; apt installs
                them, an ordinary user goes through docs/tutorial.md, opens the window, newer packages are installed while a
                program below `respike exec` counts, and after `apt purge` nothing is left but the user's files
    tarball     cpack's archive, unpacked into a folder with blanks in its path, and the libraries that README names: the
                tutorial and the window again

Only the folders that apt itself keeps may differ after the removal (KEPT)."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import gcc_sources  # noqa: F401  (its folders of modules)
import common
import packages
import runner
import pages_test
from common import expect

LONGEST = 7200.0  # seconds of a build
WORK = runner.WORK / "install"
# The packages that the tutorial needs, and a display.
INCLUDED = "mount,gcc,libc6-dev,gdb,dpkg-dev,ca-certificates,xvfb,xauth,x11-utils,procps"
KEPT = re.compile(r"/(proc|sys|dev|run|tmp|home|var/(lib/(dpkg|apt|systemd)|cache|log)|etc/ld\.so\.cache|debs|newer|root)(/|$|-)")
USER, HOME = "1000", "/home/me"


class Root:
    """A Debian 12 in a folder, with a user `me`."""

    def __init__(self, folder):
        if os.geteuid() != 0:
            raise packages.Unavailable("only root can make another system's folder")
        self.folder = folder
        if not folder.is_dir():
            part = folder.with_name(f".{folder.name}")
            subprocess.run(["rm", "-rf", "--one-file-system", part], check=True)
            lists = [*map(str, pathlib.Path("/etc/apt/sources.list.d").glob("*.sources"))]
            lists += [str(p) for p in (pathlib.Path("/etc/apt/sources.list"),) if p.exists()]
            configuration = [f"--setup-hook=copy-in {p} /etc/apt/apt.conf.d" for p in self._configuration()]
            packages.checked(
                ["mmdebstrap", "--mode=root", "--variant=apt", f"--include={INCLUDED}", *configuration, "bookworm", part, *lists],
                folder.parent, LONGEST,
            )  # fmt: skip
            self._let_sources_in(part)
            part.rename(folder)
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        self.ok("id me > /dev/null 2>&1 || useradd --create-home --uid 1000 --shell /bin/bash me")
        self.ok("apt-get -q update")

    @staticmethod
    def _configuration():
        """How this machine's apt reaches packages: files of its configuration of transports and checks."""
        files = pathlib.Path("/etc/apt/apt.conf.d").iterdir()
        return [p for p in files if re.search(r"^Acquire::(https?|Check|Retries)", p.read_text(), re.M)]

    @staticmethod
    def _let_sources_in(folder):
        for file in (folder / "etc/apt").glob("sources.list*"):
            for each in [file] if file.is_file() else file.iterdir():
                text = re.sub(r"^Types: deb$", "Types: deb deb-src", each.read_text(), flags=re.M)
                lines = [line.replace("deb ", "deb-src ", 1) for line in text.splitlines() if line.startswith("deb ")]
                each.write_text("\n".join([text.rstrip("\n"), *lines]) + "\n")

    def run(self, script, user="0", folder="/", timeout=LONGEST, **environment):
        """A script below the folder, with /proc and /dev, in namespaces of its own. Its outcome."""
        home = HOME if user == USER else "/root"
        path = environment.pop("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        variables = {"PATH": path, "HOME": home, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **environment}
        # Below chroot() the kernel gives ordinary users no namespaces; another root mount does not disturb them. An X server
    # does not report that it is ready to a parent with the number 1.
        prepare = (
            'mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc && mount --rbind /dev dev && mount -t tmpfs tmpfs run &&'
            " pivot_root . mnt && umount -l /mnt && exec setpriv --reuid=$2 --regid=$2 --clear-groups"
            " sh -c 'cd \"$1\" && bash -c \"$2\"; exit $?' sh \"$3\" \"$4\""
        )
        command = ["unshare", "--mount", "--pid", "--fork", "--propagation", "private", "sh", "-c", prepare]
        return common.run_command([*command, "sh", self.folder, user, folder, script], env=variables, timeout=timeout)

    def ok(self, script, **how):
        outcome = self.run(script, **how)
        expect(outcome.status == 0, f"{script}: {outcome}")
        return outcome.stdout.decode(errors="replace")

    def files(self):
        """All files that are not apt's own: path -> kind and contents."""
        found = {}
        for folder, folders, names in os.walk(self.folder):
            inside = "/" + os.path.relpath(folder, self.folder)
            inside = "/" if inside == "/." else inside + "/"
            folders[:] = [name for name in folders if not KEPT.match(inside + name)]
            for name in folders + names:
                if not KEPT.match(inside + name):
                    status = os.lstat(os.path.join(folder, name))
                    found[inside + name] = (status.st_mode, status.st_size if name in names else 0)
        return found

    def follow_tutorial(self, **environment):
        """docs/tutorial.md by a user."""
        self.ok("rm -rf ~/tutorial ~/.local", user=USER, folder=HOME)
        folder = HOME
        for command, promised in pages_test.steps():
            script = f"set -e\n{command}\npwd > ~/.folder\n"
            outcome = self.run(script, user=USER, folder=folder, **environment)
            folder = (self.folder / HOME[1:] / ".folder").read_text().strip()
            expect(outcome.status == 0, f"{command}: {outcome}")
            quiet = command == pages_test.FETCH or "gdb" in command
            expect(quiet or not outcome.stderr, f"{command}: {outcome}")
            pages_test.compare(command, promised, outcome.stdout.decode().splitlines(), pathlib.Path(HOME))

    def open_window(self, **environment):
        """`respike manager` under Xvfb: a window with its title is there within a minute."""
        script = "xvfb-run -a sh -c 'respike manager & i=0; until xwininfo -root -tree | grep -q \"Respike\"; do sleep 0.5; "
        script += "i=$((i+1)); test $i -lt 120 || exit 1; kill -0 $! || exit 2; done; sleep 1; kill -0 $! && kill $!'"
        outcome = self.run(script, user=USER, folder=HOME, **environment)
        expect(outcome.status == 0, f"the window: {outcome}")


def copy_of_sources(folder):
    """The files that git knows, as they are now, without build results."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(["git", "-C", common.ROOT, "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (common.ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(common.ROOT / name, folder / name)


def build_packages(folder):
    """The packages of one build, in folder.parent; the seconds that it took."""
    started = time.monotonic()
    packages.checked(["dpkg-buildpackage", "-us", "-uc", "-b"], folder, LONGEST)
    return time.monotonic() - started


def built_twice():
    """The packages of a build, which another build in another folder makes again, byte for byte."""
    made = {}
    for name in ("one", "another name"):
        sources = WORK / name / "respike"
        copy_of_sources(sources)
        for old in sources.parent.glob("respike*_*"):
            old.unlink()
        seconds = build_packages(sources)
        made[name] = sorted(sources.parent.glob("*.deb"))
        expect(len(made[name]) == 6, f"{made[name]}")
        print(f"dpkg-buildpackage in {seconds:.0f} s", flush=True)
        shutil.rmtree(sources)
    for first, second in zip(*made.values()):
        expect(first.name == second.name and first.read_bytes() == second.read_bytes(), f"{first} and {second} differ")
        print(f"{first.name}: {first.stat().st_size:,} bytes, identical twice", flush=True)
    files = made["one"]
    (changes,) = files[0].parent.glob("*.changes")
    print(packages.checked(["lintian", "--fail-on", "error,warning", changes], WORK, LONGEST) or "lintian says nothing", flush=True)
    return files


# Waits for a file when its argument is `wait`.
WAITING = """
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
  if (count > 1) {
    fclose(fopen("started", "w"));
    while (access("go", F_OK) != 0) usleep(10000);
  }
  return 0;
}
"""


def make_newer(root):
    """The same packages with a higher version, in /newer below the root."""
    made = root.folder / "newer"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    for file in sorted((root.folder / "debs").glob("*.deb")):
        content = made / "content"
        packages.checked(["dpkg-deb", "-R", file, content], made)
        control = content / "DEBIAN" / "control"
        text = re.sub(r"^(Version: .*)$", r"\1+newer", control.read_text(), flags=re.M)
        control.write_text(re.sub(r"(respike[\w-]* \(= [^)]+)\)", r"\1+newer)", text))
        packages.checked(["dpkg-deb", "--root-owner-group", "-Znone", "-b", content, made / file.name], made)
        shutil.rmtree(content)


def upgrade_meanwhile(root):
    """Newer packages take the places of those by which a command runs and a program counts: the program goes on, its next
    start is counted, too, and the newer `respike` knows both runs."""
    make_newer(root)
    root.ok("rm -rf ~/upgrade && mkdir ~/upgrade", user=USER, folder=HOME)
    folder = f"{HOME}/upgrade"
    (root.folder / folder[1:] / "waiting.c").write_text(WAITING)
    root.ok("gcc -O2 -Wl,-q waiting.c -o waiting && respike register waiting && respike instrument waiting", user=USER, folder=folder)
    outcomes = []
    command = "respike exec sh -c './waiting wait && ./waiting'"
    thread = threading.Thread(target=lambda: outcomes.append(root.run(command, user=USER, folder=folder)))
    thread.start()
    limit = time.monotonic() + 60
    while not (root.folder / folder[1:] / "started").exists() and time.monotonic() < limit and thread.is_alive():
        time.sleep(0.1)
    try:
        root.ok("apt-get install -q -y --no-install-recommends /newer/*.deb")
        versions = root.ok("dpkg-query -W -f '${Package} ${Version}\\n' 'respike*'").splitlines()
        expect(len(versions) == 3 and all(line.endswith("+newer") for line in versions), f"{versions}")
    finally:
        (root.folder / folder[1:] / "go").touch()
        thread.join()
    (outcome,) = outcomes
    expect(outcome.status == 0 and b"2 runs of waiting were counted" in outcome.stderr, f"{outcome}")
    said = root.ok("respike optimize waiting && respike run waiting && respike show waiting", user=USER, folder=folder)
    expect("2 runs" in said, said)
    print("upgraded while a program below `respike exec` counted", flush=True)
    shutil.rmtree(root.folder / "newer")


def check_packages(folder):
    """`folder`: packages that were built already; None: they are built here."""
    files = sorted(folder.glob("respike*.deb")) if folder else built_twice()
    root = Root(WORK / "root")
    shutil.rmtree(root.folder / "debs", ignore_errors=True)
    (root.folder / "debs").mkdir()
    for file in files:
        if "-dbgsym" not in file.name:
            shutil.copy(file, root.folder / "debs")
    remove, listed = "apt-get autoremove -q -y --purge 'respike*'", "dpkg-query -W -f '${Package} ${Status}\\n'"
    root.run(remove)  # of a run that failed
    before, installed = root.files(), root.ok(listed)
    root.ok("apt-get install -q -y --no-install-recommends /debs/*.deb")
    print("installed by apt: " + root.ok("respike --version").splitlines()[0], flush=True)
    root.follow_tutorial()
    root.open_window()
    print("tutorial and window: as an ordinary user", flush=True)
    upgrade_meanwhile(root)
    root.ok(remove)
    left = set(root.ok(listed).splitlines()) - set(installed.splitlines())
    expect(not left, f"packages are left: {left}")
    after = root.files()
    different = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    expect(not different, f"left or changed after the removal: {different}")
    expect((root.folder / HOME[1:] / ".local/share/respike/respike.db").exists(), "the user's database is gone")
    print("removed: nothing is left but the user's database", flush=True)


def check_tarball(_):
    build = pathlib.Path(common.RESPIKE).resolve().parent
    made = WORK / "tarball"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    packages.checked(["cpack", "-B", made, "--config", build / "CPackConfig.cmake"], build, LONGEST)
    (archive,) = made.glob("*.tar.xz")
    print(f"{archive.name}: {archive.stat().st_size:,} bytes", flush=True)
    root = Root(WORK / "root")
    place = "/opt/my own tools"
    shutil.rmtree(root.folder / place[1:], ignore_errors=True)
    (root.folder / place[1:]).mkdir(parents=True)
    packages.checked(["tar", "-xf", archive, "--strip-components=1", "-C", root.folder / place[1:]], made)
    (needed,) = re.findall(r"apt-get install ([\w .-]*libfmt[\w .-]*)", (common.ROOT / "README.md").read_text())
    root.ok(f"apt-get install -q -y --no-install-recommends {needed}")
    path = f"{place}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    root.follow_tutorial(PATH=path)
    root.open_window(PATH=path)
    print("tutorial and window: as an ordinary user, below " + place, flush=True)
    shutil.rmtree(root.folder / place[1:])


CASES = {"packages": check_packages, "tarball": check_tarball}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument("--filter", default="", help="cases: a regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--packages", type=pathlib.Path, metavar="DIR", help="install these packages instead of building them")
    args = parser.parse_args()
    names = {name: check for name, check in CASES.items() if re.search(args.filter, name)}
    if args.list:
        print("\n".join(names))
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    return packages.take_each(names, lambda _, check: check(args.packages))


if __name__ == "__main__":
    sys.exit(main())

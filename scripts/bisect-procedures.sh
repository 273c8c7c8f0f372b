#!/usr/bin/env bash
# Finds the procedures whose rewriting breaks a program. The script optimizes the image repeatedly
# with only some of its procedures movable (--only), and a test command judges each candidate image.
# Delta debugging narrows the list of procedures down until no procedure can be left out. If respike
# itself fails with a list, this proves nothing: the list counts as working, and the search
# continues. An image in which no procedure moves is tried first: if it also fails, no procedure is
# to blame.
#
# Exit status: 0 a minimal list was found and printed to stdout, one procedure per line in the form
# of --only: a name, or NAME@ADDRESS if several procedures have the name; 1 nothing to find (the
# original fails the test, the fully rewritten image passes it, or the image in which nothing moves
# fails it), or respike itself fails on the whole list; 2 wrong usage.
set -euo pipefail

usage() {
  cat >&2 <<'USAGE'
usage: scripts/bisect-procedures.sh IMAGE TEST-COMMAND [-- OPTIMIZE-OPTION...]

  TEST-COMMAND  a shell command that exits 0 when a candidate works; {} stands for the candidate's path
                (without {}, the path is passed as $1). It is stopped after $RESPIKE_BISECT_TIMEOUT seconds
                (default 60), which counts as failure.
  OPTIONS       for `respike image optimize`; default: --layout random --seed 1

  example: scripts/bisect-procedures.sh lua 'qemu-alpha -L /usr/alpha-linux-gnu {} test.lua | cmp - good' \
             -- --layout random --seed 7
  $RESPIKE names the command (default: build/respike beside this script's folder, else the respike in $PATH).
USAGE
  exit "${1:-2}"
}

[[ ${1:-} != --help ]] || usage 0 2>&1
[[ $# -ge 2 && ${1:0:1} != - ]] || usage
image=$1
test_command=$2
shift 2
options=(--layout random --seed 1)
if [[ $# -gt 0 ]]; then
  [[ $1 == -- ]] || usage
  shift
  options=("$@")
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ -z ${RESPIKE:-} ]]; then
  RESPIKE=$root/build/respike
  [[ -x $RESPIKE ]] || RESPIKE=respike
fi
if ! command -v -- "$RESPIKE" > /dev/null; then
  echo "bisect-procedures: there is no command $RESPIKE: build respike, put it into PATH, or name it by RESPIKE=" >&2
  exit 1
fi
export RESPIKE
exec python3 - "$image" "$test_command" "${options[@]}" <<'PYTHON'
import collections, os, pathlib, re, shutil, signal, subprocess, sys, tempfile

image, test_command, *options = sys.argv[1:]
respike = os.environ["RESPIKE"]
timeout = float(os.environ.get("RESPIKE_BISECT_TIMEOUT", "60"))
folder = pathlib.Path(tempfile.mkdtemp(prefix="respike-bisect-"))
tried = failed = 0


def say(text):
    print(f"bisect-procedures: {text}", file=sys.stderr, flush=True)


def fail(text):
    say(text)
    sys.exit(1)


def passes(candidate):
    """True when the test command accepts the image."""
    command = test_command.replace("{}", f'"{candidate}"') if "{}" in test_command else test_command + ' "$1"'
    process = subprocess.Popen(["sh", "-c", command, "sh", str(candidate)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(timeout) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def optimize(procedures, option="--only"):
    """The image with only these procedures movable (None: all), or None with the reason."""
    candidate = folder / "candidate"
    chosen = [] if procedures is None else [word for p in procedures for word in (option, p)]
    try:
        done = subprocess.run([respike, "image", "optimize", image, "-o", str(candidate), *options, *chosen],
                              capture_output=True, text=True, errors="replace")
    except OSError as error:  # more names than a command line takes
        return None, str(error)
    return (candidate, "") if done.returncode == 0 else (None, done.stderr.strip())


def breaks(procedures):
    global tried, failed
    tried += 1
    candidate, reason = optimize(procedures)
    if candidate is None:
        failed += 1
        say(f"{len(procedures)} procedures: respike fails itself: {reason}")
        return False
    broken = not passes(candidate)
    say(f"{len(procedures)} procedures: {'broken' if broken else 'fine'}")
    return broken


def list_procedures():
    """All procedures that can be moved, from the listing: names, with addresses where a name is not enough."""
    done = subprocess.run([respike, "image", "disasm", image], capture_output=True, text=True, errors="surrogateescape")
    if done.returncode != 0:
        fail(f"respike fails itself: {done.stderr.strip()}")
    lines = re.findall(r"^([0-9a-f]+) <(.*)>: \d+ bytes?, \d+ blocks?(.*)$", done.stdout, re.M)
    count = collections.Counter(name for _, name, _ in lines)
    return sorted(name if name and count[name] == 1 else f"{name}@{address}"
                  for address, name, note in lines if not note)


def minimize(procedures):
    """Delta debugging (Zeller's ddmin): the smallest list that still breaks, leaving none out."""
    parts = 2
    while len(procedures) > 1:
        size = -(-len(procedures) // parts)
        chunks = [procedures[i:i + size] for i in range(0, len(procedures), size)]
        rests = [procedures[:i] + procedures[i + size:] for i in range(0, len(procedures), size)] if parts > 2 else []
        smaller = next((c for c in chunks if breaks(c)), None)
        if smaller is not None:
            procedures, parts = smaller, 2
            continue
        smaller = next((r for r in rests if breaks(r)), None)
        if smaller is not None:
            procedures, parts = smaller, max(parts - 1, 2)
        elif parts >= len(procedures):
            break
        else:
            parts = min(parts * 2, len(procedures))
    return procedures


def main():
    if not os.path.isfile(image):
        fail(f"{image}: no such file")
    original = folder / "original"
    shutil.copy(image, original)
    if not passes(original):
        fail("the original image fails the test already")
    candidate, reason = optimize(None)
    if candidate is None:
        fail(f"respike fails itself: {reason}")
    if passes(candidate):
        fail(f"the image rewritten with {' '.join(options)} passes the test; nothing to find")
    procedures = list_procedures()
    candidate, reason = optimize(procedures, "--skip")
    if candidate is None:
        say(f"an image in which nothing moves is not tried: {reason}")
    elif not passes(candidate):
        fail("an image in which nothing moves fails the test, too: no procedure is to blame")
    if not breaks(procedures):
        fail("respike fails when all procedures are named" if failed else
             "the image works when all procedures are named")
    culprits = minimize(procedures)
    say(f"{tried} images tried{f', {failed} of them without an image' if failed else ''}; the culprits are:")
    print("\n".join(culprits))


try:
    main()
finally:
    shutil.rmtree(folder, ignore_errors=True)
PYTHON

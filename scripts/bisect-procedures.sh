#!/usr/bin/env bash
# Finds the procedures whose rewriting breaks a program. The image is optimized again and again with only
# some of its procedures movable (--only), and a test command judges each candidate; the list of culprits is
# narrowed down by delta debugging until no procedure can be left out.
#
# Exit status: 0 a minimal list was found and printed to stdout, one name per line; 1 nothing to find (the
# original fails the test, or the fully rewritten image passes it), or respike itself fails; 2 wrong usage.
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
  $RESPIKE names the command (default: build/respike beside this script's folder).
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
export RESPIKE=${RESPIKE:-$root/build/respike}
exec python3 - "$image" "$test_command" "${options[@]}" <<'PYTHON'
import os, pathlib, re, shutil, signal, subprocess, sys, tempfile

image, test_command, *options = sys.argv[1:]
respike = os.environ["RESPIKE"]
timeout = float(os.environ.get("RESPIKE_BISECT_TIMEOUT", "60"))
folder = pathlib.Path(tempfile.mkdtemp(prefix="respike-bisect-"))
tried = 0


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


def optimize(procedures):
    """The image with only these procedures movable (None: all)."""
    candidate = folder / "candidate"
    chosen = [] if procedures is None else [word for p in procedures for word in ("--only", p)]
    done = subprocess.run([respike, "image", "optimize", image, "-o", str(candidate), *options, *chosen],
                          capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"respike fails itself: {done.stderr.strip()}")
    return candidate


def breaks(procedures):
    global tried
    tried += 1
    broken = not passes(optimize(procedures))
    say(f"{len(procedures)} procedures: {'broken' if broken else 'fine'}")
    return broken


def list_procedures():
    """The names of all procedures, from the listing."""
    done = subprocess.run([respike, "image", "disasm", image], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"respike fails itself: {done.stderr.strip()}")
    return sorted(set(re.findall(r"^[0-9a-f]+ <(.+)>:", done.stdout, re.M)))


def minimize(procedures):
    """Delta debugging (Zeller's ddmin): the smallest list that still breaks, leaving none out."""
    parts = 2
    while len(procedures) > 1:
        size = -(-len(procedures) // parts)
        chunks = [procedures[i:i + size] for i in range(0, len(procedures), size)]
        rests = [[p for p in procedures if p not in set(c)] for c in chunks] if parts > 2 else []
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
    if passes(optimize(None)):
        fail(f"the image rewritten with {' '.join(options)} passes the test; nothing to find")
    procedures = list_procedures()
    if not breaks(procedures):
        fail("the image works when all named procedures are moved; the fault needs one without a name")
    culprits = minimize(procedures)
    say(f"{tried} images tried; the culprits are:")
    print("\n".join(culprits))


try:
    main()
finally:
    shutil.rmtree(folder, ignore_errors=True)
PYTHON

#!/usr/bin/env python3
"""Runs a command, and lets no process outlive it.

    guard.py COMMAND [ARGUMENT...]

Tests start programs in sessions of their own, so a signal to a test's process group does not reach all of them.
Example: an end-to-end test starts qemu-alpha in a new session, with a time limit that the test itself watches; if the
test is killed, a hanging program is never ended. On Linux a process can become the parent of all its descendants that
lose their own (PR_SET_CHILD_SUBREAPER in prctl(2)). The guard does so. When the command has ended, at SIGTERM, or when
the guard's own parent dies, the guard kills descendants until none is left.

The exit status is the command's, 128 + N if signal N ended the command or the guard."""

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
MOST_SECONDS = 10.0  # processes of other users cannot be killed


class Stopped(Exception):
    """SIGTERM came."""


def _stop(*_):
    raise Stopped


def descendants(root):
    """The numbers of all processes below `root`."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            pass  # it has just ended
    found, frontier = set(), {root}
    while frontier:
        frontier = {pid for pid, parent in parents.items() if parent in frontier} - found
        found |= frontier
    return found


def kill_all():
    """Kills processes and waits for them, until this process has no children any more."""
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def wait_for(pid):
    """The exit status of the child `pid`; other children that end in the meantime are adopted ones."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main():
    parent = os.getppid()
    signal.signal(signal.SIGTERM, _stop)
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    status = 128 + signal.SIGTERM
    try:
        if os.getppid() == parent:  # else the parent died before it was watched
            # Python ignores these signals; the command shall not.
            usual = [signal.SIGPIPE, signal.SIGXFSZ]
            status = wait_for(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, setsigdef=usual))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except Stopped:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except OSError as error:
        print(f"{sys.argv[1]}: {error.strerror}", flush=True)
        status = 127
    kill_all()
    return status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A driver for server.c: driver.py SOCKET REQUESTS [retry|time|stop|fail]

Waits until the server answers, then sends the numbers from 5 on, one after another, and prints the answers. `retry`: if
an answer is missing, sends another number; prints only that there were answers. `time`: also prints the time. `stop`:
ends the server itself. `fail`: ends with status 7 and a sentence."""

import os
import signal
import socket
import sys
import time

path, requests, *ways = sys.argv[1:]


def ask(number):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b"%d\n" % number)
        return connection.makefile("rb").read()


def ask_at_last(number):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            if answer := ask(number):
                return answer
        except OSError:
            pass
        time.sleep(0.01)
    sys.exit("the server does not answer")


ask_at_last(1)
for number in range(5, 5 + int(requests)):
    try:
        answer = ask(number)
    except OSError:
        answer = b""
    if "retry" in ways:
        print("answered" if answer or ask_at_last(number + 1) else "")
    else:
        print(answer.decode().strip() or "lost")
if "time" in ways:
    print(time.time())
if "fail" in ways:
    print("driver: too few answers", file=sys.stderr)
    sys.exit(7)
if "stop" in ways:
    os.kill(int(os.environ["RESPIKE_SERVER_PID"]), signal.SIGTERM)

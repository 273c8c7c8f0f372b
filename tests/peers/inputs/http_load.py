#!/usr/bin/env python3
"""A load for a server of pages: http_load.py PORT [ranges]

Waits until the server answers, then asks for pages, some of which are missing, with HEAD and with conditions, over
persistent and new connections; prints a sum of all answers. `ranges`: also asks for parts of pages, and counts a
missing answer as an answer."""

import http.client
import sys
import time
import zlib

port, *more = sys.argv[1:]
total = 0


def ask(connection, method, path, headers=None):
    global total
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    total = zlib.crc32(b"%d %s" % (answer.status, answer.read()), total)


end = time.monotonic() + 20
while True:
    try:
        first = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
        ask(first, "GET", "/0.html")
        break
    except OSError:
        if time.monotonic() > end:
            sys.exit("the server does not answer")
        time.sleep(0.02)
first.close()
for turn in range(20):
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
    for number in range(55):
        ask(connection, "HEAD" if number % 7 == 3 else "GET", f"/{number}.html", {"Accept": "text/html", "X-Turn": str(turn)})
    for number in range(20):
        ask(connection, "GET", f"/{number}.html?{turn}", {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"})
    connection.close()
if "ranges" in more:
    for number in range(10):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
            connection.request("GET", f"/{number}.html", headers={"Range": "bytes=1-5"})
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            pass
print(total)

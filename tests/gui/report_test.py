#!/usr/bin/env python3
"""`respike report` in a browser: headless Chromium opens the page at two widths, in light and dark colours.

The page asks for nothing but its own file, holds no scripts, fits the window, can be read (contrast), and each picture
has a title and a text for screen readers. Screenshots are kept in build/gui/screenshots. Without Chromium the test
says so and is skipped. Environment: RESPIKE_GUI_SHOTS, another folder for the screenshots.

Chromium is driven by its DevTools protocol over two pipes (--remote-debugging-pipe): JSON texts that end with a zero
byte."""

import base64
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import common
from common import expect

SKIPPED = 77
SHOTS = pathlib.Path(os.environ.get("RESPIKE_GUI_SHOTS", common.PROGRAMS.parent / "gui" / "screenshots"))
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (1280, 800)
LEAST_CONTRAST = 4.5  # Web Content Accessibility Guidelines 2.1, criterion 1.4.3 (level AA)
WORK = """
create table t(a integer primary key, b text);
with recursive c(x) as (values(1) union all select x+1 from c where x<3000) insert into t select x, 'row ' || x from c;
select count(*), sum(a), max(b) from t where b like '%7%';
select a % 10 as k, count(*), min(b) from t group by k order by k;
"""

# The faults of the page, as a list of sentences. The colour behind a text is that of the nearest element that paints
# its background.
FAULTS = """(() => {
  const faults = [];
  const where = e => e.tagName.toLowerCase() + ' "' + e.textContent.trim().slice(0, 40) + '"';
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [r, g, b] = numbers(colour).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor, [,,, alpha = 1] = numbers(colour);
      if (alpha > 0.5) return colour;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'rgb(18, 18, 18)' : 'rgb(255, 255, 255)';
  };
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) faults.push(`the page is ${page.scrollWidth} wide, the window ${page.clientWidth}`);
  if (document.scripts.length) faults.push('there are scripts');
  if (!document.title || !page.lang) faults.push('the page has no title or language');
  if (document.querySelectorAll('h1').length != 1) faults.push('there is not one first heading');
  for (const e of document.body.querySelectorAll('*')) {
    for (const a of e.attributes)
      if (/^on/i.test(a.name) || /^javascript:/i.test(a.value)) faults.push(where(e) + ': a script in ' + a.name);
    if (e.closest('svg')) continue;
    if (e.getBoundingClientRect().right > page.clientWidth + 1 && !e.closest('figure, .wide'))
      faults.push(where(e) + ' sticks out to the right');
    const own = [...e.childNodes].some(n => n.nodeType == Node.TEXT_NODE && n.data.trim());
    if (!own) continue;
    const a = light(getComputedStyle(e).color), b = light(behind(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < LEAST) faults.push(where(e) + ': contrast ' + contrast.toFixed(1));
  }
  for (const svg of document.querySelectorAll('svg')) {
    const title = svg.querySelector(':scope > title'), text = svg.querySelector(':scope > desc');
    if (svg.getAttribute('role') != 'img') faults.push('a picture has no role');
    if (!title || !title.textContent.trim()) faults.push('a picture has no title');
    else if (!text || text.textContent.trim().length < 20) faults.push(title.textContent + ': no text');
  }
  for (const table of document.querySelectorAll('table'))
    if (!table.caption || !table.querySelector('th[scope=col]')) faults.push(where(table) + ': no caption or scopes');
  return faults;
})()""".replace("LEAST", str(LEAST_CONTRAST))


class Browser:
    """A headless Chromium with one page."""

    def __init__(self, folder):
        from_here, self._send = os.pipe()
        self._receive, to_here = os.pipe()
        self.numbers = itertools.count(1)
        self.unread, self.session, self.requests = b"", None, []

        def place_pipes():  # as numbers 3 and 4; first out of the way
            first, second = os.dup2(from_here, 103), os.dup2(to_here, 104)
            os.dup2(first, 3), os.dup2(second, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=place_pipes, env=dict(os.environ, HOME=str(folder)))
        os.close(from_here), os.close(to_here)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Accessibility"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self._send), os.close(self._receive)

    def _next(self):
        while b"\0" not in self.unread:
            more = os.read(self._receive, 1 << 16)
            expect(more, "Chromium ended")
            self.unread += more
        text, _, self.unread = self.unread.partition(b"\0")
        message = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        return message

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            pass
        expect("error" not in answer, f"{method}: {answer.get('error')}")
        return answer["result"]

    def open(self, path):
        self.call("Page.navigate", url=path.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        expect("exceptionDetails" not in answer, answer)
        return answer["result"]["value"]

    def look(self, width, dark, shot):
        """Shows the page at a width and in colours, and keeps a screenshot of the whole page."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        shot.parent.mkdir(parents=True, exist_ok=True)
        shot.write_bytes(base64.b64decode(picture))

    def spoken_pictures(self):
        """[(name, description)] of the pictures that a screen reader finds."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        found = [n for n in nodes if n.get("role", {}).get("value") in ("image", "img") and not n["ignored"]]
        return [(n.get("name", {}).get("value", ""), n.get("description", {}).get("value", "")) for n in found]


def check(browser, page, name):
    browser.open(page)
    expect(browser.requests == [page.as_uri()], f"{name}: the page asks for {browser.requests}")
    browser.requests.clear()
    for width, dark in itertools.product(WIDTHS, (False, True)):
        variant = f"{name}-{width}" + ("-dark" if dark else "")
        browser.look(width, dark, SHOTS / f"{variant}.png")
        faults = browser.evaluate(FAULTS)
        expect(not faults, f"{variant}: " + "; ".join(faults))
    pictures = browser.spoken_pictures()
    expect(len(pictures) == browser.evaluate("document.querySelectorAll('svg').length"), f"{name}: spoken {pictures}")
    expect(all(title and text for title, text in pictures), f"{name}: spoken {pictures}")
    return [title for title, _ in pictures]


def check_layout(page, pictures):
    """The map of the main image has the same numbers as its text."""
    expect("Layout of trained" in pictures, f"no map among {pictures}")
    text = page.read_text()
    said = re.search(r"Something runs in ([\d,]+) pages of ([\d,]+) bytes of the original, and in ([\d,]+) of the", text)
    row = re.search(r"<td>pages of ([\d,]+) bytes</td><td[^>]*>([\d,]+)</td><td[^>]*>([\d,]+)</td>", text)
    expect(said and row, "the pages that run are not said")
    before, size, after = said.groups()
    expect((size, before, after) == row.groups(), f"the text says {said.groups()}, the table {row.groups()}")
    expect(int(after.replace(",", "")) < int(before.replace(",", "")), f"{after} pages after, {before} before")


def make_reports(folder):
    """A report of a program that was counted and optimized, and of a program that was only registered."""
    environment = dict(os.environ, RESPIKE_DB=str(folder / "x.db"), HOME=str(folder), QT_QPA_PLATFORM="offscreen")
    work = folder / "work.sql"
    work.write_text(WORK)
    for name in ("trained", "new & <odd>"):
        shutil.copy(common.PROGRAMS / "images" / "sqlite3.dynamic", folder / name)
        common.respike_ok("register", folder / name, env=environment)
    for step in (["instrument", "trained"], ["run", "trained", "-batch", ":memory:"], ["optimize", "trained"]):
        common.respike_ok(*step, env=environment, stdin=work)
    for name in ("trained", "new & <odd>"):
        common.respike_ok("report", name, "-o", folder / f"{name}.html", env=environment)
    return folder / "trained.html", folder / "new & <odd>.html"


def main():
    if not CHROMIUM:
        print("SKIPPED: without Chromium")
        return SKIPPED
    with common.Scratch() as scratch:
        trained, new = make_reports(scratch.path)
        profile = scratch.folder()
        with Browser(profile) as browser:
            pictures = check(browser, trained, "report")
            expect(any(title.startswith("Flow graph") for title in pictures), f"no flow graphs among {pictures}")
            check_layout(trained, pictures)
            expect(not check(browser, new, "report-of-nothing"), "pictures of nothing")
    print(f"{len(pictures)} pictures in a report of {trained.name}; screenshots in {SHOTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

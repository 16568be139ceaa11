# SPDX-License-Identifier: Apache-2.0
"""Measures each page at the largest demo (1,000 items, 50 feeds): time, bytes, requests, processor, layout shift,
memory.

    python figures.py .build-release/release/kalends [--radicale PYTHON] [--views 10000]

By HTTP: the time to the first byte and to the last one, and the processor time of the server's process a page. In
Chromium, with nothing cached: requests, bytes, the time until the page is loaded, and the layout shift
(PerformanceObserver). Then so many views of all pages in turn, and the memory of the server before and after them.
Beside it the same of Radicale's own page, where PYTHON has radicale. It ends with 1 when a page takes more than 100
ms or 200 kB, or shifts, or when memory grows.
"""

import argparse
import datetime
import gzip
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from selenium import webdriver

sys.path.insert(0, str(Path(__file__).parent))
import live  # noqa: E402
import walk  # noqa: E402

ITEMS, FEEDS, TRIES = 1000, 50, 20
MOST_MILLISECONDS, MOST_BYTES = 100, 200_000
# Of what 10,000 views may leave behind: allocators keep some pages of memory that they had at their peak.
MOST_GROWTH = 0.05
SHIFTS = """window.shifts = 0; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.shifts += one.value;
}).observe({type: "layout-shift", buffered: true});"""


class Line:
    """One connection to a server, as a browser keeps it open."""

    def __init__(self, port):
        self.port, self.cookie = port, None
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, path, method="GET", body=None, headers=None):
        """The answer's status, its bytes as they came, and the seconds to its first and its last byte."""
        sent = {"Accept": "text/html", "Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-origin", **(headers or {})}
        if self.cookie:
            sent["Cookie"] = self.cookie
        for last in (method != "GET", True):
            try:
                start = time.perf_counter()
                self.line.request(method, path, body, sent)
                answer = self.line.getresponse()
                break
            except ConnectionError:
                # The server has closed a line that stood idle while the browser looked at pages.
                self.line.close()
                if last:
                    raise
        first = time.perf_counter()
        content = answer.read()
        last = time.perf_counter()
        return answer, content, first - start, last - start

    def sign_in(self, link):
        path = "/" + link.split("/", 3)[3]
        answer, content, _, _ = self.ask(path, headers={"Accept-Encoding": "identity"})
        # The token of the form belongs to a cookie of its own.
        if given := answer.getheader("Set-Cookie"):
            self.cookie = given.split(";")[0]
        token = re.search(r'name="token" value="([^"]*)"', content.decode())[1]
        answer, content, _, _ = self.ask(
            path, "POST", f"token={token}", {"Content-Type": "application/x-www-form-urlencoded"})
        given = answer.headers.get_all("Set-Cookie")
        if not given:
            raise RuntimeError(f"the link does not sign in: {answer.status} {content[:300]}")
        self.cookie = given[-1].split(";")[0]


def busy(pid):
    """Seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """The memory of a process in MB."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1000


def fill(server):
    """The largest demo: what `--demo` has, and items and feeds up to the numbers above."""
    key = subprocess.run(
        [server.program, "key", "create", "--name", "figures", "--database", server.database], check=True,
        capture_output=True, text=True).stdout.strip()
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def call(method, path, body=None, user=None):
        line.request(method, path, json.dumps(body) if body is not None else None, {
            "Authorization": f"Bearer {key}", "Content-Type": "application/json",
            **({"Kalends-User": user} if user else {})})
        answer = line.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text) if text else None

    base = f"/v1/circles/{live.CIRCLE}"
    for _ in range(600):
        try:
            if call("GET", f"{base}/feeds", user=live.OWNER)["items"]:
                break
        except RuntimeError:
            pass
        time.sleep(0.2)
    now = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)
    for number in range(ITEMS):
        start = now + datetime.timedelta(days=number % 60 - 30, hours=number % 11 - 5)
        at, end = start.isoformat(), (start + datetime.timedelta(hours=1)).isoformat()
        collection, value = [
            ("tasks", {"title": f"Task {number}", "dueAt": at, "ownerId": live.OWNER, "patientId": "mom"}),
            ("shifts", {"patientId": "dad", "ownerId": "daniel-rivera", "startAt": at, "endAt": end}),
            ("appointments", {"patientId": "mom", "provider": f"Dr. Number {number}", "startAt": at, "endAt": end}),
            ("follow-ups", {"description": f"Ask about {number}", "dueAt": at, "patientId": "dad"}),
        ][number % 4]
        call("PUT", f"{base}/{collection}/figure-{number}", value)
    feeds = call("GET", f"{base}/feeds?limit=100", user=live.OWNER)["items"]
    for number in range(FEEDS - len(feeds)):
        call("POST", f"{base}/feeds", {"label": f"Feed {number}"}, live.OWNER)
    return feeds[0]["id"], call("POST", f"/v1/feeds/{feeds[0]['id']}/reveal", user=live.OWNER)["url"]


def paths(feed, address):
    circle = f"/app/circles/{live.CIRCLE}"
    return {
        "calendar, month": circle, "calendar, week": f"{circle}?view=week", "calendar, agenda": f"{circle}?view=agenda",
        "calendar, search": f"{circle}?q=Task", "item": f"{circle}/tasks/figure-0", "what happened": f"{circle}/activity",
        "health": "/app/health", "calendar sync": f"{circle}/calendar-sync",
        "calendar sync, new feed": f"{circle}/calendar-sync?ask=create&for=home",
        "feed": f"{circle}/feeds/{feed}", "conflicts": f"{circle}/conflicts", "import": f"{circle}/import",
        "subscribed calendars": f"{circle}/subscriptions",
        "office days": "/app/office-days", "connectors": "/app/connectors", "Apple Calendar": "/app/connectors/apple",
        "check a file": "/app/check", "devices": "/app/devices", "account": "/app/account",
        "second factor": "/app/account/second-factor", "calendar apps": "/app/app-passwords",
        "new app password": "/app/app-passwords/new", "a feed's address": "/" + address.split("/", 3)[3],
        "a feed's address, month": "/" + address.split("/", 3)[3] + "?view=month",
    }


def measure(line, path, pid):
    """Milliseconds to the first and the last byte (median and worst), bytes, and milliseconds of processor a page."""
    answer, content, _, _ = line.ask(path)
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")
    raw = len(gzip.decompress(content)) if answer.getheader("Content-Encoding") == "gzip" else len(content)
    before, times = busy(pid), []
    for _ in range(TRIES):
        _, content, first, last = line.ask(path)
        times.append((first * 1000, last * 1000))
    return {
        "first": statistics.median(t[0] for t in times), "last": statistics.median(t[1] for t in times),
        "worst": max(t[1] for t in times), "html": len(content), "raw": raw,
        "cpu": (busy(pid) - before) * 1000 / TRIES}


def chromium(cookie, root):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1440,900"):
        options.add_argument(argument)
    driver = walk.chrome(options)
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SHIFTS})
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    if cookie:
        name, value = cookie.split("=", 1)
        driver.execute_cdp_cmd("Network.setCookie", {"name": name, "value": value, "url": root})
    return driver


def look(driver, address):
    """What a browser with nothing cached has to fetch, how long that takes, and what moves meanwhile."""
    driver.get(address)
    time.sleep(0.7)  # A shift counts up to half a second after what caused it.
    seen = driver.execute_script(
        "const page = performance.getEntriesByType('navigation')[0], rest = performance.getEntriesByType('resource');"
        "return {requests: 1 + rest.length, bytes: page.transferSize + rest.reduce((n, r) => n + r.transferSize, 0),"
        " loaded: page.loadEventEnd - page.startTime, shift: window.shifts}")
    return seen


def radicale(python, folder):
    """Radicale's own page, by the same measures."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    process = subprocess.Popen(
        [python, "-m", "radicale", "--config", "", "--server-hosts", f"127.0.0.1:{port}", "--auth-type", "none",
         "--storage-filesystem-folder", f"{folder}/radicale"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/.web/", timeout=5):
                    break
            except OSError:
                time.sleep(0.1)
        figures = {"Radicale's page": measure(Line(port), "/.web/", process.pid)}
        driver = chromium(None, "")
        try:
            figures["Radicale's page"].update(look(driver, f"http://127.0.0.1:{port}/.web/"))
        finally:
            driver.quit()
        return figures
    finally:
        process.terminate()
        process.wait(30)


def row(name, own):
    return (f"| {name} | {own['first']:.1f} | {own['last']:.1f} | {own['worst']:.1f} | {own['cpu']:.1f} |"
            f" {own['html'] / 1000:.1f} ({own['raw'] / 1000:.0f}) | {own['requests']} | {own['bytes'] / 1000:.0f} |"
            f" {own['loaded']:.0f} | {own['shift']:.3f} |")


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} processors, {model[1] if model else 'unknown'}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--radicale", type=os.path.abspath, help="a Python that has radicale")
    parser.add_argument("--views", type=int, default=10_000)
    parser.add_argument("--ready", type=Path, help="waits for this file to be there before anything is measured")
    arguments = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        server = live.Server(arguments.program, folder)
        try:
            places = paths(*fill(server))
            pid = server.process.pid
            while arguments.ready and not arguments.ready.exists():
                time.sleep(0.2)
            line = Line(server.port)
            line.sign_in(server.link("--user", live.OWNER, "--circle", live.CIRCLE))
            figures = {name: measure(line, path, pid) for name, path in places.items()}
            driver = chromium(line.cookie, server.root)
            try:
                look(driver, server.root + places["account"])
                for name, path in places.items():
                    figures[name].update(look(driver, server.root + path))
            finally:
                driver.quit()
            series = []
            for number in range(arguments.views + 1):
                if number % (arguments.views // 10) == 0:
                    series.append(memory(pid))
                answer, _, _, _ = line.ask(list(places.values())[number % len(places)])
                if answer.status != 200:
                    raise RuntimeError(f"{answer.status} after {number} views")
        finally:
            server.stop()
        if arguments.radicale:
            figures |= radicale(arguments.radicale, folder)
    print(f"{ITEMS} items and more, {FEEDS} feeds; {machine()}\n")
    print("| page | first byte, ms | last byte, ms | slowest of 20, ms | processor, ms | packed (raw), kB | requests |"
          " all bytes, kB | loaded in Chromium, ms | layout shift |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, own in figures.items():
        print(row(name, own))
        if name in places:
            if own["last"] > MOST_MILLISECONDS:
                faults.append(f"{name}: {own['last']:.0f} ms")
            if own["bytes"] > MOST_BYTES:
                faults.append(f"{name}: {own['bytes']} bytes")
            if own["shift"]:
                faults.append(f"{name}: a layout shift of {own['shift']}")
    print(f"\nMemory after each tenth of {arguments.views} views: {', '.join(f'{one:.1f}' for one in series)} MB")
    # The first tenth warms up.
    if series[-1] > series[1] * (1 + MOST_GROWTH):
        faults.append(f"memory grew from {series[1]:.1f} to {series[-1]:.1f} MB")
    for fault in faults:
        print(fault)
    print(f"{len(figures)} pages measured, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

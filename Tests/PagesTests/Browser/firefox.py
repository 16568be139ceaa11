# SPDX-License-Identifier: Apache-2.0
"""Looks at every page in Firefox ESR, and does each page's main job there at a server with the demo, by WebDriver
BiDi.

    python firefox.py FOLDER .build/debug/kalends [--shots FOLDER] [--pages-only] [--jobs-only]

FOLDER is what the tests of the pages write where PAGES_OUT names it, and the jobs are those of live.py. It ends with
1 when a job cannot be done, when the policy stops something, when a page asks another server for something, scrolls
sideways or has a fault that axe-core finds. BiDi cannot drive pages without scripts, nor windows of the system.
"""

import argparse
import functools
import http.server
import os
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bidi  # noqa: E402
import live  # noqa: E402
import walk  # noqa: E402


class Visitor(live.Visitor):
    """The same person, with another browser."""

    def __init__(self, server, dark, shots):
        self.server, self.scripts, self.dark, self.shots = server, True, dark, shots
        self.faults, self.looked, self.secrets = [], 0, set()
        self.driver = bidi.Firefox(dark)
        self.axe = walk.AXE.read_text()


def axe_faults(driver, where):
    driver.execute_script(walk.AXE.read_text() + "\nwindow.axe = axe;")
    found = driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {runOnly: {type: 'tag', values: arguments[0]}})"
        ".then(r => done(r.violations.map(v => `${v.id}: ${v.nodes.map(n => n.html).join(' ; ').slice(0, 300)}`)))",
        walk.TAGS)
    return [f"{where}: {one}" for one in found]


def look_at_pages(folder, shots):
    """Every page in every state: English in the light at two widths, German in the dark at 320 pixels."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(walk.Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    faults, looked, version = [], 0, ""
    try:
        for language, dark, widths in (("en", False, (1440, 768)), ("de", True, (320,))):
            driver = bidi.Firefox(dark, language)
            version = driver.version
            try:
                for file in sorted((folder / language).glob("*.html")):
                    for width in widths:
                        where = f"firefox {language} {'dark' if dark else 'light'} {width} {file.stem}"
                        driver.resize(width, 900)
                        driver.get(f"{root}/{language}/{file.name}")
                        looked += 1
                        # Its scroll bar takes room of its own, which the page has to do without.
                        wide, room = driver.execute_script(
                            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
                        if wide > room:
                            faults.append(f"{where}: {wide} pixels wide in {room}")
                        faults += [f"{where}: {one['message']}" for one in driver.get_log("browser")
                                   if "favicon" not in one["message"]]
                        if width == widths[0]:
                            faults += axe_faults(driver, where)
                        if shots:
                            shots.mkdir(parents=True, exist_ok=True)
                            driver.save_screenshot(
                                shots / f"firefox-{file.stem}-{language}-{'dark' if dark else 'light'}-{width}.png")
                faults += [f"firefox: {url} was asked for" for url in set(driver.requests)
                           if not url.startswith((root, "data:", "about:", "blob:"))]
            finally:
                driver.quit()
    finally:
        server.shutdown()
    print(f"Firefox {version}: {looked} pages looked at, {len(faults)} faults", flush=True)
    return faults, looked


def do_jobs(program, shots):
    faults, looked = [], 0
    with tempfile.TemporaryDirectory() as folder:
        server = live.Server(program, folder)
        me = None
        try:
            for dark in (False, True):
                me = Visitor(server, dark, shots)
                try:
                    for job in live.jobs(folder):
                        job(me)
                except Exception as error:  # What comes next cannot be done either.
                    me.fault(f"{type(error).__name__}: {str(error)[:300]}")
                finally:
                    me.faults += [f"{url} was asked for" for url in set(me.driver.requests)
                                  if url.startswith(("http:", "https:")) and not url.startswith(server.root)]
                    me.driver.quit()
                faults += [f"firefox, {fault}" for fault in me.faults]
                looked += me.looked
                print(f"Firefox, {me.manner}: {me.looked} pages looked at, {len(me.faults)} faults", flush=True)
        finally:
            log = server.stop()
        faults += ["a feed's secret is in the server's log" for secret in (me.secrets if me else ()) if secret in log]
    return faults, looked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--pages-only", action="store_true")
    parser.add_argument("--jobs-only", action="store_true")
    arguments = parser.parse_args()
    faults, looked = [], 0
    if not arguments.jobs_only:
        found, count = look_at_pages(arguments.folder, arguments.shots)
        faults, looked = faults + found, looked + count
    if not arguments.pages_only:
        found, count = do_jobs(arguments.program, arguments.shots)
        faults, looked = faults + found, looked + count
    for fault in faults:
        print(fault)
    print(f"{looked} pages in Firefox, {len(faults)} faults")
    return 1 if faults or not looked else 0


if __name__ == "__main__":
    sys.exit(main())

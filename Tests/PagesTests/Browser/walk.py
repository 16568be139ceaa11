# SPDX-License-Identifier: Apache-2.0
"""Looks at every page in Chromium: axe-core, the policy's reports, sideways scrolling, broken words, weights, and a
picture of each.

    python walk.py FOLDER [--shots FOLDER] [--only NAME] [--quick] [--theme light|dark]

FOLDER is what the tests of the pages write where PAGES_OUT names it. Chromium and its driver come from Debian, selenium
and axe-playwright-python (which carries axe-core) from PyPI. Ends with 1 when a page has a fault.
"""

import argparse
import functools
import gzip
import http.server
import json
import sys
import threading
import time
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
import axe_playwright_python

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
# Seconds that one command may take.
COMMAND = 600
# Words that take two lines without a hyphen, text that is cut off, and buttons of more than two lines. Names of settings
# may break anywhere.
UNFIT = r"""
const found = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const isSeen = (e) => e.checkVisibility({visibilityProperty: true}) && !e.closest(".unseen, svg, select, thead");
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (!isSeen(node.parentElement) || node.parentElement.closest(".mono, code")) continue;
  for (const {0: word, index} of node.data.matchAll(/[\p{L}\p{N}_\u2019]{3,}/gu)) {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
    if (lines.size > 1 && !word.includes("_"))
      found.add(`the word ${word} is broken`);
  }
}
for (const e of document.querySelectorAll("main *")) {
  const style = getComputedStyle(e);
  if (!isSeen(e) || !e.clientWidth || e.matches("input, textarea, bdi, .bar, .bar *")) continue;
  if (style.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1)
    found.add(`cut off: ${e.textContent.trim().slice(0, 60)}`);
  const inner = e.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  if (e.matches(".button") && e.textContent.trim().length < 60 && inner > 2.5 * parseFloat(style.lineHeight))
    found.add(`a tall button: ${e.textContent.trim()}`);
}
return [...found];
"""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# The rules about colours: a page has the same elements in both themes.
COLOURS = ["color-contrast", "link-in-text-block"]


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".css": "text/css", ".js": "text/javascript", ".html": "text/html; charset=utf-8"}

    def do_GET(self):
        if not self.path.endswith("/progress"):
            return super().do_GET()
        body = b'{"progress": 0.4, "text": "40 %", "done": false}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self):
        policy = Path(self.translate_path(self.path)).with_suffix(".policy")
        if self.path.endswith(".html") and policy.exists():
            self.send_header("Content-Security-Policy", policy.read_text() + "; frame-ancestors 'none'")
        super().end_headers()

    def log_message(self, *_):
        pass


def chrome(options):
    """Chromium with its driver. A busy machine may need several minutes for a start, or for one command: as long as
    something comes, nothing is given up, and no command waits for ever."""
    for last in (False, False, True):
        try:
            driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
            break
        except (WebDriverException, OSError) as error:
            if last:
                raise
            print(f"Chromium did not start, and is started again: {str(error).splitlines()[0]}", file=sys.stderr)
            time.sleep(10)
    driver.command_executor.client_config.timeout = COMMAND
    driver.set_page_load_timeout(COMMAND - 60)
    driver.set_script_timeout(COMMAND - 60)
    return driver


def browser(dark):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = chrome(options)
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    return driver


def resize(driver, width, height=900, scale=1):
    if not isinstance(driver, webdriver.Chrome):
        return driver.resize(width, height)
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true", help="English at 1,440 pixels; in the dark theme axe looks at colours only")
    parser.add_argument("--theme", choices=["light", "dark"])
    arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(arguments.folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    axe = AXE.read_text()
    faults, looked = [], 0
    languages = ["en"] if arguments.quick else sorted(
        f.name for f in arguments.folder.iterdir() if any(f.glob("*.html")))
    assets = sum(len(gzip.compress(f.read_bytes())) for f in (arguments.folder / "app").rglob("*") if f.is_file())
    heaviest = (0, "")
    for dark in (False, True):
        if arguments.theme and arguments.theme != ("dark" if dark else "light"):
            continue
        driver = browser(dark)
        theme = "dark" if dark else "light"
        for language in languages:
            for file in sorted((arguments.folder / language).glob("*.html")):
                name = file.stem
                if arguments.only and arguments.only not in name:
                    continue
                packed = len(gzip.compress(file.read_bytes()))
                heaviest = max(heaviest, (packed, name))
                if packed > 100_000 or packed + assets > 200_000:
                    faults.append(f"{language} {name}: {packed} bytes packed, {assets} of assets")
                for width in (1440,) if arguments.quick else (320, 768, 1440):
                    resize(driver, width)
                    driver.get(f"{root}/{language}/{name}.html")
                    looked += 1
                    where = f"{language} {theme} {width} {name}"
                    wide = driver.execute_script("return document.documentElement.scrollWidth")
                    if wide > width:
                        faults.append(f"{where}: {wide} pixels wide")
                    if width == 320:
                        faults += [f"{where}: {one}" for one in driver.execute_script(UNFIT)]
                    if driver.execute_script("return window.hacked"):
                        faults.append(f"{where}: a script of a name has run")
                    for entry in driver.get_log("browser"):
                        if "favicon" not in entry["message"]:
                            faults.append(f"{where}: {entry['message']}")
                    if width != 768:
                        # The policy keeps scripts of others out, so that axe comes by way of the driver.
                        driver.execute_script(axe + "\nwindow.axe = axe;")
                        asked = COLOURS if dark and arguments.quick else TAGS
                        result = driver.execute_async_script(
                            "const done = arguments[arguments.length - 1];"
                            "axe.run(document, {runOnly: arguments[0]}).then(done)", asked)
                        for violation in result["violations"]:
                            nodes = "; ".join(n["html"][:160] + " | " + " ".join(
                                c["message"] for c in n["any"])[:200] for n in violation["nodes"][:3])
                            faults.append(f"{where}: {violation['id']} ({len(violation['nodes'])}): {nodes}")
                    if width == 768:
                        # Text at 200 %, with half the room.
                        resize(driver, 640)
                        wide = driver.execute_script(
                            "const sheet = new CSSStyleSheet();"
                            "sheet.replaceSync('html { font-size: 200% }'); document.adoptedStyleSheets = [sheet];"
                            "return document.documentElement.scrollWidth")
                        if wide > 640:
                            faults.append(f"{where}: {wide} pixels wide with text at 200 % in 640")
                    if arguments.shots:
                        resize(driver, width)
                        driver.execute_script("document.adoptedStyleSheets = []")
                        height = min(6000, driver.execute_script("return document.documentElement.scrollHeight"))
                        resize(driver, width, height)
                        arguments.shots.mkdir(parents=True, exist_ok=True)
                        driver.save_screenshot(str(arguments.shots / f"{name}-{language}-{theme}-{width}.png"))
        driver.quit()
    server.shutdown()
    for fault in faults:
        print(fault, flush=True)
    print(json.dumps({
        "looked": looked, "faults": len(faults), "heaviestPackedPage": heaviest, "packedAssets": assets}))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

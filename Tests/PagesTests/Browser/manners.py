# SPDX-License-Identifier: Apache-2.0
"""Every page by the keyboard alone, in forced colours and without scripts, in Chromium and in Firefox.

    python manners.py FOLDER [--only NAME] [--shots FOLDER] [--browser chromium|firefox]

FOLDER is what the tests of the pages write where PAGES_OUT names it. The keyboard: Tab comes to each control once, in
the order of the page and of its lines, and back by Shift; the first stop leads to the content; each stop is seen, with
a ring that has contrast and that nothing cuts off or covers; questions and folded parts open, and let the focus go.
Forced colours: what can be pressed and what is set apart keeps an edge, and each line of a picture its contrast.
Without scripts: nothing is offered that only a script does. It ends with 1 when a page has a fault.
"""

import argparse
import functools
import http.server
import sys
import threading
import time
from pathlib import Path

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, str(Path(__file__).parent))
import bidi  # noqa: E402
import walk  # noqa: E402

# Wide as a desktop, and as narrow as a phone or a desktop at 400 %, where all places are in a menu.
WIDTHS = (1280, 320)
# The maximum number of presses of Tab on a page. A field of a date takes several.
MOST = 1200

# What the looks below have in common. It is installed once a page, and notes where the focus goes.
TOOLS = r"""
const isThere = (e) => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
const name = (e) => e === document.body || !e ? "the page" : e.cloneNode(false).outerHTML.slice(0, 100)
  + (e.textContent ?? "").trim().replace(/\s+/g, " ").slice(0, 40);
const isSeen = (e) => isThere(e) && e.getBoundingClientRect().width > 1 && e.getBoundingClientRect().height > 1;
const stops = () => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable], iframe")]
  .filter((e) => e.tabIndex >= 0 && !e.matches(":disabled, [type=hidden]") && isThere(e) && !e.closest("[inert]"))
  // Of a row of round buttons, Tab comes to the one that is on, or else to the first.
  .filter((e) => e.type !== "radio" || e.checked || !document.querySelector(
    `input[type=radio][name="${CSS.escape(e.name)}"]:checked`) && e === document.querySelector(
    `input[type=radio][name="${CSS.escape(e.name)}"]`));
const numbers = (colour) => { const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
const light = (colour) => numbers(colour).slice(0, 3).map((v) => v / 255)
  .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (one, other) => {
  const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
};
const ground = (e) => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (numbers(colour)[3] > 0.99) return colour;
  }
  return "rgb(255, 255, 255)";
};
"""
INSTALL = TOOLS + r"""
window.went = [];
document.addEventListener("focusin", (event) => window.went.push(event.target), true);
"""
# What Tab has come to, as places in the list of what it should come to. An element that comes again ends the list.
WENT = TOOLS + r"""
const wanted = stops(), seen = new Set(), order = [];
let hasEnded = false;
for (const e of window.went) {
  if (seen.has(e) && e === order.at(-1)) continue;
  if (hasEnded = seen.has(e)) break;
  seen.add(e); order.push(e);
}
return {wanted: wanted.length, came: order.length, hasEnded,
  missed: wanted.filter((e) => !seen.has(e)).map(name), more: order.filter((e) => !wanted.includes(e)).map(name),
  turned: order.filter((e, i) => i && wanted.indexOf(e) >= 0 && wanted.indexOf(e) < wanted.indexOf(order[i - 1])).map(name)};
"""
# Each stop in turn: where it is, whether its ring is there, and whether something cuts off or covers it.
RINGS = TOOLS + r"""
const faults = [], list = stops();
let before = null;
for (const e of list) {
  e.focus();
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  const ring = parseFloat(style.outlineWidth), reach = ring + Math.max(0, parseFloat(style.outlineOffset));
  if (document.activeElement !== e) faults.push(`${name(e)} takes no focus`);
  if (!isSeen(e)) faults.push(`${name(e)} cannot be seen`);
  else if (style.outlineStyle === "none" || ring < 2) faults.push(`the focus on ${name(e)} cannot be seen`);
  else if (style.outlineStyle !== "auto" && contrast(style.outlineColor, ground(e.parentElement)) < 3)
    faults.push(`the ring of ${name(e)} has no contrast: ${style.outlineColor} on ${ground(e.parentElement)}`);
  for (let a = e.parentElement; a && a !== document.documentElement; a = a.parentElement) {
    const own = getComputedStyle(a);
    if (own.overflowX === "visible" || getComputedStyle(e).position === "absolute") continue;
    const edge = a.getBoundingClientRect(), room = (own.overflowX === "clip" ? parseFloat(own.overflowClipMargin) || 0 : 0) + 1;
    if (box.left - reach < edge.left - room || box.right + reach > edge.right + room
        || box.top - reach < edge.top - room || box.bottom + reach > edge.bottom + room)
      faults.push(`the ring of ${name(e)} is cut off by ${name(a)}`);
  }
  const over = [[0.5, 0.5], [0.1, 0.2], [0.9, 0.8]].map(([x, y]) => document.elementFromPoint(
    Math.min(innerWidth - 1, Math.max(0, box.left + x * box.width)), box.top + y * box.height));
  if (isSeen(e) && !over.some((o) => o && (e.contains(o) || o.contains(e)
      || e.labels && [...e.labels].some((l) => l.contains(o)))))
    faults.push(`${name(e)} is covered by ${name(over[0])}`);
  if (e.closest(".bottom")) continue;  // It is where the window ends, wherever the page is.
  const place = {top: box.top + scrollY, bottom: box.bottom + scrollY, left: box.left, right: box.right, e};
  // Back up only to what is further right: the top of the next column.
  if (before && isSeen(e) && place.bottom <= before.top + 1 && place.left < before.right - 1)
    faults.push(`from ${name(before.e)} the focus jumps back up to ${name(e)}`);
  if (isSeen(e)) before = place;
}
return faults;
"""
OPEN_ALL = """for (const e of document.querySelectorAll("details")) e.open = true; scrollTo(0, 0);
document.activeElement.blur(); window.went = [];"""
# In forced colours the browser takes grounds, shadows and colours of text away: what remains are edges and lines.
FORCED = TOOLS + r"""
const faults = [];
if (!matchMedia("(forced-colors: active)").matches) return ["the colours are not forced"];
const edges = (s) => ["Top", "Right", "Bottom", "Left"].filter((side) => parseFloat(s[`border${side}Width`]) >= 1
  && !["none", "hidden"].includes(s[`border${side}Style`])).length;
for (const e of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
  if (!isSeen(e) || e.type === "checkbox" || e.type === "radio" || e.type === "file" || e.type === "hidden") continue;
  const style = getComputedStyle(e);
  // A link among others is known by its list, a folded part by its mark.
  if (edges(style) || style.textDecorationLine.includes("underline") || e.matches("summary, nav a, .brand")) continue;
  faults.push(`nothing shows that ${name(e)} can be pressed`);
}
for (const e of document.querySelectorAll(".alert, .toast, .badge, .card, .chip, .dialog, .empty, .count, .sees"))
  if (isSeen(e) && !edges(getComputedStyle(e)) && !e.matches(".card .empty")) faults.push(`nothing sets ${name(e)} apart`);
for (const e of document.querySelectorAll("[aria-current]")) {
  if (!isSeen(e)) continue;
  const other = [...e.closest("ul, ol, nav, table, div").querySelectorAll(e.localName)].find((o) => o !== e && isSeen(o)
    && !o.hasAttribute("aria-current"));
  const mark = (o) => [o, ...o.querySelectorAll(".step-number")].map((part) => { const s = getComputedStyle(part); return [s.color,
    s.backgroundColor, s.borderBottomColor, s.outlineStyle, s.borderBottomWidth, s.borderTopWidth, s.textDecorationLine]; }).join();
  if (other && mark(e) === mark(other)) faults.push(`nothing but its weight shows that one is at ${name(e)}`);
}
for (const e of document.querySelectorAll("svg *")) {
  if (!isSeen(e) || e.closest(".qr, .grid") || e.matches(".grid, g, title, text, .qr-light")) continue;
  const style = getComputedStyle(e), under = ground(e.closest("svg").parentElement);
  const inks = [style.fill, style.stroke].filter((ink) => ink.startsWith("rgb") && numbers(ink)[3] > 0);
  if (!inks.some((ink) => contrast(ink, under) >= 3))
    faults.push(`${name(e)} of ${name(e.closest("svg").parentElement)} has no contrast: ${inks} on ${under}`);
}
return [...new Set(faults)];
"""
WITHOUT = TOOLS + r"""
const faults = [];
for (const e of document.querySelectorAll("button")) {
  if (!isSeen(e)) continue;
  if (e.type !== "submit" || !e.form && !e.hasAttribute("popovertarget")) faults.push(`${name(e)} does nothing`);
}
for (const e of document.querySelectorAll("a")) {
  const to = e.getAttribute("href") ?? "";
  if (isSeen(e) && (to === "" || to === "#" || to.startsWith("javascript:"))) faults.push(`${name(e)} leads nowhere`);
  if (to.startsWith("#") && !document.getElementById(to.slice(1))) faults.push(`${name(e)} leads to nothing on the page`);
  // The question that a script would open is a page of its own.
  if (isSeen(e) && e.dataset.dialog && !/[?&]ask=/.test(to)) faults.push(`${name(e)} asks nothing`);
}
for (const e of document.forms) {
  const open = (e.closest("dialog:not([open])"));
  if (!open && !e.querySelector("button[type=submit], input[type=submit]")
      && !(e.id && document.querySelector(`button[form="${e.id}"]`))) faults.push(`${name(e)} cannot be sent`);
}
for (const e of document.querySelectorAll("dialog[open]")) if (!isSeen(e)) faults.push(`${name(e)} is open and cannot be seen`);
const waits = document.querySelector("[data-progress]");
if (waits && !document.querySelector("meta[http-equiv=refresh]")) faults.push("the page of work under way stays as it is");
return faults;
"""


def press(driver, *keys, shift=False):
    """Presses keys one after the other, in the browser that it is."""
    if isinstance(driver, bidi.Firefox):
        around = [[{"type": kind, "value": Keys.SHIFT}] if shift else [] for kind in ("keyDown", "keyUp")]
        actions = around[0] + [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")] + around[1]
        driver.command("input.performActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])
        return
    chain = ActionChains(driver, duration=0)
    if shift:
        chain.key_down(Keys.SHIFT)
    chain.send_keys(*keys)
    if shift:
        chain.key_up(Keys.SHIFT)
    chain.perform()


def refocused(driver):
    """Opens the page again, in a window of its own, if keys have left it for the window's own buttons."""
    if not driver.execute_script("return document.hasFocus()"):
        driver.get(driver.current_url)
        driver.execute_script(INSTALL)


def tabbed(driver, shift=False):
    """What Tab comes to, until it comes back to where it began or leaves the page."""
    found, pressed, more = driver.execute_script(WENT), 0, 0
    while pressed < MOST:
        more = max(10, found["wanted"] - found["came"] + 2)
        press(driver, *[Keys.TAB] * more, shift=shift)
        pressed += more
        before, found = found, driver.execute_script(WENT)
        if found["hasEnded"] or found["came"] == before["came"]:
            break
    return found


def by_keyboard(driver, where, has_room):
    """The faults of a page that is open, for somebody who has no mouse, with everything unfolded."""
    faults = []
    driver.execute_script(INSTALL)
    if not driver.execute_script("return document.activeElement !== document.body"):
        press(driver, Keys.TAB)
        first = driver.execute_script("return document.activeElement.className")
        if first != "skip":
            faults.append(f"{where}: the first stop is {first!r}, not the link to the content")
        else:
            press(driver, Keys.ENTER)
            if not driver.execute_script("return document.activeElement.id === 'main'"):
                faults.append(f"{where}: the first stop does not lead to the content")
    for shift in (False, True) if has_room else (False,):
        refocused(driver)
        driver.execute_script(OPEN_ALL)
        # Firefox leaves the page at its end, and Chromium begins it again.
        driver.execute_script(TOOLS + "stops().at(arguments[0]).focus(); window.went = [document.activeElement]", -1 if shift else 0)
        found = tabbed(driver, shift)
        way = "back, " if shift else ""
        faults += [f"{where}: {way}Tab does not come to {one}" for one in found["missed"]]
        faults += [f"{where}: {way}Tab comes to {one}, which does nothing" for one in found["more"]]
        if not shift:
            faults += [f"{where}: Tab comes to {one} too late" for one in found["turned"]]
    refocused(driver)
    driver.execute_script(OPEN_ALL)
    faults += [f"{where}: {one}" for one in driver.execute_script(RINGS)]
    return faults


def questions(driver, where):
    """Each question opens by Enter, keeps the focus, and gives it back."""
    faults = []
    for number in range(driver.execute_script("return document.querySelectorAll('[data-dialog]').length")):
        opener = f"document.querySelectorAll('[data-dialog]')[{number}]"
        refocused(driver)
        if not driver.execute_script(TOOLS + f"return isSeen({opener})"):
            continue
        driver.execute_script(f"{opener}.focus()")
        press(driver, Keys.ENTER)
        what = driver.execute_script(f"return {opener}?.dataset.dialog ?? ''")
        open_one = f"document.getElementById('{what}')"
        for _ in range(100):
            if driver.execute_script(f"return Boolean({open_one}?.matches(':modal'))"):
                break
            time.sleep(0.05)
        else:
            faults.append(f"{where}: the question {what} does not open")
            continue
        if not driver.execute_script(f"return {open_one}.contains(document.activeElement)"):
            faults.append(f"{where}: the focus is not in the question {what}")
        if driver.execute_script("return document.activeElement.matches('.danger')"):
            faults.append(f"{where}: Enter alone does what {what} asks")
        for _ in range(12):
            press(driver, Keys.TAB)
            if not driver.execute_script(
                    f"const e = document.activeElement; return e === document.body || {open_one}.contains(e)"):
                faults.append(f"{where}: the focus leaves the question {what}")
                break
        press(driver, Keys.ESCAPE)
        for _ in range(100):
            if not driver.execute_script(f"return {open_one}.open"):
                break
            time.sleep(0.05)
        else:
            faults.append(f"{where}: Escape does not close the question {what}")
        if not driver.execute_script(f"return document.activeElement === {opener}"):
            faults.append(f"{where}: the focus does not come back from the question {what}")
    return faults


def folds(driver, where):
    """Each folded part opens and closes by Enter and by the space bar."""
    faults = []
    for number in range(driver.execute_script("return document.querySelectorAll('details > summary').length")):
        summary = f"document.querySelectorAll('details > summary')[{number}]"
        refocused(driver)
        if not driver.execute_script(TOOLS + f"return isSeen({summary})"):
            continue
        was = driver.execute_script(f"{summary}.focus(); return {summary}.parentElement.open")
        for key in (Keys.ENTER, Keys.SPACE):
            press(driver, key)
            now = driver.execute_script(f"return {summary}.parentElement.open")
            if now == was:
                faults.append(f"{where}: a key does not fold {driver.execute_script(f'return {summary}.textContent')!r}")
            was = now
    return faults


def chromium(dark, forced=False, scripts=True):
    driver = walk.browser(dark)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
        {"name": "forced-colors", "value": "active" if forced else "none"}]})
    if not scripts:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    return driver


def firefox(dark, forced=False):
    return bidi.Firefox(dark, more={"browser.display.document_color_use": 2} if forced else None)


def look(open_browser, label, root, files, shots):
    """All pages in one browser, in each manner."""
    faults, looked = [], 0
    for manner, options, widths in (
            ("light, forced", {"dark": False, "forced": True}, (1280,)),
            ("dark, forced", {"dark": True, "forced": True}, (320,)),
            ("without scripts", {"dark": False, "scripts": False}, WIDTHS), ("dark, keyboard", {"dark": True}, (1280,)),
            ("light, keyboard", {"dark": False}, WIDTHS)):
        if manner == "without scripts" and open_browser is firefox:
            continue  # BiDi cannot drive pages without scripts.
        driver, before = open_browser(**options), len(faults)
        try:
            for file in files:
                for width in widths:
                    where = f"{label}, {manner}, {width}, {file.stem}"
                    walk.resize(driver, width, 600)
                    driver.get(f"{root}/{file.parent.name}/{file.name}")
                    looked += 1
                    if options.get("forced"):
                        found = [*driver.execute_script(FORCED), *driver.execute_script(RINGS)]
                        faults += [f"{where}: {one}" for one in found]
                    elif manner == "without scripts":
                        faults += [f"{where}: {one}" for one in driver.execute_script(WITHOUT)]
                    elif options["dark"]:
                        faults += [f"{where}: {one}" for one in driver.execute_script(RINGS)]
                    else:
                        faults += questions(driver, where) + folds(driver, where)
                        driver.get(f"{root}/{file.parent.name}/{file.name}")
                        faults += by_keyboard(driver, where, width == WIDTHS[0])
                    if shots and "keyboard" not in manner:
                        driver.execute_script("scrollTo(0, 0)")
                        shots.mkdir(parents=True, exist_ok=True)
                        driver.save_screenshot(str(shots / f"{label}-{file.stem}-{manner.replace(', ', '-')}-{width}.png"))
        finally:
            driver.quit()
        print(f"{label}, {manner}: {len(faults) - before} faults", flush=True)
        # What is on every page is said once.
        places = {}
        for fault in faults[before:]:
            page, what = fault.removeprefix(f"{label}, {manner}, ").split(": ", 1)
            places.setdefault(what, []).append(page)
        for what, found in places.items():
            print(f"  {found[0]}{f' and {len(found) - 1} more' if found[1:] else ''}: {what}", flush=True)
    return faults, looked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--browser", choices=["chromium", "firefox"])
    arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(walk.Handler, directory=str(arguments.folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    files = [file for file in sorted((arguments.folder / "en").glob("*.html")) if arguments.only in file.stem]
    faults, looked = [], 0
    for open_browser in (chromium, firefox):
        if arguments.browser in (None, open_browser.__name__):
            found, count = look(open_browser, open_browser.__name__, root, files, arguments.shots)
            faults, looked = faults + found, looked + count
    server.shutdown()
    print(f"{looked} pages by keyboard, in forced colours and without scripts, {len(faults)} faults")
    return 1 if faults or not looked else 0


if __name__ == "__main__":
    sys.exit(main())

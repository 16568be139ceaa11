# SPDX-License-Identifier: Apache-2.0
"""Firefox by WebDriver BiDi, which it speaks by itself: no driver program is between.

`Firefox` has the few members of Selenium's driver that the walks here use, so that the same jobs are done in both
browsers; websocket-client carries the messages. Mouse and keyboard are the browser's own (input.performActions).
"""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import websocket
from selenium.common.exceptions import (
    NoSuchElementException, StaleElementReferenceException, TimeoutException, WebDriverException)
from selenium.webdriver.common.by import By

START, ANSWER = 180, 180
# What the policy of a page stops is reported by an event of the page, which this script hands on.
REPORTS = """(send) => document.addEventListener("securitypolicyviolation", (event) =>
  send(`${location.href}: ${event.violatedDirective} stopped ${event.blockedURI || event.sample}`))"""


BEGIN = ["browsingContext.navigationStarted"]
END = [f"browsingContext.{how}" for how in ("load", "navigationFailed")]


class Element:
    def __init__(self, browser, shared):
        self.browser, self.id = browser, shared

    def call(self, function, *arguments):
        return self.browser.call(function, self, *arguments)

    @property
    def text(self):
        return (self.call("e => e.innerText ?? e.textContent") or "").strip()

    def get_attribute(self, name):
        value = self.call("(e, n) => { const v = typeof e[n] === 'object' || typeof e[n] === 'function' || e[n] === "
                          "undefined ? e.getAttribute(n) : e[n]; return v === null ? null : String(v) }", name)
        return None if value == "false" else value

    def is_selected(self):
        return self.call("e => Boolean(e.checked ?? e.selected)")

    def is_displayed(self):
        return self.call("e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0")

    def find_element(self, by, value):
        found = self.find_elements(by, value)
        if not found:
            raise NoSuchElementException(value)
        return found[0]

    def find_elements(self, by, value):
        return self.browser.find_elements(by, value, self)

    def clear(self):
        self.call("e => { e.focus(); e.value = ''; e.dispatchEvent(new Event('input', {bubbles: true})) }")

    def send_keys(self, *texts):
        text = "".join(texts)
        if self.call("e => e.type === 'file'"):
            self.browser.command("input.setFiles", element={"sharedId": self.id}, files=[text])
            return
        self.call("e => e.focus()")
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.browser.command("input.performActions", actions=[{"type": "key", "id": "keyboard", "actions": keys}])
        self.browser.settle()

    def click(self):
        if self.call("e => e instanceof HTMLOptionElement"):
            # The list of a <select> is a window of the system's, which nothing drives.
            self.call("e => { const s = e.closest('select'); s.value = e.value;"
                      " s.dispatchEvent(new Event('change', {bubbles: true})) }")
            return
        self.call("e => e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'})")
        origin = {"type": "element", "element": {"sharedId": self.id}}
        self.browser.command("input.performActions", actions=[{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
                {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])
        self.browser.settle()


class Firefox:
    def __init__(self, dark=False, language="en", program="firefox-esr", more=None):
        self.profile = tempfile.mkdtemp(prefix="kalends-firefox-")
        preferences = {
            "layout.css.prefers-color-scheme.content-override": 0 if dark else 1,
            "intl.accept_languages": language, "remote.active-protocols": 1,
            # Without it, and a window of our own, nothing has the focus: keys reach a button and do not press it.
            "focusmanager.testmode": True,
            "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False,
            "app.update.enabled": False, "browser.shell.checkDefaultBrowser": False,
            "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
            "browser.safebrowsing.downloads.remote.enabled": False, "services.settings.server": "data:,",
            "extensions.update.enabled": False, **(more or {}),
        }
        Path(self.profile, "user.js").write_text(
            "".join(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in preferences.items()))
        self.log = open(Path(self.profile, "log"), "w+")
        self.process = subprocess.Popen(
            [program, "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0",
             "about:blank"],
            stdout=self.log, stderr=self.log, start_new_session=True,
            env={**os.environ, "MOZ_HEADLESS": "1", "HOME": self.profile, "MOZ_CRASHREPORTER_DISABLE": "1"})
        self.number, self.entries, self.reports, self.requests = 0, [], [], []
        self.context, self.is_loading, self.size = None, False, None
        try:
            address = self.address()
            # Firefox takes no connection that names an origin.
            self.socket = websocket.create_connection(f"{address}/session", timeout=ANSWER, suppress_origin=True)
            self.version = self.send("session.new", capabilities={})["capabilities"]["browserVersion"]
            self.context = self.send("browsingContext.create", type="window")["context"]
            self.send("session.subscribe", events=[
                "log.entryAdded", "script.message", "network.beforeRequestSent", *BEGIN, *END])
            self.send("script.addPreloadScript", functionDeclaration=REPORTS,
                      arguments=[{"type": "channel", "value": {"channel": "policy"}}])
        except Exception:
            self.quit()
            raise

    def address(self):
        end = time.monotonic() + START
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(r"BiDi listening on (ws://\S+)", self.said()):
                return found[1]
            time.sleep(0.2)
        raise WebDriverException(f"Firefox does not start: {self.said()[-2000:]}")

    def said(self):
        return Path(self.profile, "log").read_text(errors="replace")

    def send(self, method, **parameters):
        """A command's result; events that come meanwhile are kept."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            try:
                message = json.loads(self.socket.recv())
            except websocket.WebSocketTimeoutException as error:
                raise TimeoutException(f"{method} was not answered within {ANSWER} s") from error
            if message.get("type") == "event":
                self.note(message["method"], message["params"])
            elif message.get("id") == self.number:
                if message["type"] == "success":
                    return message["result"]
                kind = message["error"]
                known = {"no such node": StaleElementReferenceException, "no such element": NoSuchElementException}
                raise known.get(kind, WebDriverException)(f"{method}: {kind}: {message['message']}")

    def note(self, event, facts):
        if event == "log.entryAdded" and facts["level"] in ("error", "warn"):
            self.entries.append({"message": f"{facts['level']}: {facts['text']}"})
        elif event in BEGIN or event in END:
            if facts["context"] == self.context:
                self.is_loading = event in BEGIN
        elif event == "script.message":
            self.reports.append(facts["data"].get("value", ""))
        elif event == "network.beforeRequestSent":
            self.requests.append(facts["request"]["url"])

    def settle(self):
        """Waits for the page that a press leads to; the answer to the press comes before anything follows from it."""
        begin = time.monotonic()
        while time.monotonic() - begin < (ANSWER if self.is_loading else 0.3):
            self.send("browsingContext.getTree", maxDepth=0)
            time.sleep(0.05)

    def command(self, method, **parameters):
        return self.send(method, context=self.context, **parameters)

    # Scripts

    def call(self, function, *arguments):
        """What a function of the page gives; a page that is just being left is waited for."""
        for last in (False,) * 20 + (True,):
            try:
                answer = self.send(
                    "script.callFunction", functionDeclaration=function, target={"context": self.context},
                    awaitPromise=True, arguments=[self.argument(value) for value in arguments],
                    serializationOptions={"maxDomDepth": 0, "maxObjectDepth": 12})
                break
            except StaleElementReferenceException:
                raise
            except WebDriverException:
                if last or any(isinstance(value, Element) for value in arguments):
                    raise
                time.sleep(0.25)
        if answer["type"] == "exception":
            raise WebDriverException(answer["exceptionDetails"]["text"])
        return self.value(answer["result"])

    def argument(self, value):
        if isinstance(value, Element):
            return {"sharedId": value.id}
        if value is None:
            return {"type": "null"}
        if isinstance(value, bool):
            return {"type": "boolean", "value": value}
        if isinstance(value, (int, float)):
            return {"type": "number", "value": value}
        if isinstance(value, (list, tuple)):
            return {"type": "array", "value": [self.argument(one) for one in value]}
        return {"type": "string", "value": str(value)}

    def value(self, given):
        kind = given["type"]
        if kind == "node":
            return Element(self, given["sharedId"])
        if kind in ("array", "nodelist", "htmlcollection"):
            return [self.value(one) for one in given.get("value", [])]
        if kind == "object":
            return {key: self.value(own) for key, own in given.get("value", [])}
        return given.get("value")

    def execute_script(self, script, *arguments):
        return self.call(f"function() {{ {script} }}", *arguments)

    def execute_async_script(self, script, *arguments):
        return self.call(
            f"function(...given) {{ return new Promise((done) => (function() {{ {script} }})"
            ".call(null, ...given, done)) }", *arguments)

    # What Selenium's driver has

    def get(self, address):
        if not self.call("() => document.hasFocus()"):
            self.renew()
        for last in (False, False, True):
            try:
                self.command("browsingContext.navigate", url=address, wait="complete")
                return
            except WebDriverException as error:
                # A page that loads itself again cuts the navigation off.
                if last or "abort" not in str(error).lower():
                    raise
                time.sleep(0.5)

    def renew(self):
        """Goes on in another window: keys that have left a page go to the window's own buttons, and no page gets the
        focus back."""
        old, self.context = self.context, self.send("browsingContext.create", type="window")["context"]
        self.send("browsingContext.close", context=old)
        if self.size:
            self.resize(*self.size)

    @property
    def current_url(self):
        return self.call("() => location.href")

    @property
    def title(self):
        return self.call("() => document.title")

    def find_elements(self, by, value, start=None):
        if by == By.XPATH:
            return self.call(
                "(path, from) => { const found = document.evaluate(path, from ?? document, null, 7, null);"
                " return Array.from({length: found.snapshotLength}, (_, i) => found.snapshotItem(i)) }", value, start)
        if by == By.LINK_TEXT:
            return self.call("(text, from) => [...(from ?? document).querySelectorAll('a')]"
                             ".filter(a => a.innerText.trim() === text)", value, start)
        selector = f"#{value}" if by == By.ID else f"[name='{value}']" if by == By.NAME else value
        return self.call("(css, from) => [...(from ?? document).querySelectorAll(css)]", selector, start)

    def find_element(self, by, value):
        found = self.find_elements(by, value)
        if not found:
            raise NoSuchElementException(value)
        return found[0]

    def get_log(self, _):
        taken, self.entries = self.entries + [{"message": f"policy: {one}"} for one in self.reports], []
        self.reports = []
        return taken

    def resize(self, width, height):
        self.size = (width, height)
        self.command("browsingContext.setViewport", viewport={"width": width, "height": height})

    def save_screenshot(self, path):
        Path(path).write_bytes(base64.b64decode(self.command("browsingContext.captureScreenshot")["data"]))

    def quit(self):
        try:
            if hasattr(self, "socket"):
                self.send("browser.close")
        except (OSError, WebDriverException, websocket.WebSocketException):
            pass
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

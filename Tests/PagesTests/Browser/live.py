# SPDX-License-Identifier: Apache-2.0
"""Does each page's main job at a server with the demo, as a person in Chromium does it: with scripts and without.

    python live.py .build/debug/kalends [--shots FOLDER]

Every page that is opened is also looked at: axe-core at WCAG 2.2 AA, what the policy stopped, sideways scrolling at 320
pixels, secrets in its address and title. Ends with 1 when something is wrong.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, str(Path(__file__).parent))
import walk  # noqa: E402

# Seconds that the server may take to start, and a page to come: a busy machine is slow, and not at fault.
START = WAIT = 300
CIRCLE, OWNER, PASSWORD = "rivera-family", "maria-rivera", "correct horse battery staple"
CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Club//EN\r\n"
    + "".join(
        f"BEGIN:VEVENT\r\nUID:match-{day}@club.example\r\nDTSTAMP:20260101T000000Z\r\n"
        f"DTSTART:203001{day:02}T150000Z\r\nDTEND:203001{day:02}T170000Z\r\nSUMMARY:{what} {day}\r\nEND:VEVENT\r\n"
        for day, what in ((4, "Match"), (6, "Training"), (11, "Match")))
    + "END:VCALENDAR\r\n")


class Server:
    def __init__(self, program, folder):
        self.program, self.database = program, f"{folder}/kalends.sqlite"
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        self.root = f"http://localhost:{self.port}"
        self.log = open(f"{folder}/log", "w+")
        self.process = subprocess.Popen(
            [program, "serve", "--demo", "--database", self.database, "--port", str(self.port), "--log-level", "notice"],
            stdout=self.log, stderr=self.log, cwd=folder)
        end = time.monotonic() + START
        while self.status("/healthz") != 200:
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                raise RuntimeError(f"the server does not start: {self.log.read()[-2000:]}")
            time.sleep(0.1)
        subprocess.run(
            [program, "user", "set-password", "--database", self.database, OWNER], input=PASSWORD, text=True, check=True,
            capture_output=True)

    def status(self, path):
        try:
            with urllib.request.urlopen(self.root + path if path.startswith("/") else path, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def link(self, *who):
        return subprocess.run(
            [self.program, "open", "--database", self.database, *who], check=True, capture_output=True, text=True
        ).stdout.strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.log.seek(0)
        return self.log.read()


class Visitor:
    """A person with a browser, who looks at every page that they come to."""

    def __init__(self, server, scripts, dark, shots):
        self.server, self.scripts, self.dark, self.shots = server, scripts, dark, shots
        self.faults, self.looked, self.secrets = [], 0, set()
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        self.driver = walk.chrome(options)
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.axe = walk.AXE.read_text()

    @property
    def manner(self):
        return f"{'dark' if self.dark else 'light'}, {'with' if self.scripts else 'without'} scripts"

    def open(self, path):
        self.driver.get(path if path.startswith("http") else self.server.root + path)
        self.look()

    def find(self, selector):
        return WebDriverWait(self.driver, WAIT).until(lambda d: next(iter(d.find_elements(By.CSS_SELECTOR, selector)), None))

    def press(self, selector, looks=True):
        """Presses a button, and comes to the next page. A page that loads itself again meanwhile is pressed again."""
        for last in (False, False, True):
            try:
                before = self.find("html").id
                button = self.find(selector)
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
                button.click()
                break
            except (NoSuchElementException, StaleElementReferenceException):
                if last:
                    raise
        WebDriverWait(self.driver, WAIT).until(lambda d: d.find_element(By.TAG_NAME, "html").id != before)
        if looks:
            self.look()

    def text(self):
        """What the page says, and what stands in its fields."""
        fields = self.driver.find_elements(By.CSS_SELECTOR, "main input[readonly]")
        return "\n".join([self.find("main").text, *(field.get_attribute("value") for field in fields)])

    def fault(self, what):
        self.faults.append(f"{self.manner}, {self.driver.current_url.removeprefix(self.server.root)}: {what}")

    def expect(self, condition, what):
        if not condition:
            self.fault(f"{what}; the page says: {self.text()[:300]!r}")

    def look(self):
        driver = self.driver
        self.looked += 1
        for entry in driver.get_log("browser"):
            # A link that was used is answered with 410, as it should be.
            if "favicon" not in entry["message"] and " 410 " not in entry["message"]:
                self.fault(entry["message"])
        for secret in self.secrets:
            if secret in driver.current_url or secret in driver.title:
                self.fault("a secret is in the address or the title")
        if len(driver.find_elements(By.TAG_NAME, "h1")) != 1:
            self.fault("there is not one h1")
        walk.resize(driver, 320)
        if (wide := driver.execute_script("return document.documentElement.scrollWidth")) > 320:
            self.fault(f"{wide} pixels wide at 320")
        walk.resize(driver, 1280, 1000)
        if self.scripts:
            driver.execute_script(self.axe + "\nwindow.axe = axe;")
            found = driver.execute_async_script(
                "const done = arguments[arguments.length - 1];"
                "axe.run(document, {runOnly: {type: 'tag', values: arguments[0]}}).then((result) => done("
                "result.violations.map((v) => `${v.id} (${v.nodes.length}): `"
                " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join('; '))))", walk.TAGS)
            for violation in found:
                self.fault(violation)
        if self.shots:
            self.shots.mkdir(parents=True, exist_ok=True)
            name = driver.title.split(" · ")[0].replace("/", "-")[:40]
            driver.save_screenshot(str(self.shots / f"{self.manner.replace(', ', '-')}-{self.looked:03}-{name}.png"))


def sign_in(me):
    """By a link, with the keyboard: it works once, and its page alone uses nothing up."""
    link = me.server.link("--user", OWNER, "--circle", CIRCLE)
    for _ in range(2):
        me.driver.get(link)
    me.look()
    before = me.driver.find_element(By.TAG_NAME, "html").id
    me.find("main form button").send_keys(Keys.ENTER)
    WebDriverWait(me.driver, WAIT).until(lambda d: d.find_element(By.TAG_NAME, "html").id != before)
    me.look()
    me.expect(me.driver.current_url.endswith(f"/app/circles/{CIRCLE}"), "the link leads elsewhere")
    me.driver.get(link)
    me.expect(not me.driver.find_elements(By.CSS_SELECTOR, "main form[action*='links']"), "a link works twice")


def look_around(me):
    me.open("/app")
    for view in ("month", "week", "agenda"):
        me.open(f"/app/circles/{CIRCLE}?view={view}")
    me.find("main a[href*='/tasks/'], main a[href*='/appointments/']").click()
    me.look()
    for path in (f"circles/{CIRCLE}/calendar-sync", f"circles/{CIRCLE}/conflicts", f"circles/{CIRCLE}/subscriptions",
                 f"circles/{CIRCLE}/import", "office-days", "connectors", "connectors/apple", "check", "devices",
                 "app-passwords", "app-passwords/new", "app-passwords/new?app=davx5", "account"):
        me.open(f"/app/{path}")


def feed(me):
    """A new feed: its address is shown when it is asked for, renewed, and ended."""
    me.open(f"/app/circles/{CIRCLE}/calendar-sync")
    form = f"form[action$='/circles/{CIRCLE}/feeds']"
    for details in me.driver.find_elements(By.CSS_SELECTOR, "details"):
        if details.find_elements(By.CSS_SELECTOR, form) and not details.get_attribute("open"):
            details.find_element(By.TAG_NAME, "summary").click()
    label = f"Feed {me.manner}"
    field = me.find(f"{form} [name=label]")
    field.clear()
    field.send_keys(label)
    me.press(f"{form} button[type=submit]")
    me.expect(label in me.driver.title, "the new feed's page is not shown")

    def shown():
        if not me.driver.find_elements(By.ID, "feed-url"):
            me.press("form[action$='/reveal'] button[type=submit]")
        url = me.find("#feed-url").get_attribute("value")
        me.secrets.add(url.split("/feeds/")[1].split("/")[0])
        return url

    first = shown()
    me.expect(me.server.status(first) == 200, "the address does not answer")
    feed_path = me.driver.current_url.split("?")[0].removesuffix("/reveal").removeprefix(me.server.root)
    if feed_path.endswith("/feeds"):
        me.open(f"/app/circles/{CIRCLE}/calendar-sync")
        me.driver.find_element(By.LINK_TEXT, label).click()
        feed_path = me.driver.current_url.split("?")[0].removeprefix(me.server.root)
    me.open(f"{feed_path}?ask=regenerate")
    me.press("form[action$='/regenerate'] button[type=submit]")
    second = shown()
    me.expect(first != second and me.server.status(second) == 200, "the new address does not answer")
    me.open(f"{feed_path}?ask=revoke")
    me.press("form[action$='/revoke'] button[type=submit]")
    me.expect(me.server.status(second) in (404, 410), "the address answers after its end")


def bring_in(me, folder):
    """The club's matches, but not the training; then none of it."""
    name = f"{folder}/club.ics"
    Path(name).write_text(CALENDAR, newline="")
    me.open(f"/app/circles/{CIRCLE}/import")
    me.find("input[type=file]").send_keys(name)
    # The page of a file that is read asks for itself again, and is looked at when it has come to rest.
    me.press("form[enctype='multipart/form-data'] button[type=submit]", looks=False)
    for _ in range(100):
        if me.driver.find_elements(By.CSS_SELECTOR, "form[action$='/commit']"):
            break
        time.sleep(0.3)
        me.driver.get(me.driver.current_url)
    me.look()
    me.expect("Training 6" in me.text() and "Match 11" in me.text(), "the preview does not show the events")
    boxes = me.driver.find_elements(By.CSS_SELECTOR, "form[action$='/commit'] input[type=checkbox]")
    me.expect(len(boxes) == 3, "there is no box for each event")
    for box in boxes:
        row = box.find_element(By.XPATH, "./ancestor::*[self::tr or self::li or self::label][1]")
        if "Training" in row.text:
            box.click()
    # The page of an import under way loads itself again, too.
    me.press("form[action$='/commit'] button[type=submit]", looks=False)
    me.find("form[action$='/undo']")
    me.look()
    imported = me.driver.current_url
    me.open(f"/app/circles/{CIRCLE}?view=month&date=2030-01-04")
    me.expect("Match 4" in me.text() and "Training" not in me.text(), "the circle does not show what was imported")
    me.driver.get(imported)
    me.press("form[action$='/undo'] button[type=submit]", looks=False)
    WebDriverWait(me.driver, WAIT).until_not(lambda d: d.find_elements(By.CSS_SELECTOR, "form[action$='/undo']"))
    me.look()
    me.open(f"/app/circles/{CIRCLE}?view=month&date=2030-01-04")
    me.expect("Match" not in me.text(), "an undo leaves something")


def connect_apple(me):
    """The connector is opened, limited and closed; to look at it connects nothing."""
    me.open("/app/connectors")
    me.press("main a[href$='/connectors/apple']")
    if me.driver.find_elements(By.CSS_SELECTOR, "form[action$='/apple/connect']"):
        me.press("form[action$='/apple/connect'] button[type=submit]")
    me.expect("Disconnect Apple Calendar" in me.text(), "the connector is not connected")
    box = me.find("form[action$='/connectors/apple'] [name=write]")
    if box.is_selected():
        box.click()
    me.press("form[action$='/connectors/apple'] button[type=submit]")
    me.expect(not me.find("[name=write]").is_selected(), "the toggle is not kept")
    me.open("/app/connectors/apple?ask=disconnect")
    me.press("form[action$='/apple/disconnect'] button[type=submit]")
    me.expect("will no longer access your schedule" in me.text(), "the end is not said")


def check_file(me, folder):
    """A file is looked at, and nothing of it stays."""
    name = f"{folder}/check.ics"
    Path(name).write_text(CALENDAR.replace("DTEND:20300104T170000Z", "DTEND:20300104T140000Z"), newline="")
    me.open("/app/check")
    me.find("input[type=file]").send_keys(name)
    me.press("form[enctype='multipart/form-data'] button[type=submit]")
    me.expect("end is before the start" in me.text() and "Google Calendar" in me.text(), "nothing is found")
    me.open("/app/check")
    me.expect("end is before" not in me.text(), "something of the file stayed")


def speak_german(me):
    for language, heading in (("de", "Konto"), ("en", "Account")):
        me.open("/app/account")
        me.find(f"[name=language] option[value={language}], [name=language][value={language}]").click()
        me.press("form[action$='/account'] button[type=submit]")
        me.expect(me.find("h1").text == heading, f"the page is not in the language {language}")


def office_days(me):
    me.open("/app/office-days")
    box = me.find("form[action$='/office-days'] [name=enabled]")
    if not box.is_selected():
        box.click()
    me.press("form[action$='/office-days'] button[type=submit]")
    me.expect(me.find("form[action$='/office-days'] [name=enabled]").is_selected(), "office days are not on")


def operate(me):
    """The operator's page, in by a link of its own: a key is shown once, and ends."""
    me.driver.get(me.server.link("--admin"))
    me.press("main form button")
    me.expect(me.driver.current_url.endswith("/app/admin"), "the link leads elsewhere")
    me.find("form[action$='/admin/keys'] [name=name]").send_keys("walk")
    me.press("form[action$='/admin/keys'] button[type=submit]")
    me.expect("kal_sk_" in me.text(), "the new key is not shown")
    me.open("/app/admin")
    me.expect("kal_sk_" not in me.text(), "the key is shown again")
    me.press("form[action*='/admin/keys/'][action$='/revoke'] button[type=submit], a[href*='ask=']")
    me.find(".who summary").click()
    me.press("form[action$='/admin/sign-out'] button")
    me.driver.get(f"{me.server.root}/app/admin")
    me.expect(not me.driver.find_elements(By.CSS_SELECTOR, "form[action$='/admin/keys']"), "the operator is still in")


def jobs(folder):
    """Each page's main job, in the order in which they are done."""
    return (sign_in, look_around, feed, lambda me: bring_in(me, folder), connect_apple,
            lambda me: check_file(me, folder), speak_german, office_days, operate)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--shots", type=Path)
    arguments = parser.parse_args()
    faults, looked, secrets = [], 0, set()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(arguments.program, folder)
        try:
            for scripts, dark in ((True, False), (True, True), (False, False)):
                me = Visitor(server, scripts, dark, arguments.shots)
                try:
                    for job in jobs(folder):
                        job(me)
                except Exception as error:  # What comes next cannot be done either.
                    me.fault(f"{type(error).__name__}: {str(error)[:300]}")
                finally:
                    me.driver.quit()
                faults += me.faults
                looked += me.looked
                secrets |= me.secrets
                print(f"{me.manner}: {me.looked} pages looked at, {len(me.faults)} faults", flush=True)
        finally:
            log = server.stop()
        faults += ["a feed's secret is in the server's log" for secret in secrets if secret in log]
    for fault in faults:
        print(fault)
    print(f"{looked} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

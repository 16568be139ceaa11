# SPDX-License-Identifier: Apache-2.0
"""Does seven tasks as somebody who has never seen the pages, and counts the presses that each takes.

    python tasks.py .build/debug/kalends [--shots FOLDER]

Only what can be seen is pressed, by its words, beginning at the page that a sign-in leads to; each task has a server
of its own and is done in English and in German. It ends with 1 when a task cannot be done, or takes more presses than
its bound. The bounds are what somebody needs who reads only what is on the page.
"""

import argparse
import datetime
import json
import os
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, str(Path(__file__).parent))
import live  # noqa: E402

PHONE = "iOS/18.1 (22B83) dataaccessd/1.0"
STRANGER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0"
PRESSES = {
    "google": 3, "neighbour": 8, "moved": 2, "moved later": 5, "stopped": 2, "shifts": 2, "reader": 4, "matches": 5,
    "matches later": 2}

WORDS = {
    "en": {
        "sync": "Calendar Sync", "feed": "My feed", "why": "Not shown: Shifts", "change": "Change what is shown",
        "kind": "Shifts", "save": "Save", "renew": "Regenerate", "import": "Import", "bring": "Import",
        "look": "Look at the file", "same": "Training", "chosen": "10 of 30", "undo": "Undo",
        "calendar": "Calendar",
        "undone": "no longer in the calendar", "safety": "If somebody else reads it", "show": "Add it to a calendar app",
        "google add": "Add to Google Calendar", "new": "Create feed", "helper": "A helper",
        "tasks": "Tasks", "visits": "Appointments", "asks": "Follow-ups", "first": "Look at it first",
        "happened": "What happened", "by": "Daniel Rivera", "taken back": "Undone.", "health": "Health",
        "broken": "The feed got another address", "again": "Add it again",
        "visit": "Dr. Moss", "who": "See who changed what",
    },
    "de": {
        "sync": "Kalenderabgleich", "feed": "Mein Feed", "why": "Nicht gezeigt: Schichten",
        "change": "Ändern, was gezeigt wird", "kind": "Schichten", "save": "Speichern", "renew": "Neue Adresse",
        "import": "Import", "bring": "Importieren", "look": "Datei ansehen", "same": "Training",
        "chosen": "10 von 30 Terminen", "undo": "Rückgängig", "calendar": "Kalender",
        "undone": "nicht mehr im Kalender", "safety": "Falls jemand anderes mitliest", "show": "Zu einer Kalender-App hinzufügen",
        "google add": "Zu Google Kalender hinzufügen", "new": "Feed anlegen",
        "helper": "Jemanden, der hilft", "tasks": "Aufgaben", "visits": "Termine", "asks": "Folgeaufgaben",
        "first": "Vorher ansehen", "happened": "Was geschehen ist", "by": "Daniel Rivera", "taken back": "Rückgängig",
        "health": "Zustand", "broken": "eine andere Adresse bekommen", "again": "Neu hinzufügen",
        "visit": "Dr. Moss", "who": "Sehen, wer was geändert hat",
    },
}


class Stranger(live.Visitor):
    """Somebody who reads what is on the page, and presses what it says."""

    def __init__(self, server, language, shots):
        super().__init__(server, scripts=True, dark=False, shots=shots)
        self.language, self.words, self.presses, self.steps = language, WORDS[language], 0, []
        self.driver.execute_cdp_cmd(
            "Emulation.setUserAgentOverride",
            {"userAgent": self.driver.execute_script("return navigator.userAgent"), "acceptLanguage": language})

    def sign_in(self):
        self.driver.get(self.server.link("--user", live.OWNER, "--circle", live.CIRCLE))
        self.find("main form button").click()
        self.waits("h1")
        self.look()

    def waits(self, selector):
        WebDriverWait(self.driver, live.WAIT).until(lambda d: d.find_elements(By.CSS_SELECTOR, selector))

    def sees(self, key):
        """Whether the words are on the page, as a person finds them."""
        return self.words[key] in self.text()

    def expect_words(self, key, where):
        try:
            WebDriverWait(self.driver, live.WAIT).until(lambda _: self.sees(key))
        except Exception:
            self.fault(f"{where}: “{self.words[key]}” is not to be seen; the page says: {self.text()[:400]!r}")
            raise

    def is_first_seen(self, key):
        """Whether the words are on the first screen, without scrolling."""
        return self.driver.execute_script(
            "scrollTo(0, 0); return [...document.querySelectorAll('main *')].some(e => e.children.length < 4 &&"
            " e.textContent.includes(arguments[0]) && e.getBoundingClientRect().height > 0 &&"
            " e.getBoundingClientRect().top < innerHeight)", self.words[key].split(":")[0])

    def presses_on(self, key, inside="body", exact=True):
        """Presses what says the word, and waits for what comes of it."""
        word = self.words[key]
        end = time.monotonic() + live.WAIT
        while True:
            found = [
                e for e in self.driver.find_elements(By.CSS_SELECTOR, ", ".join(
                    f"{inside} {kind}" for kind in ("a", "button", "label", "summary"))) if e.is_displayed()
                and (e.text.strip().split("\n")[0] == word if exact else word in e.text)]
            if found:
                break
            if time.monotonic() > end:
                self.fault(f"nothing says “{word}”; the page says: {self.text()[:400]!r}")
                raise AssertionError(word)
            time.sleep(0.25)
        self.presses += 1
        self.steps.append(word)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found[0])
        found[0].click()
        self.driver.execute_script("return document.readyState")


def request(url, agent=None, body=None, method="GET", headers=None):
    """The status of an answer and its text."""
    ask = urllib.request.Request(
        url, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **({"User-Agent": agent} if agent else {}), **(headers or {})})
    try:
        with urllib.request.urlopen(ask, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


class Scene:
    """The server before the task, and what is so after it."""

    def __init__(self, server):
        key = live.subprocess.run(
            [server.program, "key", "create", "--name", "scene", "--database", server.database], check=True,
            capture_output=True, text=True).stdout.strip()
        self.server = server
        self.headers = {"Authorization": f"Bearer {key}"}
        for _ in range(600):
            status, text = self.call("GET", f"/v1/circles/{live.CIRCLE}/feeds")
            if status == 200 and json.loads(text)["items"]:
                break
            time.sleep(0.2)
        self.feed = json.loads(text)["items"][0]["id"]
        self.address = json.loads(self.call("POST", f"/v1/feeds/{self.feed}/reveal")[1])["url"]

    def call(self, method, path, body=None, user=live.OWNER):
        return request(self.server.root + path, method=method, body=body, headers={**self.headers, "Kalends-User": user})


def google(me, scene, folder):
    """Put the circle into your Google calendar."""
    me.sign_in()
    me.presses_on("sync")
    me.presses_on("show", "main")
    me.waits("#feed-url")
    me.look()
    # The last press leads to Google, with the form of the address that it takes.
    me.expect_words("google add", "how to add it")
    link = next(e for e in me.driver.find_elements(By.CSS_SELECTOR, "main a.button") if e.text == me.words["google add"])
    token = me.find("#feed-url").get_attribute("value").split("/feeds/")[1]
    me.secrets.add(token.split("/")[0])
    address = link.get_attribute("href")
    me.expect(address.startswith("https://calendar.google.com/calendar/r?cid=webcal"), "the link is not Google's")
    me.expect(urllib.parse.quote(token, safe="") in address or token in address, "the link has another feed")
    return me.presses + 1


def next_day(day):
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=1)).isoformat()


def neighbour(me, scene, folder):
    """Give the neighbour the shifts of next week, and nothing else."""
    me.sign_in()
    me.presses_on("sync")
    me.presses_on("new", "main")
    me.presses_on("helper", "main")
    me.look()
    for kind in ("tasks", "visits", "asks"):
        me.presses_on(kind, "main form")
    for name, text in (("label", "Neighbour"), ("pastDays", "0"), ("futureDays", "7")):
        field = me.find(f"main form [name={name}]")
        field.clear()
        field.send_keys(text)
    # A field for a day takes keys in the order of the system's language.
    last = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 7 * 86_400))
    me.driver.execute_script("arguments[0].value = arguments[1]", me.find("main form [name=until]"), last)
    me.presses_on("first", "main")
    me.waits("#look")
    me.look()
    looked = me.find("section[aria-labelledby=look]").text
    # Titles are in the language of the circle.
    me.expect("Shift" in looked, "no shift is to be seen before the feed is made")
    me.presses_on("new", "main form")
    me.waits("main .toast")
    me.look()
    feeds = json.loads(scene.call("GET", f"/v1/circles/{live.CIRCLE}/feeds")[1])["items"]
    made = next(feed for feed in feeds if feed["label"] == "Neighbour")
    address = json.loads(scene.call("POST", f"/v1/feeds/{made['id']}/reveal")[1])["url"]
    me.secrets.add(address.split("/feeds/")[1].split("/")[0])
    me.expect(made["expiresAt"][:10] in (last, next_day(last)), f"the neighbour's feed ends {made['expiresAt']}")
    titles = [line for line in request(address)[1].splitlines() if line.startswith("SUMMARY:")]
    me.expect(titles and all("Shift" in title for title in titles), f"the neighbour sees {titles}")
    return me.presses


def moved(me, scene, folder):
    """Somebody moved Thursday's visit: who? Put it back."""
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86_400 * 3))
    path = f"/v1/circles/{live.CIRCLE}/appointments/visit"
    at, later = (
        {"patientId": "mom", "provider": "Dr. Moss", "startAt": f"{day}T{hour}:00:00Z", "endAt": f"{day}T{hour + 1}:00:00Z"}
        for hour in (17, 21))
    scene.call("PUT", path, at)
    scene.call("PUT", path, later, user="daniel-rivera")
    me.sign_in()
    me.presses_on("happened")
    me.expect_words("by", "what happened")
    me.expect(me.is_first_seen("by"), "who it was is not on the first screen")
    me.look()
    me.presses_on("undo", "main")
    me.expect_words("taken back", "after the undo")
    me.look()
    def expect_back():
        start = json.loads(scene.call("GET", path)[1])["startAt"]
        is_back = datetime.datetime.fromisoformat(start) == datetime.datetime.fromisoformat(at["startAt"])
        me.expect(is_back, f"the visit begins {start}")

    expect_back()
    counted = me.presses
    # Somebody else begins at the visit, which they look for in the calendar.
    scene.call("PUT", path, later, user="daniel-rivera")
    me.presses_on("calendar", "nav.tabs")
    me.find("main form [name=q]").send_keys("Moss", Keys.ENTER)
    me.presses += 1
    WebDriverWait(me.driver, live.WAIT).until(lambda d: "q=Moss" in d.current_url)
    me.presses_on("visit", "main", exact=False)
    me.look()
    me.presses_on("who", "main")
    me.expect_words("by", "what happened")
    me.presses_on("undo", "main")
    me.expect_words("taken back", "after the undo")
    expect_back()
    me.later = me.presses - counted
    return counted


def stopped(me, scene, folder):
    """Your phone stopped updating: why?"""
    request(scene.address, PHONE)
    time.sleep(1)
    scene.call("POST", f"/v1/feeds/{scene.feed}/regenerate")
    me.expect(request(scene.address, PHONE)[0] == 410, "the phone is not shut out")
    me.sign_in()
    me.presses_on("health")
    me.expect_words("broken", "the page of health")
    me.expect(me.is_first_seen("broken"), "the reason is not on the first screen")
    me.look()
    me.presses_on("again", "main", exact=False)
    me.waits("#feed-url")
    return me.presses


def shifts(me, scene, folder):
    """Your calendar app stopped showing shifts: find out why."""
    request(scene.address, PHONE)
    scene.call("PATCH", f"/v1/feeds/{scene.feed}", {"config": {"includeShifts": False}})
    me.sign_in()
    me.presses_on("sync")
    me.expect(me.is_first_seen("why"), "the reason is not on the first screen")
    me.presses_on("feed")
    me.expect_words("why", "the feed's page")
    me.expect(me.is_first_seen("why"), "the reason is not on the first screen of the feed")
    me.looked_at = me.presses
    # The reason is found; what follows puts it right.
    me.presses_on("change")
    me.presses_on("kind", "main form")
    me.presses_on("save", "main")
    me.waits(".toast")
    me.look()
    me.expect(not me.sees("why"), "the reason stays")
    me.expect("SUMMARY:CK Shift" in request(scene.address, PHONE)[1], "the phone does not show shifts")
    return me.looked_at


def reader(me, scene, folder):
    """You think that somebody else reads your feed: stop it, and keep your own phone working."""
    for agent in (PHONE, PHONE, STRANGER):
        request(scene.address, agent)
    me.sign_in()
    me.presses_on("sync")
    me.presses_on("feed")
    me.expect_words("safety", "the feed's page")
    me.presses_on("renew", "main section")
    me.waits("dialog[open] form")
    # What is on at first is what keeps the other one out.
    me.expect(me.find("dialog[open] input[value='0']").is_selected(), "the old address goes on unless one says so")
    me.presses_on("renew", "dialog[open]")
    me.waits("#feed-url")
    me.look()
    fresh = me.find("#feed-url").get_attribute("value")
    me.secrets.add(fresh.split("/feeds/")[1].split("/")[0])
    me.expect(request(scene.address, STRANGER)[0] == 410, "the old address answers")
    me.expect(request(fresh, PHONE)[0] == 200, "the phone has nothing to read")
    me.expect(me.driver.find_elements(By.CSS_SELECTOR, ".qr svg"), "there is no code for the phone")
    return me.presses


def club(folder):
    """A season of a club: two trainings and a match a week."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Club//EN"]
    for week in range(10):
        for day, what in ((4, "Training"), (6, "Training"), (8, f"Match {week + 1}")):
            date = time.strftime("%Y%m%d", time.gmtime(1_893_456_000 + (7 * week + day) * 86_400))
            lines += ["BEGIN:VEVENT", f"UID:{date}@club.example", "DTSTAMP:20260101T000000Z", f"DTSTART:{date}T170000",
                      f"DTEND:{date}T190000", f"SUMMARY:{what}", "END:VEVENT"]
    path = Path(folder) / "club.ics"
    path.write_text("\r\n".join([*lines, "END:VCALENDAR", ""]), newline="")
    return str(path)


def matches(me, scene, folder):
    """Bring the club's matches in, but not the training; then change your mind."""
    export = f"/v1/circles/{live.CIRCLE}/export.ics"
    me.sign_in()
    me.presses_on("import")
    me.find("input[type=file]").send_keys(club(folder))
    me.presses_on("look")
    me.presses_on("same", "main fieldset", exact=False)
    me.expect_words("chosen", "what is chosen")
    me.look()
    me.presses_on("bring", "main")
    me.waits(".alert.good form[action$='/undo']")
    me.look()
    circle = scene.call("GET", export)[1]
    me.expect("SUMMARY:Match 10" in circle and "SUMMARY:Training" not in circle, "the circle has something else")
    # The mind is changed later, by way of another page.
    me.presses_on("calendar", "nav.tabs")
    counted = me.presses
    me.presses_on("import", "nav.tabs")
    me.presses_on("undo", "main")
    me.expect_words("undone", "after the change of mind")
    me.look()
    me.expect("SUMMARY:Match" not in scene.call("GET", export)[1], "something stays")
    me.later = me.presses - counted
    return counted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    faults, done = [], 0
    for task in (google, neighbour, moved, stopped, shifts, reader, matches):
        if arguments.only not in task.__name__:
            continue
        for language in WORDS:
            with tempfile.TemporaryDirectory() as folder:
                server = live.Server(arguments.program, folder)
                me = Stranger(server, language, arguments.shots and arguments.shots / f"{task.__name__}-{language}")
                try:
                    taken = task(me, Scene(server), folder)
                    for name, count in ((task.__name__, taken), (f"{task.__name__} later", getattr(me, "later", 0))):
                        if count > PRESSES.get(name, count):
                            me.fault(f"{name}: {count} presses, of {PRESSES[name]}: {me.steps}")
                    print(f"{task.__name__}, {language}: {taken} presses, {' – '.join(me.steps)}", flush=True)
                except Exception as error:  # What comes next cannot be done either.
                    me.fault(f"{task.__name__}: {type(error).__name__}: {str(error)[:300]}")
                finally:
                    me.driver.quit()
                    log = server.stop()
                faults += [f"{task.__name__}, {language}, {fault}" for fault in me.faults]
                faults += ["a feed's secret is in the server's log" for secret in me.secrets if secret in log]
                done += 1
    for fault in faults:
        print(fault)
    print(f"{done} tasks, {len(faults)} faults")
    return 1 if faults or not done else 0


if __name__ == "__main__":
    sys.exit(main())

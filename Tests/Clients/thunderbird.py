# SPDX-License-Identifier: Apache-2.0
"""Thunderbird: a fresh profile with the feed as a cached calendar. It is asked what it draws,
and its cache file is read, the last time after it has ended.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import uuid
from contextlib import closing
from datetime import datetime, timedelta, timezone

from kalends import Failure, settled, wait_for
from marionette import Marionette
from programs import Program, end_group
from reading import unrolled, zone
from schedule import HOME, Occurrence, utc

# In cal_events.flags.
ALL_DAY = 8

# Scripts for Thunderbird's side, with the calendar's id first.
SCRIPT = """
    const [id, ...values] = arguments;
    const resolve = values.pop();
    (async () => {
        const { cal } = ChromeUtils.importESModule("resource:///modules/calendar/calUtils.sys.mjs");
        const calendar = cal.manager.getCalendarById(id);
        %s
    })().then(value => resolve({ value }), error => resolve({ error: String(error) }));
"""

# As the button "synchronize" does.
REFRESH = SCRIPT % "calendar.refresh();"

# What is drawn, each occurrence for itself.
DRAWN = SCRIPT % """
        const [from, to] = values.map(text => cal.createDateTime(text));
        const filter = Ci.calICalendar.ITEM_FILTER_TYPE_EVENT | Ci.calICalendar.ITEM_FILTER_CLASS_OCCURRENCES;
        const items = await calendar.getItemsAsArray(filter, 0, from, to);
        return items.map(item => [
            item.id, Boolean(item.recurrenceId), item.startDate.isDate,
            item.startDate.nativeTime, item.endDate.nativeTime, item.title,
            item.getProperty("DESCRIPTION") || "", item.getProperty("LOCATION") || "",
        ]);
"""


class Thunderbird(Program):
    name = "thunderbird"
    packages = ["thunderbird", "xvfb"]
    commands = ["thunderbird", "Xvfb"]

    display = None
    process = None

    def version(self):
        return re.search(r"[\d.]+", self.run(["thunderbird", "--version"]).splitlines()[-1])[0]

    def subscribe(self, feed):
        self.feed = feed
        self.profile = self.home / "profile"
        self.profile.mkdir()
        self.cache = self.profile / "calendar-data" / "cache.sqlite"
        self.calendar = str(uuid.uuid4())
        (self.profile / "user.js").write_text(
            "".join(f"user_pref({literal(name)}, {literal(value)});\n" for name, value in self._preferences().items()))
        self._start_display()

    def _preferences(self):
        return {
            **self._calendars(),
            # The remote control picks a free port and writes it into the profile.
            "marionette.port": 0,
            "calendar.timezone.useSystemTimezone": False,
            "calendar.timezone.local": HOME,
            # A window that asks something would hold up the start.
            "mail.provider.suppress_dialog_on_startup": True,
            "mail.shell.checkDefaultClient": False,
            "mail.rights.version": 1,
            "mail.spotlight.firstRunDone": True,
            "mail.winsearch.firstRunDone": True,
            "mailnews.start_page.enabled": False,
            "mailnews.start_page_override.mstone": "ignore",
            "app.donation.eoy.version.viewed": 999,
            "datareporting.policy.dataSubmissionEnabled": False,
            "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
            "datareporting.healthreport.uploadEnabled": False,
            "toolkit.telemetry.enabled": False,
            "toolkit.telemetry.unified": False,
            "toolkit.telemetry.server": "",
            "toolkit.startup.max_resumed_crashes": -1,
            "browser.safebrowsing.malware.enabled": False,
            "browser.safebrowsing.phishing.enabled": False,
            "app.update.enabled": False,
            "app.update.auto": False,
            "extensions.update.enabled": False,
            "extensions.getAddons.cache.enabled": False,
            "extensions.systemAddon.update.enabled": False,
            "mail.inappnotifications.enabled": False,
            "services.settings.server": "data:,",
            "network.captive-portal-service.enabled": False,
            "network.connectivity-service.enabled": False,
            # Everything that is not this machine goes to a proxy that is not there.
            "network.proxy.type": 1,
            "network.proxy.http": "127.0.0.1",
            "network.proxy.http_port": 1,
            "network.proxy.ssl": "127.0.0.1",
            "network.proxy.ssl_port": 1,
            "network.proxy.allow_hijacking_localhost": False,
            "network.proxy.no_proxies_on": "127.0.0.1, localhost",
        }

    def _calendars(self):
        """The preferences of the calendars that are there at the start."""
        calendar = f"calendar.registry.{self.calendar}"
        return {
            f"{calendar}.type": "ics",
            f"{calendar}.uri": self.feed.url,
            f"{calendar}.name": "Kalends",
            f"{calendar}.cache.enabled": True,
            f"{calendar}.readOnly": True,
            # In minutes. The test tells it when to refresh; once more on its own would only get in the way.
            f"{calendar}.refreshInterval": "60",
        }

    def _start_display(self):
        # The X server picks a free display itself and says which.
        readable, writable = os.pipe()
        self.display = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writable), "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
            env=self.environment, cwd=self.home, pass_fds=[writable], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writable)
        with os.fdopen(readable) as answer:
            number = answer.readline().strip()
        if not number:
            raise Failure("Xvfb did not start")
        self.environment["DISPLAY"] = f":{number}"

    def refresh(self):
        """Has Thunderbird read the feed, and waits until its cache has settled."""
        before = self.feed.accesses()
        if self.process is None:
            # It reads the feed when it starts.
            self._start()
        else:
            self._control(REFRESH, self.calendar)

        def has_read():
            if self.process.poll() is not None:
                raise Failure(f"Thunderbird ended with {self.process.returncode}: {self._last_words()}")
            return self.feed.accesses() > before

        wait_for("Thunderbird to read the feed", has_read, seconds=60, pause=0.25)
        # Thunderbird writes event by event after it has read; nothing says when it is through.
        settled(self._events)

    def _start(self):
        self.log = open(self.home / "thunderbird.log", "w+b")
        # A group of its own, so that its helpers end with it and nothing else does.
        self.process = subprocess.Popen(
            ["thunderbird", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", self.profile],
            env={**self.environment, "MOZ_CRASHREPORTER_DISABLE": "1", "NO_AT_BRIDGE": "1"}, cwd=self.home,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)

    def _last_words(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-500:]

    def _control(self, script, *arguments):
        """Runs a script inside Thunderbird that ends by calling `resolve`."""
        port_file = self.profile / "MarionetteActivePort"
        wait_for("Thunderbird's remote control", port_file.exists)
        with Marionette(int(port_file.read_text())) as remote:
            remote.ask("WebDriver:NewSession", capabilities={})
            remote.ask("Marionette:SetContext", value="chrome")
            answer = remote.ask(
                "WebDriver:ExecuteAsyncScript", script=script, args=list(arguments))["value"]
            remote.ask("WebDriver:DeleteSession")
        if answer is None:
            raise Failure("Thunderbird opened a dialog, and gave no answer")
        if "error" in answer:
            raise Failure(f"Thunderbird said: {answer['error']}")
        return answer["value"]

    def _drawn(self):
        found = []
        kept = {row["id"] for row in self._rows()["events"]}
        days = [f"{day:%Y%m%dT000000Z}" for day in self.span]
        for uid, repeats, is_date, start, end, *texts in self._control(DRAWN, self.calendar, *days):
            # A series that is gone stays in Thunderbird's memory, and drawn, until it ends: when it empties its cache
            # file it does not forget the series that it has unrolled (153 at least). The file must be right.
            if repeats and uid not in kept:
                continue
            times = [moment(time, "UTC") for time in (start, end)]
            found.append(
                Occurrence(uid, *(time.date().isoformat() if is_date else utc(time) for time in times), *texts))
        return found

    def _events(self):
        try:
            return self._rows()["events"]
        except sqlite3.Error:
            # Copied between two writes, or before the tables were made.
            return None

    def _rows(self):
        # A copy: the file belongs to Thunderbird while it runs, and its log, which is not yet moved in, is next to it.
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            for suffix in ("", "-wal"):
                source = f"{self.cache}{suffix}"
                if os.path.exists(source):
                    shutil.copy(source, f"{folder}/cache.sqlite{suffix}")
            with closing(sqlite3.connect(f"{folder}/cache.sqlite")) as database:
                database.row_factory = sqlite3.Row
                mine = (self.calendar,)
                events = database.execute("SELECT * FROM cal_events WHERE cal_id = ?", mine).fetchall()
                rules = database.execute("SELECT * FROM cal_recurrence WHERE cal_id = ?", mine).fetchall()
                texts = database.execute("SELECT * FROM cal_properties WHERE cal_id = ?", mine).fetchall()
                return {
                    name: [dict(row) for row in rows]
                    for name, rows in (("events", events), ("rules", rules), ("texts", texts))
                }

    def views(self):
        # Two ways to the same: what it draws, by its own engine, and what it keeps for the next start.
        return {"drawn": self._drawn(), "kept in the cache": self.occurrences()}

    def occurrences(self):
        rows = self._rows()
        texts = {}
        for row in rows["texts"]:
            value = row["value"].decode() if isinstance(row["value"], bytes) else row["value"]
            texts[row["item_id"], row["recurrence_id"], row["key"]] = value
        found = []
        for row in rows["events"]:
            uid, special = row["id"], row["recurrence_id"]
            words = {
                "title": row["title"], "notes": texts.get((uid, special, "DESCRIPTION"), ""),
                "location": texts.get((uid, special, "LOCATION"), ""),
            }
            start, end = (moment(row[f"event_{side}"], row[f"event_{side}_tz"]) for side in ("start", "end"))
            if row["flags"] & ALL_DAY:
                found.append(Occurrence(uid, start.date().isoformat(), end.date().isoformat(), **words))
                continue
            lines = [rule["icalString"].strip() for rule in rows["rules"] if rule["item_id"] == uid]
            rule = next((line[6:] for line in lines if line.startswith("RRULE:")), None)
            if rule and special is None:
                replaced = [
                    moment(other["recurrence_id"], other["recurrence_id_tz"]) for other in rows["events"]
                    if other["id"] == uid and other["recurrence_id"] is not None
                ]
                exdates = [exdate(line) for line in lines if line.startswith("EXDATE")]
                found += unrolled(uid, start, end, rule, exdates, replaced, **words)
            else:
                found.append(Occurrence(uid, utc(start), utc(end), **words))
        return found

    def finish(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            raise Failure("Thunderbird did not end when asked to") from None
        return {"kept in the cache": self.occurrences()}

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
            end_group(self.process)
            self.log.close()
        if self.display and self.display.poll() is None:
            self.display.terminate()
            self.display.wait()


def moment(microseconds, name):
    """What a time column means: microseconds since 1970, in the zone that the next column names."""
    instant = datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=microseconds)
    return instant if name in ("floating", "UTC") else instant.astimezone(zone(name))


def exdate(line):
    match = re.fullmatch(r"EXDATE(?:;TZID=([^:;]+))?:(\d{8}T\d{6})(Z?)", line)
    if not match:
        raise Failure(f"an EXDATE in Thunderbird's cache that this test cannot read: {line}")
    wall = datetime.strptime(match[2], "%Y%m%dT%H%M%S")
    return wall.replace(tzinfo=zone(match[1] or "UTC"))


def literal(value):
    """The same in JavaScript."""
    return json.dumps(value)

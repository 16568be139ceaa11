# SPDX-License-Identifier: Apache-2.0
"""KDAV, the library of KOrganizer's DAV resource, keeps a folder in step with a CalDAV account, as that resource does: its
user's changes are sent one by one, and then it looks what the server has.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote

from account_vdirsyncer import VdirsyncerAccount
from kalends import Failure

SOURCE, HEADERS = Path(__file__).with_name("account_kdav.cpp"), Path("/usr/include/KF5")
# A bus without services: what KDE starts there by itself would outlive the test.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""


class KDAVAccount(VdirsyncerAccount):
    name = "kdav"
    packages = ["libkf5dav-dev", "libkf5coreaddons-dev", "kio", "g++", "pkg-config", "dbus"]
    commands = ["g++", "pkg-config", "dbus-run-session"]

    @classmethod
    def missing(cls):
        if not (HEADERS / "KDAV").exists():
            return f"no {HEADERS}/KDAV; on Debian: apt-get install {' '.join(cls.packages)}"
        return super().missing()

    def version(self):
        return self.run(["dpkg-query", "-W", "-f", "${source:Upstream-Version}", "libkf5dav-dev"])

    def add(self, url, user, password):
        self.calendars, self.client = self.home / "calendars", self.home / "account_kdav"
        self.environment |= {"KDAV_URL": url, "KDAV_USER": user, "KDAV_PASSWORD": password, "QT_QPA_PLATFORM": "offscreen"}
        self.bus = self.home / "bus.conf"
        self.bus.write_text(BUS)
        flags = self.run(["pkg-config", "--cflags", "--libs", "Qt5Gui"]).split()
        self.run(["g++", "-std=c++17", "-fPIC", "-o", self.client, SOURCE, *flags, f"-I{HEADERS}", f"-I{HEADERS}/KDAV",
                  f"-I{HEADERS}/KCoreAddons", "-lKF5DAV", "-lKF5CoreAddons", "-lQt5Core"], 300)
        self.refresh()
        names = [self._calendar(folder)["name"] for folder in self.calendars.iterdir()]
        if sorted(names) != ["Rossi family", "Team", "✓ Rossi family", "✓ Team"]:
            raise Failure(f"the calendars are called {names}")

    @staticmethod
    def _calendar(folder):
        return json.loads((folder / ".calendar").read_text())

    def _ask(self, *words):
        """What was refused; nothing if it was done."""
        with open(self.home / "kdav.log", "w+b") as log:
            done = subprocess.run(
                ["dbus-run-session", f"--config-file={self.bus}", "--", self.client, *words], env=self.environment,
                cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=60)
            log.seek(0)
            text = log.read().decode(errors="replace")
        return text if done.returncode else None

    def _must(self, *words):
        if (text := self._ask(*words)) is not None:
            raise Failure(f"KDAV was refused {words[0]}: {text[-600:]}")

    def refresh(self):
        self._must("sync", self.calendars)

    def _known(self, file):
        """The address of a resource, and its tag."""
        state = json.loads((file.parent / ".state").read_text())
        return next((url, tag) for url, tag in state.items() if unquote(url).endswith(f"/{file.name}"))

    def _edit(self, uid, change):
        super()._edit(uid, change)
        file = self._file(uid)
        self._must("modify", *self._known(file), file)

    def _create(self, file):
        self._must("create", self._calendar(file.parent)["url"] + file.name, file)

    def copy(self, uid, other):
        super().copy(uid, other)
        self._create(self._file(other))

    def make_task(self, collection, uid, title):
        super().make_task(collection, uid, title)
        self._create(self._file(uid))

    def delete(self, uid):
        self._must("delete", *self._known(self._file(uid)))

    def refused(self, uid, start):
        file, kept = self._file(uid), self.home / "kept.ics"
        self.refresh()
        if self._calendar(file.parent)["writes"]:
            raise Failure("KDAV takes what may only be read for a calendar that may be changed")
        shutil.copy2(file, kept)
        try:
            self.move(uid, start)
        except Failure as failure:
            if not re.search(r"(^|: )403 ", str(failure), re.M):
                raise
        else:
            raise Failure("KDAV was refused nothing")
        shutil.copy2(kept, file)

    def refresh_refused(self):
        text = self._ask("sync", self.calendars)
        if text is None or not re.search(r"^401 ", text, re.M):
            raise Failure(f"an ended password is no 401: {text}")

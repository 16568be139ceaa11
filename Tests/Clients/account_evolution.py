# SPDX-License-Identifier: Apache-2.0
"""Evolution's data server, the one behind Evolution, GNOME Calendar and Endeavour: a collection account that finds the
calendars and task lists itself.
"""

import json
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from evolution import PYTHON, Evolution
from kalends import Failure

CLIENT = Path(__file__).with_name("evolution_account_client.py")


class EvolutionAccount(Evolution):
    def add(self, url, user, password):
        address = urlsplit(url)
        sources = Path(self.environment["XDG_CONFIG_HOME"]) / "evolution" / "sources"
        sources.mkdir(parents=True)
        (sources / "kalends.source").write_text(
            f"""
[Data Source]
DisplayName=Kalends
Enabled=true
Parent=

[Collection]
BackendName=webdav
CalendarEnabled=true
ContactsEnabled=false
MailEnabled=false
Identity={user}
CalendarUrl={url}

[Authentication]
Host={address.hostname}
Port={address.port}
Method=plain/password
User={user}

[Security]
Method=none
""")
        self.log = open(self.home / "evolution.log", "w+b")
        self.process = subprocess.Popen(
            ["dbus-run-session", "--", PYTHON, CLIENT],
            env={**self.environment, "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local",
                 "GIO_USE_NETWORK_MONITOR": "base"},
            cwd=self.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            start_new_session=True)
        self._ask("open", user, password)

    def _ask(self, word, *values):
        self.process.stdin.write(json.dumps([word, *values]) + "\n")
        self.process.stdin.flush()
        return self._answer(60)

    def refresh(self):
        self._ask("refresh")

    def entries(self):
        # A collection is known by its address, and what it is called is for its user.
        return [tuple(fields) for fields in self._ask("list")]

    def move(self, uid, start):
        self._ask("move", uid, start)

    def move_occurrence(self, uid, original, start):
        self._ask("move_occurrence", uid, original, start)

    def delete_occurrence(self, uid, start):
        self._ask("delete_occurrence", uid, start)

    def copy(self, uid, other):
        self._ask("copy", uid, other)

    def complete(self, uid):
        self._ask("complete", uid)

    def make_task(self, collection, uid, title):
        self._ask("make_task", collection, uid, title)

    def delete(self, uid):
        self._ask("delete", uid)

    def refused(self, uid, start):
        try:
            self._ask("move", uid, start)
        except Failure:
            return
        raise Failure("Evolution was refused nothing")

    def refresh_refused(self):
        self._ask("begin_refresh")

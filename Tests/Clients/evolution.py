# SPDX-License-Identifier: Apache-2.0
"""Evolution's data server, the one behind Evolution and GNOME Calendar: the feed as a webcal source."""

import json
import select
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from kalends import Failure, settled, wait_for
from programs import Program, end_group
from schedule import HOME, Occurrence

# Debian's own Python: the bindings of Evolution's library are installed for it alone.
PYTHON = "/usr/bin/python3"
CLIENT = Path(__file__).with_name("evolution_client.py")


class Evolution(Program):
    name = "evolution"
    packages = ["evolution-data-server", "gir1.2-ecal-2.0", "python3-gi", "dbus"]
    commands = ["dbus-run-session"]

    process = None

    @classmethod
    def missing(cls):
        if reason := super().missing():
            return reason
        script = "import gi; gi.require_version('ECal', '2.0'); from gi.repository import ECal"
        found = Path(PYTHON).exists() and subprocess.run([PYTHON, "-c", script], capture_output=True).returncode == 0
        if not found or not Path("/usr/libexec/evolution-calendar-factory").exists():
            packages = " ".join(cls.packages)
            return f"the data server or its Python bindings not found; on Debian: apt-get install {packages}"
        return ""

    def version(self):
        script = (
            "import gi; gi.require_version('EDataServer', '1.2'); from gi.repository import EDataServer as e;"
            "print(e.EDS_MAJOR_VERSION, e.EDS_MINOR_VERSION, e.EDS_MICRO_VERSION, sep='.')")
        return self.run([PYTHON, "-c", script]).strip()

    def subscribe(self, feed):
        self.feed = feed
        address = urlsplit(feed.url)
        sources = Path(self.environment["XDG_CONFIG_HOME"]) / "evolution" / "sources"
        sources.mkdir(parents=True)
        (sources / "kalends.source").write_text(
            f"""
[Data Source]
DisplayName=Kalends
Enabled=true
Parent=webcal-stub

[Calendar]
BackendName=webcal
Selected=true

[Authentication]
Host={address.hostname}
Port={address.port}
Method=plain/password

[Security]
Method=none

[WebDAV Backend]
ResourcePath={address.path}

[Refresh]
Enabled=false
IntervalMinutes=60
""")
        self.log = open(self.home / "evolution.log", "w+b")
        # A bus of its own: the data server that runs in the user's session is not spoken to.
        self.process = subprocess.Popen(
            ["dbus-run-session", "--", PYTHON, CLIENT, HOME, *(day.isoformat() for day in self.span)],
            env={
                **self.environment, "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local",
                # Whether the machine is online is not asked: the server is on it.
                "GIO_USE_NETWORK_MONITOR": "base",
            }, cwd=self.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            start_new_session=True)
        self._answer(30)

    def _answer(self, seconds):
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.log.seek(0)
            raise Failure(f"the data server gave no answer: {self.log.read().decode(errors='replace')[-600:]}")
        answer = json.loads(line)
        if isinstance(answer, dict) and "error" in answer:
            raise Failure(f"the data server said: {answer['error']}")
        return answer

    def _ask(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self._answer(30)

    def refresh(self):
        before = self.feed.accesses()
        self._ask("refresh")
        wait_for("the data server to read the feed", lambda: self.feed.accesses() > before, pause=0.2)
        # What was read is stored afterwards; nothing says when that is through.
        settled(lambda: self._ask("list"))

    def occurrences(self):
        return [Occurrence(*fields) for fields in self._ask("list")]

    def stop(self):
        if self.process:
            self.process.stdin.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                pass
            end_group(self.process)
            self.process.stdout.close()
            self.log.close()

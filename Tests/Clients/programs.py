# SPDX-License-Identifier: Apache-2.0
"""A calendar program under test, in a home of its own."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from kalends import Failure


class Program:
    name = ""
    # Debian packages, and the commands that show that they are there.
    packages = []
    commands = []

    def __init__(self, folder):
        self.home = Path(folder) / self.name
        self.home.mkdir()
        # Nothing of the user's own settings, sessions or calendars may be read or written.
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            # Not the circle's zone: an instant that is taken for a local time shows.
            "TZ": "America/Los_Angeles",
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            "XDG_RUNTIME_DIR": str(self.home / "run"),
        }
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
            Path(self.environment[name]).mkdir(parents=True, mode=0o700)

    @classmethod
    def missing(cls):
        """What has to be installed, in words, or nothing."""
        absent = [command for command in cls.commands if not shutil.which(command)]
        if absent:
            return f"{', '.join(absent)} not found; on Debian: apt-get install {' '.join(cls.packages)}"
        return ""

    def run(self, command, seconds=60, **more):
        """The output of a command that must succeed."""
        try:
            result = subprocess.run(
                command, env=self.environment, cwd=self.home, capture_output=True, stdin=subprocess.DEVNULL,
                timeout=seconds, **more)
        except subprocess.TimeoutExpired:
            raise Failure(f"{Path(command[0]).name} did not end within {seconds} s") from None
        if result.returncode != 0:
            text = (result.stderr or result.stdout).decode(errors="replace")
            raise Failure(f"{Path(command[0]).name} ended with {result.returncode}: {without_secrets(text[-600:])}")
        return result.stdout.decode()

    def version(self):
        raise NotImplementedError

    def subscribe(self, feed):
        """Sets the program up with the feed's address."""
        raise NotImplementedError

    def refresh(self):
        """Makes the program read the feed, as it does on its own from time to time."""
        raise NotImplementedError

    def occurrences(self):
        """What the program now holds."""
        raise NotImplementedError

    def views(self):
        """What it holds, in as many ways as it can be asked; all must be right."""
        return {"": self.occurrences()}

    def comparable(self, occurrence):
        """The occurrence without what this program is known to tell wrong."""
        return occurrence

    def finish(self):
        """Ends it in good order; what it has kept, if that can be asked then."""
        return {}

    def stop(self):
        """Ends what still runs."""


def without_secrets(text):
    """A feed's address is its only secret, and programs like to print it."""
    text = re.sub(r"/feeds/[^/\s\"']+", "/feeds/…", text)
    return re.sub(r"kal_\w+", "…", text)


def end_group(process):
    """Ends what is left of a program that was started in a group of its own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()

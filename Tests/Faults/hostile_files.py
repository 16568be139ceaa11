# SPDX-License-Identifier: Apache-2.0
"""Hostile files in every place where Kalends reads or writes one: backups, databases, keys, journals, locks, sockets and
configuration. Each case must end within a time, with a status that commands have and one plain sentence, and leave what was
there as it was; a server that starts all the same must answer.

usage: KALENDS=.build/debug/kalends hostile_files.py [--only WORD] [--say]"""

import argparse
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import hostile_cases
import report
from ports import free_port
from server import Server, Violation

# Generous: a debug build on a machine that is busy; nothing here may wait for anybody.
PATIENCE = 60
# Names of types and of the runtime's own reports, which are no sentence for an operator.
TECHNICAL = re.compile(
    r"\b\w*(?:Error|Exception)\b(?!s)|NSCocoa|Fatal|precondition|Swift/|\.swift|Optional\(|backtrace|0x[0-9a-f]{6,}|nil\b")


class Case:
    """One hostile arrangement: `arrange(place)` returns the command; what may come of it."""

    def __init__(self, name, arrange, says="", statuses=(3,), changes=False, serves=False, unprivileged=False,
                 after=None):
        self.name, self.arrange, self.says = name, arrange, says
        self.statuses, self.changes, self.serves, self.unprivileged = statuses, changes, serves, unprivileged
        # Says of the place what is not as it should be.
        self.after = after


class Place:
    """A folder with a database, its key, its journal and a backup of it, as a case finds them."""

    def __init__(self, folder, template, program):
        self.folder, self.program = Path(folder), program
        for name in ("k.sqlite", "k.sqlite.key", "k.sqlite.accesses", "backup.sqlite"):
            shutil.copy2(template / name, self.folder / name)
        self.database, self.backup = self.folder / "k.sqlite", self.folder / "backup.sqlite"
        self.key, self.journal = self.folder / "k.sqlite.key", self.folder / "k.sqlite.accesses"

    def path(self, name):
        return self.folder / name

    def content(self):
        """What is in the database, or its bytes where that cannot be said."""
        if not self.database.is_file():
            return "no file"
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.sqlite"
            for suffix in ("", "-wal"):
                if Path(f"{self.database}{suffix}").is_file():
                    shutil.copyfile(f"{self.database}{suffix}", f"{copy}{suffix}")
            try:
                connection = sqlite3.connect(copy)
                connection.text_factory = bytes
                rows = []
                for (table,) in connection.execute(
                        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
                ).fetchall():
                    if table == b"settings":
                        continue
                    rows.append((table, sorted(map(repr, connection.execute(f'SELECT * FROM "{table.decode()}"')))))
                connection.close()
                return rows
            except (sqlite3.Error, UnicodeDecodeError):
                return copy.read_bytes()

    def names(self):
        """What lies there, but for what a command rightly leaves behind: its lock, and SQLite's own files."""
        return {
            name.name for name in self.folder.iterdir()
            if name.name not in ("k.sqlite.lock", "k.sqlite-wal", "k.sqlite-shm", "log")}


def run(case, place, environment):
    command = [str(part) for part in case.arrange(place)]
    before, names = place.content(), place.names()
    environment = {**environment, **getattr(place, "environment", {})}
    kind = {"user": 65534, "group": 65534, "extra_groups": []} if case.unprivileged else {}
    if case.unprivileged:
        for each in [place.folder, *place.folder.rglob("*")]:
            os.chown(each, 65534, 65534, follow_symlinks=False)
    process = subprocess.Popen(
        [place.program, *command], cwd=place.folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kind)
    try:
        if case.serves and (answers(case, place, process) or case.serves is True):
            return stop(case, process)
        out, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Violation(f"{case.name}: it did not end within {PATIENCE} s") from None
    text = error.decode(errors="replace").strip()
    told = f"{case.name}: status {process.returncode}, {text!r}, {out.decode(errors='replace').strip()!r}"
    if process.returncode not in case.statuses:
        raise Violation(told)
    if process.returncode != 0:
        judge_sentence(case, re.sub(r"(\./){100,}|x{100,}", "", text), told)
        if not case.changes:
            if place.content() != before:
                raise Violation(f"{told}: the database is another one now")
            if place.names() != names:
                raise Violation(f"{told}: left behind or lost: {place.names() ^ names}")
    elif case.says and case.says not in text + out.decode(errors="replace"):
        raise Violation(told)
    if case.after and (wrong := case.after(place)):
        raise Violation(f"{told}: {wrong}")
    return process.returncode, text or out.decode(errors="replace").strip()


def judge_sentence(case, text, told):
    if not text or TECHNICAL.search(text) or "\x1b" in text:
        raise Violation(f"{told}: no plain sentence")
    if len(text) > 2000 or len(text.splitlines()) > 25:
        raise Violation(f"{told}: too long for a sentence")
    if case.says and case.says not in text:
        raise Violation(f"{told}: it does not say {case.says!r}")


def answers(case, place, process):
    """Whether the server answers; false when it ended before that."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", place.port), timeout=5) as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                if b" 200 " in connection.recv(4096):
                    return True
        except OSError:
            pass
        if time.monotonic() > deadline:
            process.kill()
            raise Violation(f"{case.name}: it does not answer: {process.communicate()[1].decode()[-800:]!r}")
        time.sleep(0.05)
    return False


def stop(case, process):
    process.send_signal(signal.SIGTERM)
    error = process.communicate(timeout=PATIENCE)[1]
    if process.returncode != 0:
        raise Violation(f"{case.name}: it ended with {process.returncode}: {error.decode()[-800:]!r}")
    return 0, "served"


def template(folder):
    """A database with the demo in it, and its backup."""
    server = Server(folder, folder)
    process = subprocess.Popen(
        [server.program, "serve", "--database", server.database, "--port", str(free_port()), "--demo",
         "--access-journal-bytes", "65536"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=server.environment, text=True)
    for line in process.stderr:
        if "serving" in line:
            break
    server.command("backup", Path(folder) / "backup.sqlite")
    process.terminate()
    process.communicate(timeout=PATIENCE)
    return server


def rounds(words):
    def each(folder):
        home = Path(folder) / "template"
        home.mkdir()
        server = template(home)
        shutil.copy2(server.program, Path(folder) / "kalends")
        os.chmod(folder, 0o755)
        passed = {}
        faults = []
        for case in hostile_cases.all_cases(Case):
            if words.only and words.only not in case.name:
                continue
            if case.unprivileged and os.geteuid() != 0:
                continue
            own = Path(folder) / "case"
            own.mkdir()
            try:
                status, text = run(case, Place(own, home, Path(folder) / "kalends"), server.environment)
                if words.say:
                    print(f"{status} {case.name}: {text}", flush=True)
                group = case.name.split(":")[0]
                passed[group] = passed.get(group, 0) + 1
            except Violation as violation:
                if words.say:
                    print(f"VIOLATED {violation}", flush=True)
                faults.append(str(violation))
            finally:
                subprocess.run(["chmod", "-R", "u+rwx", own], check=False, capture_output=True)
                shutil.rmtree(own)
        if faults:
            raise Violation(f"{len(faults)} of {sum(passed.values()) + len(faults)}\n" + "\n".join(faults))
        yield from passed.items()
        yield "all", sum(passed.values())
    return each


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="only cases with this in their name")
    parser.add_argument("--say", action="store_true", help="print what each case said")
    report.run(
        "Hostile files: a sentence and a status, never a crash, a wait or a half state",
        [("place", 14), ("cases", 6)], rounds(parser.parse_args()))

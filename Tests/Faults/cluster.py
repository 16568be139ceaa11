# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of the harness's own."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from server import Violation

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


class Cluster:
    """A PostgreSQL in a folder of its own, on a socket only; or on a host of a network of namespaces, too."""

    listens = ""

    def __init__(self, network=None, name="database"):
        self.make_home()
        if network:
            self.owner, self.listens = [*network.launcher(name), *self.owner], network.addresses[name]
        self.run("initdb", "-D", self.data, "-U", "kalends", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        if network:
            with open(self.data / "pg_hba.conf", "a") as rules:
                rules.write(f"host all all {network.range} trust\n")
        self.start()
        self.ask("CREATE DATABASE kalends", "postgres")

    def make_home(self):
        self.home = Path(tempfile.mkdtemp(prefix="kalends-postgresql-"))
        self.programs = PROGRAMS[-1].parent
        self.owner = []
        if os.getuid() == 0:
            shutil.chown(self.home, "postgres")
            self.owner = ["runuser", "-u", "postgres", "--"]
        self.home.chmod(0o755)
        self.data = self.home / "data"

    @property
    def address(self):
        return f"host={self.home} user=kalends dbname=kalends"

    def run(self, program, *words):
        done = subprocess.run(
            [*self.owner, self.programs / program, *words], cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.errors())
        if done.returncode != 0:
            raise Violation(f"{program} ended with {done.returncode}: {self.tail()}")

    def errors(self):
        """Where the words of programs go; never a pipe, which a server that is started would keep open."""
        return open(self.home / "errors", "ab")

    def tail(self):
        logs = [path.read_text(errors="replace")[-600:] for path in (self.home / "errors", self.home / "log") if path.exists()]
        return "\n".join(logs)

    def start(self, more=""):
        """`more`: settings for this start only."""
        settings = (f"-c listen_addresses={self.listens} -c unix_socket_directories={self.home} "
                    f"-c unix_socket_permissions=0777 -c max_connections=200 {more}")
        self.run("pg_ctl", "start", "-D", self.data, "-l", self.home / "log", "-w", "-o", settings)

    def crash(self):
        self.run("pg_ctl", "stop", "-D", self.data, "-m", "immediate")

    def ask(self, statement, database="kalends"):
        done = subprocess.run(
            [self.programs / "psql", "-h", self.home, "-U", "kalends", "-d", database, "-Atc", statement],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise Violation(f"psql ended with {done.returncode}: {done.stderr}")
        return done.stdout.strip()

    def settle(self, name, text):
        """Writes a file of settings into the cluster's folder."""
        path = self.data / name
        path.write_text(text)
        if self.owner:
            shutil.chown(path, "postgres", "postgres")

    def sessions(self):
        found = self.ask("SELECT pid FROM pg_stat_activity WHERE datname = 'kalends' AND pid <> pg_backend_pid()")
        return [int(line) for line in found.split()]

    def close(self):
        try:
            if (self.data / "postmaster.pid").exists():
                self.crash()
        finally:
            shutil.rmtree(self.home, ignore_errors=True)


class Replicated(Cluster):
    """A PostgreSQL whose commits wait until its standby has applied them, once it has one; or such a standby."""

    def __init__(self, primary=None, settings=""):
        """`settings`: a standby's own."""
        if primary is None:
            super().__init__()
            self.crash()
            with open(self.data / "postgresql.conf", "a") as file:
                file.write("synchronous_commit = remote_apply\ninclude_if_exists = 'pair.conf'\nmax_connections = 100\n")
            self.start()
        else:
            self.make_home()
            self.follow(primary, settings)

    def follow(self, primary, settings=""):
        """Becomes a standby of another one, on which every commit waits from here on."""
        self.run("pg_basebackup", "-D", self.data, "-h", primary.home, "-U", "kalends", "-R", "-X", "stream", "-c", "fast")
        self.settle("pair.conf", settings)
        self.start()
        primary.wait_for_commits("*")
        for _ in range(300):
            state = primary.ask(
                "SELECT sync_state, replay_lsn >= pg_current_wal_lsn() FROM pg_stat_replication", "postgres")
            if state == "sync|t":
                return
            time.sleep(0.1)
        raise Violation(f"the standby does not follow: {state}")

    def wait_for_commits(self, standbys):
        """Has every commit wait for a standby, or for none."""
        self.settle("pair.conf", f"synchronous_standby_names = '{standbys}'\n")
        self.run("pg_ctl", "reload", "-D", self.data)

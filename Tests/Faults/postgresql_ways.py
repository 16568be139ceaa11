# SPDX-License-Identifier: Apache-2.0
"""The ways to a PostgreSQL that docs/nodes.md describes: by TLS with a checked certificate and a password file, and
through PgBouncer in session mode; what is refused in one sentence; and that the password is in nothing that is printed.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/postgresql_ways.py
"""

import os
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

from cluster import PROGRAMS, Cluster
from load import Load
from ports import free_port
from report import check_bracket, check_written, run, skip
from server import Feed, Server, Violation

TITLE = "Ways to a PostgreSQL:"
PASSWORD = "n0b0dy-sh0uld-read-this"
POOLER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


class Secured(Cluster):
    """A PostgreSQL on the loopback that lets in by TLS and password only, in addition to its own socket."""

    def __init__(self):
        super().__init__()
        self.crash()
        self.port = free_port()
        self.authority("ca")
        self.authority("another")
        self.certificate("server", "ca")
        self.settle("pg_hba.conf", "local all all trust\nhostssl all kalends 127.0.0.1/32 scram-sha-256\n")
        self.start()
        self.ask(f"SET password_encryption = 'scram-sha-256'; ALTER ROLE kalends PASSWORD '{PASSWORD}'")

    def start(self, more=""):
        if hasattr(self, "port"):
            more += f" -c listen_addresses=127.0.0.1 -c port={self.port}"
            if (self.data / "server.crt").exists():
                more += " -c ssl=on"
        super().start(more)

    def ask(self, statement, database="kalends"):
        os.environ["PGPORT"] = str(getattr(self, "port", 5432))
        return super().ask(statement, database)

    def openssl(self, *words):
        done = subprocess.run(["openssl", *words], capture_output=True, text=True, cwd=self.home)
        if done.returncode:
            raise Violation(f"openssl: {done.stderr}")

    def authority(self, name):
        self.openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
            f"/CN={name} of a test", "-keyout", f"{name}.key", "-out", f"{name}.crt")

    def certificate(self, name, authority, host="localhost"):
        self.openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={host}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (self.home / "names").write_text(f"subjectAltName=DNS:{host}\n")
        self.openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key", "-days", "2",
            "-extfile", "names", "-out", f"{name}.crt")
        for suffix in ("crt", "key"):
            path = self.data / f"{name}.{suffix}"
            shutil.copy(self.home / f"{name}.{suffix}", path)
            path.chmod(0o600)
            if self.owner:
                shutil.chown(path, "postgres", "postgres")

    def way(self, **more):
        """An address that leads to it by TLS."""
        words = {
            "host": "localhost", "hostaddr": "127.0.0.1", "port": self.port, "user": "kalends", "dbname": "kalends",
            "sslmode": "verify-full", "sslrootcert": self.home / "ca.crt"} | more
        return " ".join(f"{name}={value}" for name, value in words.items())


class Pooler:
    """A PgBouncer before it, on the loopback."""

    def __init__(self, cluster, mode):
        self.home, self.port = cluster.home / f"pooler-{mode}", free_port()
        self.home.mkdir()
        (self.home / "users").write_text('"kalends" ""\n')
        (self.home / "pooler.ini").write_text(f"""[databases]
kalends = host={cluster.home} port={cluster.port} user=kalends dbname=kalends
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = trust
auth_file = {self.home}/users
pool_mode = {mode}
default_pool_size = 20
max_client_conn = 100
ignore_startup_parameters = extra_float_digits
logfile = {self.home}/log
pidfile = {self.home}/pid
""")
        if cluster.owner:
            for path in (self.home, self.home / "users", self.home / "pooler.ini"):
                shutil.chown(path, "postgres")
        self.process = subprocess.Popen(
            [*cluster.owner, POOLER, "-q", self.home / "pooler.ini"], cwd="/", stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        time.sleep(0.5)

    @property
    def address(self):
        return f"host=127.0.0.1 port={self.port} user=kalends dbname=kalends sslmode=disable"

    def close(self):
        self.process.terminate()
        self.process.wait(20)


class Ways:
    """Servers at one address after another, and everything that they printed."""

    def __init__(self, folder):
        self.folder, self.said, self.number = Path(folder), [], 0

    def server(self, address, environment=None):
        self.number += 1
        place = self.folder / str(self.number)
        place.mkdir()
        if self.number > 1:
            os.link(self.folder / "1" / "kalends", place / "kalends")
        server = Server(place, place, {"KALENDS_FILES": str(self.folder / "k")} | (environment or {}))
        server.database = address
        return server

    def feeds(self, server):
        """Feeds of this server's own, in the circles that the first one made."""
        if self.number == 1:
            made = server.fill()
            self.key = server.key
            return made
        server.key = self.key
        made = []
        for circle in ("still", "written"):
            feed = server.must("POST", f"/v1/circles/{circle}/feeds", {"userId": "ann", "label": f"way {self.number}"})
            made.append(Feed(feed["id"], urlsplit(feed["url"]).path, circle))
        return made

    def refused(self, address, *words, environment=None):
        """The sentence with which a server ends that is not let in."""
        server = self.server(address, environment)
        done = subprocess.run(
            [server.program, "serve", "--database", address, "--port", "0"], capture_output=True, text=True,
            env=server.environment, timeout=60)
        text = done.stdout + done.stderr
        self.said.append(text)
        lines = [line for line in text.splitlines() if line.strip()]
        if done.returncode == 0 or len(lines) != 1 or not all(word in text for word in words):
            raise Violation(f"ended with {done.returncode} and said {lines}, without {words}")
        return lines[0]

    def served(self, address, seconds=2.0, environment=None, disturb=None):
        """A while under load; what was acknowledged has to be there."""
        server = self.server(address, environment)
        try:
            server.start()
            server.wait()
            load = Load(server, self.feeds(server), readers=2, circle="written")
            load.start()
            time.sleep(seconds / 2)
            if disturb:
                disturb()
            time.sleep(seconds / 2)
            load.stop()
            sums, written = check_bracket(server, load), check_written(server, load)
            self.said.append(server.command("settings"))
            self.said.append(server.command("doctor"))
            if not written:
                raise Violation("nothing was written")
        finally:
            server.stop()
            self.said.append(server.log.read_text(errors="replace"))
        return f"{sums[1]} reads, {written} writes, {load.refused_writes} refused"

    def listed(self, process):
        """What other users of the machine read of a process."""
        self.said.append(Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace"))

    def look_for(self, secret):
        if any(secret in text for text in self.said):
            raise Violation("the password is in what was printed")
        for path in self.folder.rglob("*"):
            if path.is_file() and path.name not in ("kalends", "passwords") and secret.encode() in path.read_bytes():
                raise Violation(f"the password is in {path.name}")
        return sum(len(text) for text in self.said)


def rounds(folder):
    cluster, ways = Secured(), Ways(folder)
    try:
        passwords = Path(folder) / "passwords"
        passwords.write_text(f"localhost:{cluster.port}:kalends:kalends:{PASSWORD}\n")
        passwords.chmod(0o600)
        known = {"passfile": passwords}
        yield "verify-full, passfile", ways.served(cluster.way(**known))
        yield "password in an address", ways.served(
            f"postgres://kalends:{PASSWORD}@localhost:{cluster.port}/kalends"
            f"?sslmode=verify-full&sslrootcert={cluster.home}/ca.crt&hostaddr=127.0.0.1", environment=None)
        yield "ended sessions, TLS", ways.served(cluster.way(**known), disturb=lambda: cluster.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'kalends'"))
        yield "another authority", ways.refused(
            cluster.way(sslrootcert=cluster.home / "another.crt", **known), "certificate verify failed")
        yield "another host's name", ways.refused(cluster.way(host="db.example", **known), "does not match host name")
        yield "no TLS", ways.refused(cluster.way(sslmode="disable", **known), "no encryption")
        wrong = Path(folder) / "wrong"
        wrong.write_text(f"localhost:{cluster.port}:kalends:kalends:{PASSWORD[::-1]}\n")
        wrong.chmod(0o600)
        yield "a wrong password", ways.refused(cluster.way(passfile=wrong), "password authentication failed")
        empty = Path(folder) / "empty"
        empty.touch(0o600)
        yield "no password", ways.refused(cluster.way(passfile=empty), "no password supplied")
        yield "password nowhere", f"{ways.look_for(PASSWORD)} characters looked through"
        if not POOLER:
            yield "PgBouncer", "is not there (Debian: apt-get install pgbouncer)"
            return
        pooler = Pooler(cluster, "session")
        try:
            yield "PgBouncer, session mode", ways.served(pooler.address)
            second = ways.server(pooler.address)
            second.start()
            second.wait()
            try:
                yield "a second server there", ways.refused(pooler.address, "Another process uses this database",
                                                            environment={"KALENDS_FILES": f"{folder}/other"})
            finally:
                second.stop()
        finally:
            pooler.close()
        pooler = Pooler(cluster, "transaction")
        try:
            yield "PgBouncer, transaction mode", ways.refused(pooler.address, "has to pool sessions")
        finally:
            pooler.close()
    finally:
        os.environ.pop("PGPORT", None)
        cluster.close()


if __name__ == "__main__":
    if not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(TITLE, [("way", 28), ("outcome", 0)], rounds)

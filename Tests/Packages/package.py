# SPDX-License-Identifier: Apache-2.0
"""Installs packages in a bare Debian with its own systemd, serves from them, upgrades under load, removes and purges.

    sudo python3 -B Tests/Packages/package.py OLD.deb NEW.deb [--folder FOLDER] [--mirror URL]

The root is made by debootstrap and holds nothing but the minimal system and systemd, which systemd-nspawn starts as on
a machine: what starts, stops and limits the server are the package's scripts and units. The network is that of this
machine, so the socket gets a port of its own, in the way that docs/operations.md describes.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

SUITE = "bookworm"
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/root"}


def check(condition, text):
    if not condition:
        raise SystemExit(f"package: FAILED: {text}")
    print(f"  ok  {text}", flush=True)


class Machine:
    """A bare Debian in a folder, started."""

    def __init__(self, folder, mirror):
        self.path = Path(folder)
        archive = self.path.parent / f"{SUITE}-systemd.tar"
        if not archive.exists():
            subprocess.run(
                ["debootstrap", "--variant=minbase", "--include=systemd-sysv", SUITE, str(self.path), mirror],
                check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["tar", "-cf", str(archive), "-C", str(self.path), "."], check=True)
        else:
            self.path.mkdir(parents=True)
            subprocess.run(["tar", "-xf", str(archive), "-C", str(self.path)], check=True)
        command = [
            "systemd-nspawn", "--quiet", "--boot", "--directory", str(self.path), "--machine", "kalends-package",
            "--console", "pipe", "--resolv-conf", "replace-host"]
        # Without a systemd of its own, this machine keeps no list of others.
        if not Path("/run/systemd/system").exists():
            command += ["--register=no", "--keep-unit"]
        self.console = open(self.path.parent / "console.log", "wb")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.console, stderr=subprocess.STDOUT)
        state = self.wait_until_up()
        check(state in ("running", "degraded"), f"it starts, with systemd as its first process ({state})")

    def wait_for_first(self):
        """Returns the process that is number 1 in there; for a moment it is one that only prepares it."""
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            if children:
                return children[0]
            time.sleep(0.1)
        raise SystemExit("package: systemd-nspawn starts nothing here; see console.log")

    def wait_until_up(self):
        until, state = time.monotonic() + 120, ""
        while time.monotonic() < until and state not in ("running", "degraded"):
            time.sleep(0.5)
            self.first = self.wait_for_first()
            state = self.run("systemctl", "is-system-running", fails=True).stdout.strip()
        return state

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.console.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, *command, fails=False):
        done = subprocess.run(
            ["nsenter", "--target", self.first, "--all", "--root", "--", "env", "--chdir=/", *command],
            capture_output=True, text=True, env=ENVIRONMENT)
        if not fails and done.returncode != 0:
            raise SystemExit(f"package: {' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def install(self, package, *options):
        shutil.copy(package, self.path / "root")
        return self.run(
            "apt-get", "-y", "--no-install-recommends", *options, "install", f"/root/{Path(package).name}").stdout

    def is_active(self, unit):
        return self.run("systemctl", "is-active", unit, fails=True).stdout.strip() == "active"

    def property(self, name):
        return self.run("systemctl", "show", "--property", name, "--value", "kalends.service").stdout.strip()

    def log(self, *terms):
        """Returns what the server itself wrote, from the journal."""
        return self.run("journalctl", "--output=cat", "_COMM=kalends", *terms).stdout.splitlines()


def ask(port, method, path, key=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data


class Readers:
    """Clients that read a feed again and again, each time by a connection of its own."""

    def __init__(self, port, path, count=8):
        self.port, self.path = port, path
        self.done, self.slowest, self.failures, self.ends = 0, 0.0, [], threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.read) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def read(self):
        while not self.ends.is_set():
            began = time.monotonic()
            try:
                status, data = ask(self.port, "GET", self.path)
                fault = None if status == 200 and b"END:VCALENDAR" in data else f"status {status}"
            except (OSError, http.client.HTTPException) as error:
                fault = repr(error)
            with self.lock:
                self.slowest = max(self.slowest, time.monotonic() - began)
                if fault:
                    self.failures.append(fault)
                else:
                    self.done += 1

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def installed(machine):
    """What the package brings, and how its server is limited."""
    print("Installed:", flush=True)
    check(machine.is_active("kalends.socket") and machine.is_active("kalends.service"), "the socket and the server run")
    check(not [path for path in machine.path.rglob("libswift*") if "proc" not in path.parts],
          "there is nothing of Swift in it")
    missing = [line for line in machine.run("ldd", "/usr/bin/kalends").stdout.splitlines() if "not found" in line]
    check(not missing, "every library that the program needs comes with its dependencies")
    config = machine.path / "etc/kalends/kalends.conf"
    check(config.stat().st_mode & 0o777 == 0o640, "the settings are for root and the server's group")
    settings = machine.run("kalends", "settings", "--json", "--config", "/etc/kalends/kalends.conf").stdout
    named = [json.loads(line)["name"] for line in settings.splitlines()]
    # Where the former version's file was changed and kept, the package's own is next to it.
    offered = config.with_name("kalends.conf.dpkg-dist")
    lines = (offered if offered.exists() else config).read_text().splitlines()
    commented = [name for name in named if any(re.match(rf"#\s*{name} =", line) for line in lines)]
    check(named and set(named) - set(commented) == {"database"} and any(re.match("database =", line) for line in lines),
          f"all {len(named)} settings are in the file, each as a comment but the database's place")
    pages = list((machine.path / "usr/share/man").rglob("kalends*"))
    check(len(pages) > 20, f"{len(pages)} manual pages")
    machine.run("bash", "-n", "/usr/share/bash-completion/completions/kalends")
    check((machine.path / "usr/share/zsh/vendor-completions/_kalends").exists()
          and (machine.path / "usr/share/fish/vendor_completions.d/kalends.fish").exists(),
          "completions for bash, zsh and fish")
    units = [f"/lib/systemd/system/kalends.{kind}" for kind in ("service", "socket")]
    text = (machine.path / units[1][1:]).read_text()
    check("\nListenStream=127.0.0.1:8080\n" in text, "the socket is for this machine only")
    found = machine.run("systemd-analyze", "verify", "--man=no", *units)
    check(not found.stdout + found.stderr, "systemd finds nothing wrong with the units")
    exposure = machine.run("systemd-analyze", "security", "--threshold=19", "kalends.service", fails=True)
    check(exposure.returncode == 0, f"exposure below 2.0: {exposure.stdout.strip().splitlines()[-1].strip(' →')}")
    status = machine.run("cat", f"/proc/{machine.property('MainPID')}/status").stdout
    fields = {line.split(":")[0]: line.split(":")[1].split() for line in status.splitlines() if ":" in line}
    user = machine.run("id", "--user", "kalends").stdout.strip()
    check(user != "0" and set(fields["Uid"]) == {user}, "the server runs as its user")
    check(int(fields["CapBnd"][0], 16) == int(fields["CapEff"][0], 16) == 0 and fields["NoNewPrivs"] == ["1"]
          and fields["Seccomp"] == ["2"], "it has no capability, gets none, and its system calls are filtered")
    check(not list(machine.path.glob("etc/logrotate.d/kalends*")) and not list(machine.path.glob("var/log/kalends*")),
          "it writes no file of log")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    parser.add_argument("--folder", default=".tools/debian")
    options = parser.parse_args()
    folder = Path(options.folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "root").exists():
        raise SystemExit(f"package: {folder / 'root'} is there already, perhaps of a run that goes on")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    print("A bare Debian:", flush=True)
    machine = Machine(folder / "root", options.mirror)
    try:
        try_all(machine, port, options)
    except BaseException:
        journal = machine.run("journalctl", "--no-pager", fails=True).stdout.splitlines()
        print(*[line for line in journal if " info request " not in line][-40:], sep="\n", file=sys.stderr)
        raise
    finally:
        machine.close()
    print("package: all is well")


def try_all(machine, port, options):
    place = machine.path / "etc/systemd/system/kalends.socket.d"
    place.mkdir(parents=True)
    (place / "port.conf").write_text(f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{port}\n")
    machine.run("apt-get", "-qq", "update")
    machine.install(options.old)
    config, data = machine.path / "etc/kalends/kalends.conf", machine.path / "var/lib/kalends"

    print("The version before:", flush=True)
    check(machine.is_active("kalends.service"), "it runs: " + machine.run("kalends", "--version").stdout.strip())
    key = machine.run("kalends-admin", "key", "create", "--name", "test").stdout.strip()
    check(ask(port, "PUT", "/v1/circles/c", key, {"name": "Care", "timeZone": "UTC"})[0] == 201, "the API answers")
    soon = time.strftime("%Y-%m-%dT09:00:00Z", time.gmtime(time.time() + 2 * 86400))
    made = [
        ask(port, "PUT", f"/v1/circles/c/tasks/t{number}", key, {"title": f"Task {number}", "dueAt": soon})[0]
        for number in range(20)]
    check(made == [201] * 20, "items are made")
    calendar = (
        b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\n"
        b"DTSTART:20300101T100000Z\r\nSUMMARY:Imported\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/circles/c/imports?mode=commit", calendar, {
        "Content-Type": "text/calendar", "Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    answer.read()
    check(answer.status in (200, 201), "a file is imported, by a process that may do nothing else")
    ask(port, "PUT", "/v1/circles/c/members/ann", key, {"displayName": "Ann", "role": "owner"})
    status, body = ask(port, "POST", "/v1/circles/c/feeds", key, {"userId": "ann"})
    check(status == 201, "a feed is made")
    feed = json.loads(body)
    path = "/" + feed["url"].split("/", 3)[3]
    status, before = ask(port, "GET", path)
    check(status == 200 and before.count(b"BEGIN:VEVENT") == 20 + (b"Imported" in before),
          f"the feed is read, {len(before)} bytes")

    print("Upgrade under load:", flush=True)
    with config.open("a") as file:
        file.write("\ntitlePrefix = UP\n")
    former, schema = machine.property("MainPID"), schema_version(data)
    readers = Readers(port, path)
    time.sleep(2)
    # As by hand: "keep the present file" is what dpkg proposes when the new one differs as well.
    machine.install(options.new, "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold")
    check(machine.is_active("kalends.service") and machine.property("MainPID") != former,
          f"another server runs; the schema went from {schema} to {schema_version(data)}")
    time.sleep(2)
    readers.stop()
    check(not readers.failures, f"{readers.done} reads by connections of their own, none refused or cut off, "
          f"the slowest {readers.slowest:.1f} s {sorted(set(readers.failures))[:5]}")
    check(any(line.endswith(" notice stopped") for line in machine.log()), "the former version ended in order")
    check("titlePrefix = UP" in config.read_text(), "the changed settings are kept")
    status, body = ask(port, "GET", f"/v1/feeds/{feed['id']}", key)
    counted = json.loads(body)["accessCount"]
    check(counted == readers.done + 1, f"each read is counted once ({counted})")
    after = ask(port, "GET", path)[1]
    check(after.count(b"BEGIN:VEVENT") == before.count(b"BEGIN:VEVENT") and b"UP:" in after,
          "the new version serves the same items, by the changed settings")
    doctor = machine.run("kalends-admin", "doctor")
    check("BAD" not in doctor.stdout, "doctor finds nothing")
    installed(machine)
    own = machine.log(f"_SYSTEMD_INVOCATION_ID={machine.property('InvocationID')}")
    check(own and all(re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z [a-z]+ ", line) for line in own),
          f"{len(own)} lines in systemd's journal, each a line of its log")

    print("Reloaded and killed:", flush=True)
    running = machine.property("MainPID")
    machine.run("systemctl", "reload", "kalends")
    check(ask(port, "GET", path)[0] == 200 and machine.property("MainPID") == running, "reload keeps it running")
    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "kalends")
    began = time.monotonic()
    check(ask(port, "GET", path)[0] == 200 and machine.property("MainPID") not in ("0", running),
          f"killed, it is started again; a read waits for it, {time.monotonic() - began:.1f} s")
    sealed(machine, port, path, data)

    print("Remove and purge:", flush=True)
    machine.run("apt-get", "-y", "remove", "kalends")
    with socket.socket() as another:
        check(not machine.is_active("kalends.service") and not machine.is_active("kalends.socket")
              and another.connect_ex(("127.0.0.1", port)) != 0, "removed: nothing runs or listens")
    check(not (machine.path / "usr/bin/kalends").exists() and config.exists() and (data / "kalends.sqlite").exists(),
          "settings and data are kept")
    machine.install(options.new)
    check(machine.is_active("kalends.service") and ask(port, "GET", path)[0] == 200,
          "installed again: the same feed is there")
    machine.run("apt-get", "-y", "purge", "kalends")
    secrets_left = list((machine.path / "etc/credstore.encrypted").glob("kalends.*"))
    check(not config.parent.exists() and not data.exists() and not secrets_left,
          "purged: settings, sealed secrets and data are gone")
    left = machine.run(
        "find", "/etc", "/usr", "/lib/systemd", "/var/lib", "-xdev", "-name", "*kalends*", "-not", "-path",
        "/var/lib/dpkg/*", "-not", "-path", "/etc/systemd/system/kalends.socket.d*").stdout.split()
    check(not left, f"nothing is left but its user {left}")


def sealed(machine, port, path, data):
    """The sealing key in systemd's credentials, by the commands of docs/operations.md, Secrets in a vault."""
    print("The key in systemd's credentials:", flush=True)
    on_disk = data / "kalends.sqlite.key"
    text = on_disk.read_text().strip()
    store = machine.path / "etc/credstore.encrypted"
    machine.run("install", "-d", "-m", "0700", "/etc/credstore.encrypted")
    machine.run("systemd-creds", "encrypt", "--name=kalends.secretKey", "/var/lib/kalends/kalends.sqlite.key",
                "/etc/credstore.encrypted/kalends.secretKey")
    on_disk.unlink()
    machine.run("systemctl", "restart", "kalends.service")
    check(ask(port, "GET", path)[0] == 200 and not on_disk.exists(),
          "the server opens what is sealed without a key on the disk, and makes none")
    check("BAD" not in machine.run("kalends-admin", "doctor").stdout, "doctor finds nothing")
    settings = machine.run("kalends-admin", "settings", "--json").stdout
    values = {json.loads(line)["name"]: json.loads(line) for line in settings.splitlines()}
    check(values["secretKey"]["from"] == "credential" and text not in settings, "settings name the source, and no value")
    machine.run("systemctl", "stop", "kalends.socket", "kalends.service")
    check("BAD" not in machine.run("kalends-admin", "doctor").stdout and not on_disk.exists(),
          "commands without the server have the key too")
    check(not list((machine.path / "run").glob("kalends-admin.*")), "and leave nothing behind")
    clear = [file for folder in (store, data) for file in folder.rglob("*")
             if file.is_file() and text.encode() in file.read_bytes()]
    check(not clear, f"no file holds the key in clear {clear}")
    machine.run("systemctl", "start", "kalends.socket", "kalends.service")


def schema_version(data):
    base = sqlite3.connect(f"file:{data / 'kalends.sqlite'}?mode=ro", uri=True)
    try:
        return base.execute("SELECT MAX(version) FROM schema_migrations").fetchone()[0]
    finally:
        base.close()


main()

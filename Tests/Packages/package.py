# SPDX-License-Identifier: Apache-2.0
"""Installs packages in a bare Debian, serves from them, upgrades under load, removes and purges.

    sudo python3 -B Tests/Packages/package.py OLD.deb NEW.deb [--root FOLDER] [--mirror URL]

The root is made by debootstrap and holds nothing but the minimal system. There is no systemd in it: what systemd does
(the user, the socket, the notification) is done here as the unit says.
"""

import argparse
import configparser
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SUITE = "bookworm"


def check(condition, text):
    if not condition:
        raise SystemExit(f"package: FAILED: {text}")
    print(f"  ok  {text}", flush=True)


class Root:
    """A bare Debian in a folder."""

    def __init__(self, folder, mirror):
        self.path = Path(folder)
        archive = self.path.parent / f"{SUITE}.tar"
        if not archive.exists():
            subprocess.run(
                ["debootstrap", "--variant=minbase", SUITE, str(self.path), mirror], check=True,
                stdout=subprocess.DEVNULL)
            subprocess.run(["tar", "-cf", str(archive), "-C", str(self.path), "."], check=True)
        else:
            self.path.mkdir(parents=True)
            subprocess.run(["tar", "-xf", str(archive), "-C", str(self.path)], check=True)
        for kind, place in [("proc", "proc"), ("sysfs", "sys")]:
            subprocess.run(["mount", "-t", kind, kind, str(self.path / place)], check=True)
        subprocess.run(["mount", "--bind", "/dev", str(self.path / "dev")], check=True)
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")
        # Nothing is started by a package in a root that nobody booted.
        (self.path / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (self.path / "usr/sbin/policy-rc.d").chmod(0o755)

    def close(self):
        for place in ["dev", "sys", "proc"]:
            subprocess.run(["umount", "-l", str(self.path / place)], check=False)
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, *command, fails=False, **options):
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8",
            "HOME": "/root"}
        done = subprocess.run(
            ["chroot", str(self.path), *command], capture_output=True, text=True, env=environment, **options)
        if not fails and done.returncode != 0:
            raise SystemExit(f"package: {' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def install(self, package):
        shutil.copy(package, self.path / "var/tmp")
        return self.run(
            "apt-get", "-y", "--no-install-recommends", "install", f"/var/tmp/{Path(package).name}").stdout


class Unit:
    """What systemd reads of the package's units."""

    def __init__(self, root):
        folder = root.path / "lib/systemd/system"
        self.service, self.socket = self.read(folder / "kalends.service"), self.read(folder / "kalends.socket")

    @staticmethod
    def read(path):
        parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
        parser.optionxform = str
        parser.read(path)
        return parser


class Server:
    """A server that is started as its unit says: as its user, with the socket passed, and heard when it is ready."""

    def __init__(self, root, unit, listening):
        self.notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        place = root.path / "run/notify"
        place.unlink(missing_ok=True)
        self.notes.bind(str(place))
        place.chmod(0o777)
        self.notes.settimeout(60)
        service = unit.service["Service"]
        command = service["ExecStart"].split()
        users = {line.split(":")[0]: line.split(":") for line in (root.path / "etc/passwd").read_text().splitlines()}
        user = users[service["User"]]
        self.log = open(root.path.parent / "server.log", "ab")
        self.process = os.fork()
        if self.process == 0:
            try:
                os.dup2(self.log.fileno(), 2)
                os.dup2(listening.fileno(), 3)
                os.set_inheritable(3, True)
                os.closerange(4, 256)
                os.chroot(root.path)
                os.chdir("/")
                os.setgroups([])
                os.setgid(int(user[3]))
                os.setuid(int(user[2]))
                os.umask(int(service["UMask"], 8))
                os.execve(command[0], command, {
                    "LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "NOTIFY_SOCKET": "/run/notify",
                    "PATH": "/usr/bin:/bin"})
            finally:
                os._exit(127)
        try:
            self.is_ready = self.notes.recv(100) == b"READY=1"
        except TimeoutError:
            self.is_ready = False

    def stop(self):
        os.kill(self.process, signal.SIGTERM)
        stopping = self.notes.recv(100) == b"STOPPING=1"
        status = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        self.notes.close()
        return stopping and status == 0


def ask(port, method, path, key=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
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
        self.done, self.failures, self.ends = 0, [], threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.read) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def read(self):
        while not self.ends.is_set():
            try:
                status, data = ask(self.port, "GET", self.path)
                fault = None if status == 200 and b"END:VCALENDAR" in data else f"status {status}"
            except OSError as error:
                fault = repr(error)
            except http.client.HTTPException as error:
                fault = repr(error)
            with self.lock:
                if fault:
                    self.failures.append(fault)
                else:
                    self.done += 1

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    parser.add_argument("--folder", default=".tools/debian")
    options = parser.parse_args()
    folder = Path(options.folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.log").unlink(missing_ok=True)
    if (folder / "root").exists():
        raise SystemExit(f"package: {folder / 'root'} is there already, perhaps with mounts of an earlier run")
    root = Root(folder / "root", options.mirror)
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    port = listening.getsockname()[1]
    server = None
    try:
        print("A bare Debian:", flush=True)
        root.run("apt-get", "-qq", "update")
        root.install(options.old)
        check(not list(root.path.rglob("libswift*")), "there is nothing of Swift in it")
        missing = [line for line in root.run("ldd", "/usr/bin/kalends").stdout.splitlines() if "not found" in line]
        check(not missing, "every library that the program needs comes with its dependencies")
        check(root.run("kalends", "--help").stdout.startswith("OVERVIEW"), "the program runs")
        config = root.path / "etc/kalends/kalends.conf"
        check(config.stat().st_mode & 0o777 == 0o640, "the settings are for root and the server's group")
        settings = root.run("kalends", "settings", "--json", "--config", "/etc/kalends/kalends.conf").stdout
        named = [json.loads(line)["name"] for line in settings.splitlines()]
        text = config.read_text()
        check(named and all(f"{name} =" in text for name in named), f"all {len(named)} settings are in the file")
        pages = list((root.path / "usr/share/man").rglob("kalends*"))
        check(len(pages) > 20 or (root.path / "etc/dpkg/dpkg.cfg.d").exists(), f"{len(pages)} manual pages")
        unit = Unit(root)
        check(unit.socket["Socket"]["ListenStream"] == "127.0.0.1:8080", "the socket is for this machine only")

        print("Serving:", flush=True)
        server = Server(root, unit, listening)
        check(server.is_ready, "the server starts as its user by the unit's command, and says that it is ready")
        key = root.run("kalends-admin", "key", "create", "--name", "test").stdout.strip()
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
        check(answer.status in (200, 201), "a file is imported by a process that may do nothing else")
        answer.read()
        ask(port, "PUT", "/v1/circles/c/members/ann", key, {"displayName": "Ann", "role": "owner"})
        status, data = ask(port, "POST", "/v1/circles/c/feeds", key, {"userId": "ann"})
        check(status == 201, "a feed is made")
        feed = json.loads(data)
        path = "/" + feed["url"].split("/", 3)[3]
        status, before = ask(port, "GET", path)
        check(status == 200 and b"BEGIN:VCALENDAR" in before, f"the feed is read, {len(before)} bytes")

        print("Upgrade under load:", flush=True)
        with config.open("a") as file:
            file.write("\ntitlePrefix = UP\n")
        readers = Readers(port, path)
        time.sleep(2)
        root.install(options.new)
        began = time.monotonic()
        check(server.stop(), "the former version finishes what it has, and ends in order")
        server = Server(root, unit, listening)
        check(server.is_ready, f"the new one is ready after {time.monotonic() - began:.1f} s")
        time.sleep(2)
        readers.stop()
        check(not readers.failures, f"{readers.done} reads by connections of their own, none refused or cut off "
              f"{sorted(set(readers.failures))[:5]}")
        check("titlePrefix = UP" in config.read_text(), "the changed settings are kept")
        status, data = ask(port, "GET", f"/v1/feeds/{feed['id']}", key)
        counted = json.loads(data)["accessCount"]
        check(counted == readers.done + 1, f"each read is counted once ({counted})")
        check(b"UP:" in ask(port, "GET", path)[1], "the new version serves by the changed settings")
        check(root.run("kalends-admin", "doctor", fails=True).stdout.count("BAD") == 0, "doctor finds nothing")
        check(server.stop(), "it stops in order")
        server = None

        print("Remove and purge:", flush=True)
        root.run("apt-get", "-y", "remove", "kalends")
        data = root.path / "var/lib/kalends"
        check(not (root.path / "usr/bin/kalends").exists() and config.exists() and (data / "kalends.sqlite").exists(),
              "removed: settings and data are kept")
        root.install(options.new)
        server = Server(root, unit, listening)
        check(server.is_ready and ask(port, "GET", path)[0] == 200, "installed again: the same feed is there")
        check(server.stop(), "it stops in order")
        server = None
        root.run("apt-get", "-y", "purge", "kalends")
        check(not config.exists() and not data.exists(), "purged: settings and data are gone")
    except BaseException:
        log = folder / "server.log"
        if log.exists():
            sys.stderr.write(log.read_text()[-3000:])
        raise
    finally:
        if server:
            os.kill(server.process, signal.SIGKILL)
            os.waitpid(server.process, 0)
        listening.close()
        root.close()
    print("package: all is well")


main()

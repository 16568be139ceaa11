# SPDX-License-Identifier: Apache-2.0
"""Times the engine against vdirsyncer, with one Radicale: first sync, unchanged sync, one change.

    python3 -B Scripts/bench-caldav.py .build-release/release/kalends-bench --python .tools/python/bin/python [--events 1000]

Each starts with an empty calendar of its own in the same server, and the server counts the requests. The engine's state is
in memory here; vdirsyncer keeps its own in SQLite.

"bare" is a loop that knows everything beforehand: the engine's own bytes, put once more into another empty calendar by eight
connections at once. What is written cannot be there faster than that.
"""

import argparse
import base64
import http.client
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

USER, PASSWORD = "alice", "secret"

parser = argparse.ArgumentParser()
parser.add_argument("bench", help="kalends-bench")
parser.add_argument("--python", required=True, help="an interpreter with Radicale")
parser.add_argument("--events", type=int, default=1000)
options = parser.parse_args()


class Radicale:
    """A server in a folder of its own that logs each request."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = folder / "log"
        (folder / "users").write_text(f"{USER}:{PASSWORD}\n")
        config = folder / "config"
        config.write_text(
            f"[server]\nhosts=127.0.0.1:{self.port}\nmax_connections=64\n"
            f"[auth]\ntype=htpasswd\nhtpasswd_filename={folder}/users\nhtpasswd_encryption=plain\ndelay=0\n"
            f"[storage]\nfilesystem_folder={folder}/collections\n[logging]\nlevel=info\n")
        self.process = subprocess.Popen(
            [options.python, "-m", "radicale", "--config", str(config)], stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("Radicale does not answer")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def requests(self):
        # The log may be a moment behind.
        time.sleep(0.3)
        return self.log.read_bytes().count(b" request for ")

    def stop(self):
        self.process.kill()
        self.process.wait()


def event(number):
    lines = [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//bench//EN", "BEGIN:VEVENT", f"UID:e{number}@bench",
        "DTSTAMP:20261121T010000Z", f"DTSTART:202612{1 + number % 28:02}T{number % 24:02}0000Z",
        f"DTEND:202612{1 + number % 28:02}T{number % 24:02}3000Z", f"SUMMARY:Event {number}",
        "DESCRIPTION:Bring the key", "LOCATION:Main St. 5", "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Event",
        "TRIGGER:-PT15M", "END:VALARM", "END:VEVENT", "END:VCALENDAR", ""]
    return "\r\n".join(lines)


def vdirsyncer(folder, server):
    local = folder / "local" / "care"
    local.mkdir(parents=True)
    for number in range(options.events):
        (local / f"e{number}.ics").write_text(event(number), newline="")
    config = folder / "vdirsyncer"
    config.write_text(
        f'[general]\nstatus_path = "{folder}/status/"\n'
        '[pair care]\na = "local"\nb = "server"\ncollections = ["care"]\nconflict_resolution = "a wins"\n'
        f'[storage local]\ntype = "filesystem"\npath = "{folder}/local/"\nfileext = ".ics"\n'
        f'[storage server]\ntype = "caldav"\nurl = "{server.url}{USER}/"\nusername = "{USER}"\npassword = "{PASSWORD}"\n')

    def run(command):
        before, begun = server.requests(), time.monotonic()
        subprocess.run(
            ["vdirsyncer", "-c", str(config), command], input=b"y\ny\n", capture_output=True, check=True)
        return (time.monotonic() - begun) * 1000, server.requests() - before

    run("discover")
    results = {"first": run("sync"), "unchanged": run("sync")}
    path = local / "e5.ics"
    path.write_text(path.read_text().replace("Event 5", "Event five"), newline="")
    results["one change"] = run("sync")
    return results


def kalends(server):
    out = subprocess.run(
        [options.bench, "in-step", "--url", server.url, "--events", str(options.events)], capture_output=True, text=True,
        check=True).stdout
    rows = (line.split("\t") for line in out.splitlines() if line.count("\t") == 2)
    return {name: (float(milliseconds), int(requests)) for name, milliseconds, requests in rows}


def bare(folder, texts):
    """Milliseconds of the writes only, and of reading what is there in one request."""
    server = Radicale(folder)
    password = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    fields = {"Authorization": f"Basic {password}", "Content-Type": "text/calendar; charset=utf-8", "If-None-Match": "*"}

    def send(method, path, body, fields):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    try:
        plain = {"Authorization": fields["Authorization"]}
        if send("MKCALENDAR", f"/{USER}/bare/", None, plain) != 201:
            sys.exit("Radicale makes no calendar")
        waiting = list(texts.items())
        lock, refused = threading.Lock(), []

        def work():
            while True:
                with lock:
                    if not waiting:
                        return
                    name, text = waiting.pop()
                if send("PUT", f"/{USER}/bare/{name}", text, fields) != 201:
                    refused.append(name)

        begun = time.monotonic()
        workers = [threading.Thread(target=work) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if refused:
            sys.exit(f"Radicale refuses {len(refused)} of the bare writes")
        writing = (time.monotonic() - begun) * 1000
        body = b'<sync-collection xmlns="DAV:"><sync-token/><prop><getetag/></prop></sync-collection>'
        begun = time.monotonic()
        if send("REPORT", f"/{USER}/bare/", body, plain) != 207:
            sys.exit("Radicale does not list")
        return {"first": (writing, len(texts)), "unchanged": ((time.monotonic() - begun) * 1000, 1)}
    finally:
        server.stop()


def main():
    if not shutil.which("vdirsyncer"):
        sys.exit("vdirsyncer not found; it is a Debian package")
    # Radicale waits for the disk at each write: in memory it is the clients that are timed.
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="kalends-bench-", dir=memory) as home:
        results = {}
        for name, work in (("vdirsyncer", vdirsyncer), ("kalends", None)):
            # A server that holds the other's events already would be slower for the second.
            folder = Path(home) / name
            folder.mkdir()
            server = Radicale(folder)
            try:
                results[name] = work(folder, server) if work else kalends(server)
            finally:
                server.stop()
        found = (Path(home) / "kalends" / "collections").rglob("*.ics")
        texts = {path.name: path.read_bytes() for path in found if ".Radicale.cache" not in path.parts}
        if len(texts) < options.events:
            sys.exit(f"the engine left {len(texts)} events of {options.events}")
        folder = Path(home) / "bare"
        folder.mkdir()
        results["bare"] = bare(folder, texts)
    print(f"{options.events} events   {'vdirsyncer':>22}   {'Kalends':>22}   times as fast   {'bare':>22}   of Kalends' time")
    for row in ("first", "unchanged", "one change", "one change there"):
        theirs, ours, floor = results["vdirsyncer"].get(row), results["kalends"][row], results["bare"].get(row)
        cells = ["-" if cell is None else f"{cell[0]:.0f} ms, {cell[1]} requests" for cell in (theirs, ours, floor)]
        factor = f"{theirs[0] / ours[0]:.1f}" if theirs else ""
        share = f"{floor[0] / ours[0] * 100:.0f} %" if floor else ""
        print(f"{row:<16} {cells[0]:>22}   {cells[1]:>22}   {factor:>13}   {cells[2]:>22}   {share}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/operations.md for Caddy and nginx, word for word but for port, certificate and where Kalends listens, in front
of a server: people's networks are told apart, nobody chooses theirs, large files pass, an unchanged poll stays one.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/proxies.py

People come from addresses of the loopback range; the proxies are Debian's.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from ports import free_port
from report import run, skip
from server import Server, Violation

TITLE = "Behind Caddy and nginx, as docs/operations.md has them:"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
HOST = "calendar.example"
# Wrong passwords that one network has before it waits, with room to spare.
GUESSES = 30


def example(language, first):
    """The block of the page in that language that begins so."""
    # Each match ends with its closing fence, so that the next begins with an opening one.
    for name, block in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.M | re.S):
        if name == language and block.startswith(first):
            return block
    raise Violation(f"docs/operations.md has no example that begins with {first!r}")


def replaced(text, *pairs):
    for old, new in pairs:
        if old not in text:
            raise Violation(f"the page's example has no {old!r} any more")
        text = text.replace(old, new)
    return text


class Nginx:
    name = "nginx"

    def __init__(self, folder, port, behind):
        self.folder = Path(folder)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", f"/CN={HOST}", "-keyout", self.folder / "key.pem", "-out", self.folder / "cert.pem"],
            check=True, capture_output=True)
        server = replaced(
            example("nginx", "server {"), ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
            (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", str(self.folder / "cert.pem")),
            (f"/etc/letsencrypt/live/{HOST}/privkey.pem", str(self.folder / "key.pem")),
            ("http://127.0.0.1:8080", f"http://127.0.0.1:{behind}"))
        (self.folder / "nginx.conf").write_text(
            f"user root;\npid {folder}/pid;\nerror_log {folder}/errors;\nevents {{}}\nhttp {{\naccess_log off;\n"
            + "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in
                      ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            + server + "}\n")

    def start(self):
        return subprocess.Popen(
            ["nginx", "-p", self.folder, "-c", self.folder / "nginx.conf", "-g", "daemon off;"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Caddy:
    name = "Caddy"

    def __init__(self, folder, port, behind):
        self.folder = Path(folder)
        site = replaced(
            example("", HOST), (f"{HOST} {{", f"{HOST}:{port} {{\n    tls internal"), ("127.0.0.1:8080", f"127.0.0.1:{behind}"))
        (self.folder / "Caddyfile").write_text(
            "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n" + site)

    def start(self):
        environment = dict(os.environ, XDG_DATA_HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder), HOME=str(self.folder))
        return subprocess.Popen(
            ["caddy", "run", "--config", self.folder / "Caddyfile", "--adapter", "caddyfile"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


class Person:
    """Somebody who comes to the proxy from an address of their own, with curl."""

    def __init__(self, address, port):
        self.address, self.port = address, port

    def ask(self, method, path, body=None, headers=(), seconds=60):
        """Status, headers and body."""
        with tempfile.NamedTemporaryFile() as heads, tempfile.NamedTemporaryFile() as answer, \
                tempfile.NamedTemporaryFile() as sent:
            words = ["curl", "-sk", "--interface", self.address, "--resolve", f"{HOST}:{self.port}:127.0.0.1", "-X", method,
                     "-D", heads.name, "-o", answer.name, "-m", str(seconds)]
            if body is not None:
                sent.write(body)
                sent.flush()
                words += ["--data-binary", f"@{sent.name}"]
            for header in headers:
                words += ["-H", header]
            done = subprocess.run([*words, f"https://{HOST}:{self.port}{path}"], capture_output=True)
            lines = Path(heads.name).read_text().splitlines()
            if done.returncode != 0 or not lines:
                raise ConnectionError(f"curl ended with {done.returncode}")
            statuses = [line for line in lines if line.startswith("HTTP/")]
            named = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines) if value}
            return int(statuses[-1].split()[1]), named, Path(answer.name).read_bytes()

    def guess(self, number, headers=()):
        body = json.dumps({"userId": f"nobody-{self.address}-{number}", "password": "wrong password"}).encode()
        return self.ask("POST", "/v1/sessions", body, ["Content-Type: application/json", *headers])[0]


def wait_for(person):
    for _ in range(200):
        try:
            if person.ask("GET", "/healthz", seconds=5)[0] == 200:
                return
        except ConnectionError:
            pass
        time.sleep(0.05)
    raise Violation("the proxy does not answer")


def check_networks(port):
    """Guesses of one network make that network wait and no other, whatever address it claims."""
    liar, other = Person("127.1.1.1", port), Person("127.9.9.9", port)
    answers = [liar.guess(number, [f"X-Forwarded-For: 198.51.{number}.7"]) for number in range(GUESSES)]
    if answers[0] != 401 or answers[-1] != 429:
        raise Violation(f"one network's guesses under addresses it made up were answered {answers}")
    if other.guess(0) != 401:
        raise Violation("guesses from one network made another wait")
    return f"{answers.index(429)} guesses until one network waits; another does not"


def check_polls(server, port):
    feed = server.must("POST", "/v1/circles/still/feeds", {"userId": "ann", "label": "proxy"})
    if not feed["url"].startswith(f"https://{HOST}/"):
        raise Violation("a feed's address does not begin with the public one")
    path = feed["url"].removeprefix(f"https://{HOST}")
    reader = Person("127.4.4.4", port)
    status, headers, body = reader.ask("GET", path)
    if status != 200 or not body.startswith(b"BEGIN:VCALENDAR\r\n"):
        raise Violation(f"a feed is answered {status}")
    again, _, nothing = reader.ask("GET", path, headers=[f"If-None-Match: {headers['etag']}"])
    packed, _, small = reader.ask("GET", path, headers=["Accept-Encoding: gzip"])
    if again != 304 or nothing or packed != 200:
        raise Violation(f"an unchanged poll is answered {again}, a packed one {packed}")
    count = server.must("GET", f"/v1/feeds/{feed['id']}")["accessCount"]
    if count != 3:
        raise Violation(f"three reads count as {count}")
    return f"{len(body)} bytes, packed {len(small)}, unchanged 304; 3 reads are 3"


def check_large_file(server, port):
    """A file far larger than a proxy takes unless it is told to goes through."""
    event = "BEGIN:VEVENT\r\nUID:{0}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260101T000000Z\r\nSUMMARY:{0}\r\nDESCRIPTION:" \
        + "x" * 30 + ("\r\n " + "x" * 70) * 400 + "\r\nEND:VEVENT\r\n"
    events = "".join(event.format(number) for number in range(1400))
    body = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//proxies//EN\r\n{events}END:VCALENDAR\r\n".encode()
    person = Person("127.5.5.5", port)
    status, _, answer = person.ask(
        "POST", "/v1/circles/written/imports?mode=preview", body,
        [f"Authorization: Bearer {server.key}", "Content-Type: text/calendar"], seconds=300)
    if status not in (200, 201, 202):
        raise Violation(f"a file of {len(body) >> 20} MiB is answered {status}: {answer[:200]}")
    return f"a file of {len(body) >> 20} MiB is taken ({status})"


COLUMNS = [("proxy", 6), ("polls", 58), ("import", 34), ("networks", 52)]


def rounds(folder):
    for kind in (Caddy, Nginx):
        place = Path(folder) / kind.name
        place.mkdir()
        server = Server(place, place, environment={
            "KALENDS_PUBLIC_URL": f"https://{HOST}", "KALENDS_TRUSTED_PROXIES": "127.0.0.1,::1"})
        server.start()
        proxy = None
        try:
            server.wait()
            server.fill(feeds=1, items=200)
            (place / "proxy").mkdir()
            port = free_port()
            proxy = kind(place / "proxy", port, server.port).start()
            wait_for(Person("127.0.0.1", port))
            yield kind.name, check_polls(server, port), check_large_file(server, port), check_networks(port)
        finally:
            if proxy is not None:
                proxy.terminate()
                proxy.wait(20)
            server.stop()


if __name__ == "__main__":
    for program in ("caddy", "nginx", "curl", "openssl"):
        if shutil.which(program) is None:
            skip(TITLE, f"{program} is not installed; run `Tests/Harness proxies`")
    run(TITLE, COLUMNS, rounds)

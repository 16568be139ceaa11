# SPDX-License-Identifier: Apache-2.0
"""CalDAV servers for `bench-door.py`, each in a folder of its own with one calendar of the same texts, and the client."""

import base64
import os
import re
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import quote

HOST, USER, PASSWORD = "127.0.0.1", "alice", "secret"


def processor(root):
    """Seconds of processor time of a process and of all that it started, ended ones included."""
    parents, ticks = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(place.parent.name)] = int(fields[1])
        ticks[int(place.parent.name)] = sum(int(field) for field in fields[11:15])

    def belongs(process):
        while process in parents and process != root:
            process = parents[process]
        return process == root

    return sum(count for process, count in ticks.items() if belongs(process)) / os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def must(self, *statuses):
        if self.status not in statuses:
            raise SystemExit(f"a request is answered {self.status}: {self.body[:400]!r}")
        return self

    def hrefs(self):
        return [href.decode() for href in re.findall(rb"<(?:\w+:)?href(?: [^>]*)?>([^<]+)</(?:\w+:)?href>", self.body)]

    def token(self):
        return re.findall(rb"<(?:\w+:)?sync-token(?: [^>]*)?>([^<]+)<", self.body)[-1].decode()


class Connection:
    """A connection that stays open where the server lets it; little is done other than sending and receiving."""

    def __init__(self, port, user=USER, password=PASSWORD):
        self.port, self.socket = port, None
        word = base64.b64encode(f"{user}:{password}".encode()).decode()
        self.fields = f"Host: {HOST}:{port}\r\nAuthorization: Basic {word}\r\n"

    def send(self, method, path, body=b"", kind=None, **fields):
        kind = kind or ("text/calendar" if body[:5] == b"BEGIN" else "application/xml") + "; charset=utf-8"
        head = f"{method} {path} HTTP/1.1\r\n{self.fields}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        head += "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        message = head.encode() + b"\r\n" + body
        if self.socket:
            try:
                self.socket.sendall(message)
                return self.receive()
            except ConnectionError:
                # It was closed while nothing was asked.
                self.close()
        self.socket = socket.create_connection((HOST, self.port), timeout=300)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(message)
        return self.receive()

    def receive(self):
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0 or data.startswith(b"HTTP/1.1 100"):
            if end >= 0:
                data = data[end + 4:]
                continue
            data += self.more()
        head, parts, size = data[:end].lower(), [data[end + 4:]], len(data) - end - 4
        status = int(head[9:12])
        closes = head.startswith(b"http/1.0") or b"\r\nconnection: close" in head
        length = re.search(rb"\r\ncontent-length: *(\d+)", head)
        if status in (204, 304):
            pass
        elif length:
            while size < int(length[1]):
                parts.append(self.more())
                size += len(parts[-1])
        elif b"\r\ntransfer-encoding: chunked" in head:
            while not (parts[-1] if len(parts[-1]) > 6 else b"".join(parts)).endswith(b"0\r\n\r\n"):
                parts.append(self.more())
            parts = list(self.chunks(b"".join(parts)))
        else:
            while piece := self.socket.recv(1 << 20):
                parts.append(piece)
            closes = True
        if closes:
            self.close()
        return Answer(status, head, b"".join(parts))

    @staticmethod
    def chunks(data):
        place = 0
        while place < len(data):
            end = data.index(b"\r\n", place)
            size = int(data[place:end].split(b";")[0], 16)
            yield data[end + 2:end + 2 + size]
            place = end + size + 4

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        return data

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


def each(values, work, count=8):
    """Does some work for each of many values in so many threads, each with what `work` made for it."""
    values, lock, failed = iter(values), threading.Lock(), []

    def run():
        try:
            act = work()
            while not failed:
                with lock:
                    value = next(values, None)
                if value is None:
                    return
                act(value)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


class Peer:
    """A server that was started, with its calendar."""

    def __init__(self, name, home, calendar, process, port, user=USER, password=PASSWORD):
        self.name, self.home, self.calendar = name, home, calendar
        self.process, self.port, self.user, self.password = process, port, user, password

    def connection(self):
        return Connection(self.port, self.user, self.password)

    def processor(self):
        return processor(self.process.pid)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def wait(self):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                return socket.create_connection((HOST, self.port)).close()
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{self.name} does not answer, and " + (
            "runs" if self.process.returncode is None else f"has ended with {self.process.returncode}"))

    def put_all(self, texts):
        def worker():
            connection = self.connection()
            return lambda pair: connection.send("PUT", self.calendar + quote(pair[0]), pair[1]).must(201, 204)

        each(texts.items(), worker)


def radicale(python, folder, texts):
    """Radicale; the texts are written where it keeps them."""
    port, place = free_port(), folder / "collections/collection-root" / USER / "door"
    place.mkdir(parents=True)
    (place / ".Radicale.props").write_text('{"tag": "VCALENDAR", "D:displayname": "Door"}')
    for name, text in texts.items():
        (place / name).write_bytes(text)
    (folder / "users").write_text(f"{USER}:{PASSWORD}\n")
    (folder / "config").write_text(
        f"[server]\nhosts={HOST}:{port}\nmax_connections=64\ntimeout=300\n"
        f"[auth]\ntype=htpasswd\nhtpasswd_filename={folder}/users\nhtpasswd_encryption=plain\ndelay=0\n"
        f"[storage]\nfilesystem_folder={folder}/collections\n[logging]\nlevel=warning\n")
    process = subprocess.Popen(
        [python, "-m", "radicale", "--config", str(folder / "config")], stdout=(folder / "log").open("wb"),
        stderr=subprocess.STDOUT)
    return Peer("Radicale", f"/{USER}/", f"/{USER}/door/", process, port)


def xandikos(python, folder, texts):
    """Xandikos; the texts are committed to the repository in which it keeps them. It asks for no password here."""
    port, place = free_port(), folder / "root" / USER / "calendars" / "door"
    place.parent.mkdir(parents=True)
    program = Path(python).parent / "xandikos"
    subprocess.run([program, "create-collection", "-d", folder / "root", f"{USER}/calendars/door"],
                   capture_output=True, check=False)
    place.mkdir(exist_ok=True)
    is_bare = not (place / ".git").exists() and (place / "HEAD").exists()
    tree = folder / "tree"
    if is_bare:
        subprocess.run(["git", "clone", "-q", place, tree], capture_output=True, check=True)
    else:
        tree = place
        if not (place / ".git").exists():
            subprocess.run(["git", "init", "-q", place], check=True)
            (place / ".xandikos").write_text("[DEFAULT]\ntype = calendar\n")
    for name, text in texts.items():
        (tree / name).write_bytes(text)
    git = ["git", "-C", tree, "-c", "user.name=door", "-c", "user.email=door@example.com"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "Door"], check=True)
    if is_bare:
        subprocess.run([*git, "push", "-q", "origin", "HEAD"], check=True, capture_output=True)
    process = subprocess.Popen(
        [program, "serve", "--defaults", "-d", folder / "root", "--current-user-principal", f"/{USER}/", "-l", HOST,
         "-p", str(port), "--state-dir", folder / "state"], stdout=(folder / "log").open("wb"), stderr=subprocess.STDOUT)
    return Peer("Xandikos", f"/{USER}/calendars/", f"/{USER}/calendars/door/", process, port)

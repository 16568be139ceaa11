# SPDX-License-Identifier: Apache-2.0
"""A network of its own for a harness, in which some names lead to a calendar and the servers of others say nothing."""

import http.server
import multiprocessing
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

OUTSIDE = "93.184.215.14"
NAMES = "127.0.0.1"
CALENDAR = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:u\r\nDTSTAMP:20260101T000000Z\r\n"
    b"DTSTART:20260303T090000Z\r\nSUMMARY:Gym\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
forked = multiprocessing.get_context("fork")


def own_network():
    """Runs this program again in a network of its own, with this module's name server; returns whether it is in one
    already. Without root and `ip` (Debian: iproute2) there is none."""
    if os.environ.get("HARNESS_NETWORK"):
        for words in ("link set lo up", f"addr add {OUTSIDE}/32 dev lo"):
            subprocess.run(["ip", *words.split()], check=True)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(f"nameserver {NAMES}\n")
            file.flush()
            # The file stays where it is mounted.
            subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
        return True
    is_possible = os.geteuid() == 0 and shutil.which("ip")
    if is_possible and subprocess.run(["unshare", "-n", "-m", "true"], check=False).returncode == 0:
        os.environ["HARNESS_NETWORK"] = "1"
        os.execvp("unshare", ["unshare", "-n", "-m", sys.executable, "-B", *sys.argv])
    return False


def answer(names):
    """Answers whoever asks for `good.example`, and says that all other names but those that begin with `silent` are unknown."""
    while True:
        query, client = names.recvfrom(512)
        labels, place = [], 12
        while query[place]:
            labels.append(query[place + 1:place + 1 + query[place]].decode("latin-1").lower())
            place += query[place] + 1
        if labels[0].startswith("silent"):
            continue
        kind = struct.unpack("!H", query[place + 1:place + 3])[0]
        is_good = labels == ["good", "example"]
        record = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 0, 4) + socket.inet_aton(OUTSIDE) if is_good and kind == 1 else b""
        head = query[:2] + struct.pack("!HHHHH", 0x8180 if is_good else 0x8183, 1, bool(record), 0, 0)
        names.sendto(head + query[12:place + 5] + record, client)


class Calendar(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/calendar")
        self.send_header("Content-Length", str(len(CALENDAR)))
        self.end_headers()
        self.wfile.write(CALENDAR)

    def log_message(self, *_):
        pass


def serve_names():
    """Begins to answer for names, in a process of its own."""
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((NAMES, 53))

    def go():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        answer(names)

    forked.Process(target=go, daemon=True).start()


def serve_calendar():
    """Begins to serve a calendar at `http://good.example/`, in a process of its own."""
    host = http.server.ThreadingHTTPServer((OUTSIDE, 80), Calendar)

    def go():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        host.serve_forever()

    forked.Process(target=go, daemon=True).start()
    host.socket.close()

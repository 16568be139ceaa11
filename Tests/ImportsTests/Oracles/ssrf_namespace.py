# SPDX-License-Identifier: Apache-2.0
"""Runs a server in a network of its own, where every packet is seen, and has it import from forbidden addresses.

Run under `unshare -n -m`. Arguments: the program, a folder, a file with one URL a line. Prints one JSON object.
In this network 93.184.215.14 is a host that answers (with a calendar, or a redirect to where it is told) and 127.0.0.1 a
name server whose names hold their addresses: `a-0a000001.example` is 10.0.0.1, `t-0a000001.example` is the host at the
first question and 10.0.0.1 from then on.
"""

import concurrent.futures
import http.client
import http.server
import ipaddress
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import urllib.parse

GOOD = "93.184.215.14"
CALENDAR = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:u\r\nDTSTAMP:20260101T000000Z\r\n"
    b"DTSTART:20260303T090000Z\r\nSUMMARY:Gym\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
program, folder, list_file = sys.argv[1:]


def sh(*words):
    if subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        print("not possible here:", *words, file=sys.stderr)
        sys.exit(77)


sh("ip", "link", "set", "lo", "up")
# All that leaves comes back on the one interface there is, where it is seen.
sh("ip", "addr", "add", GOOD + "/32", "dev", "lo")
sh("ip", "route", "add", "default", "dev", "lo", "src", GOOD)
sh("ip", "-6", "addr", "add", "2606:2800:21f::99/128", "dev", "lo")
sh("ip", "-6", "route", "add", "local", "default", "dev", "lo")
with open(folder + "/resolv.conf", "w", encoding="ascii") as file:
    file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
sh("mount", "--bind", folder + "/resolv.conf", "/etc/resolv.conf")

# Every TCP or UDP packet that leaves, by where it goes.
seen = {}


def watch(raw):
    while True:
        packet = raw.recvfrom(2048)[0][14:]
        version = packet[0] >> 4 if packet else 0
        if version == 4 and packet[9] in (6, 17):
            start, address = (packet[0] & 15) * 4, packet[16:20]
        elif version == 6 and packet[6] in (6, 17):
            start, address = 40, packet[24:40]
        else:
            continue
        port = struct.unpack("!H", packet[start + 2 : start + 4])[0]
        key = (str(ipaddress.ip_address(address)), port)
        seen[key] = seen.get(key, 0) + 1


raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
threading.Thread(target=watch, args=(raw,), daemon=True).start()

asked = {}


def addresses(name):
    count = asked[name] = asked.get(name, 0) + 1
    found = re.match(r"([atm])-([0-9a-f]{8})\.", name)
    if not found:
        return [GOOD] if name.startswith("good.") else []
    bad = str(ipaddress.ip_address(int(found.group(2), 16)))
    # Both families are asked for, each once a look-up.
    return {"a": [bad], "m": [GOOD, bad], "t": [GOOD] if count <= 1 else [bad]}[found.group(1)]


def answer_names(server):
    while True:
        query, client = server.recvfrom(512)
        name, place = [], 12
        while query[place]:
            name.append(query[place + 1 : place + 1 + query[place]].decode("latin-1"))
            place += query[place] + 1
        kind = struct.unpack("!H", query[place + 1 : place + 3])[0]
        records = addresses(".".join(name).lower()) if kind == 1 else []
        head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, len(records), 0, 0)
        body = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 0, 4) + socket.inet_aton(a) for a in records)
        server.sendto(head + query[12 : place + 5] + body, client)


names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))
threading.Thread(target=answer_names, args=(names,), daemon=True).start()


class Host(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        target = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("to")
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target[0])
        body = b"" if target else CALENDAR
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


host = http.server.ThreadingHTTPServer((GOOD, 80), Host)
threading.Thread(target=host.serve_forever, daemon=True).start()

database = folder + "/k.sqlite"
environment = dict(os.environ, KALENDS_ALLOW_HTTP_IMPORTS="true")
server = subprocess.Popen(
    [program, "serve", "--database", database, "--port", "7999"], env=environment, stderr=open(folder + "/log", "w")
)


def call(method, path, document):
    connection = http.client.HTTPConnection("127.0.0.1", 7999, timeout=60)
    fields = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(document), fields)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def start(url):
    status, body = call("POST", "/v1/circles/c/imports?mode=commit", {"url": url})
    return status


for _ in range(200):
    made = subprocess.run(
        [program, "key", "create", "--name", "t", "--database", database], capture_output=True, text=True)
    if made.returncode == 0:
        break
    threading.Event().wait(0.1)
key = made.stdout.strip()
for _ in range(200):
    try:
        assert call("PUT", "/v1/circles/c", {"name": "C", "timeZone": "UTC"})[0] in (200, 201)
        break
    except OSError:
        threading.Event().wait(0.1)

with open(list_file, encoding="utf-8") as file:
    urls = json.load(file)
bad = [0x0A000001, 0x7F000001, 0xA9FEA9FE, 0xAC100001, 0xC0A80001, 0x64400001, 0x00000000, 0xC6120001, 0xE0000001]
urls += [f"http://{kind}-{number:08x}.example/x" for number in bad for kind in "am"]
urls += [f"http://good.example/?to={urllib.parse.quote(url, safe='')}" for url in urls[::2] if url]
try:
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(start, urls))
        # A name that turns: the first look-up is good, and whatever follows is not.
        turned = list(pool.map(start, [f"http://t-{number:08x}.example/x" for number in bad]))
        turned_later = list(pool.map(start, [f"http://t-{number:08x}.example/x" for number in bad]))
    good = [start("http://good.example/a"), start(f"http://{GOOD}/a"), start("http://good.example/?to=/a")]
    threading.Event().wait(0.5)
finally:
    server.terminate()
    server.wait()

own = {("127.0.0.1", 53), ("127.0.0.1", 7999)}
from_us = {k: n for k, n in seen.items() if k[1] in (80, 443, 8443) or (1024 <= k[1] < 30000)}
leaks = sorted(
    f"{a}:{p}" for a, p in from_us if (a, p) not in own and not ipaddress.ip_address(a).is_global
)
# A packet that does go astray is seen.
probes = [(socket.AF_INET, "10.9.9.9"), (socket.AF_INET, "127.0.0.9"), (socket.AF_INET6, "fd00::9")]
for family, address in probes:
    probe = socket.socket(family, socket.SOCK_STREAM)
    probe.settimeout(0.3)
    probe.connect_ex((address, 80))
    probe.close()
threading.Event().wait(0.2)
print(
    json.dumps(
        {
            "cases": len(urls),
            "refused": sum(status == 422 for status in statuses),
            "others": [u for u, s in zip(urls, statuses) if s != 422][:10],
            "turned": turned,
            "turnedLater": turned_later,
            "good": good,
            "packetsToHost": sum(n for (a, _), n in seen.items() if a == GOOD),
            "leaks": leaks,
            "probesSeen": sum((address, 80) in seen for _, address in probes),
        }
    )
)

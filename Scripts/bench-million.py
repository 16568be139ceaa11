# SPDX-License-Identifier: Apache-2.0
"""Unchanged polls at few feeds and at a million, memory, the start after a kill, and a circle of 100,000 items."""

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Tests", "Faults"))
from running import HOST, call, make_key, memory, path_of, start  # noqa: E402

LUA = """
local requests = {}
for line in io.lines(os.getenv("POLLS")) do
    local path, tag = line:match("(%S+) (%S+)")
    requests[#requests + 1] = "GET " .. path .. " HTTP/1.1\\r\\nHost: x\\r\\nIf-None-Match: " .. tag .. "\\r\\n\\r\\n"
end
math.randomseed(1)
function request() return requests[math.random(#requests)] end
"""


def warm(port, paths, output):
    """Reads every feed once, as after a start, and notes the tag of each; gives reads a second."""
    tag = re.compile(rb"\r\nETag: ([^\r]+)\r\n.*?\r\n\r\n.*?END:VCALENDAR\r\n", re.S)
    connection = socket.create_connection((HOST, port))
    since = time.monotonic()
    with open(output, "w") as file:
        for first in range(0, len(paths), 200):
            group = paths[first:first + 200]
            connection.sendall("".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in group).encode())
            data, tags = b"", []
            while len(tags) < len(group):
                more = connection.recv(1 << 20)
                if not more:
                    raise SystemExit("the server closed the connection")
                data += more
                end = 0
                for found in tag.finditer(data):
                    tags.append(found[1].decode())
                    end = found.end()
                data = data[end:]
            file.writelines(f"{path} {value}\n" for path, value in zip(group, tags))
    return len(paths) / (time.monotonic() - since)


def polls(port, output, lua, seconds):
    """Unchanged polls a second, of random feeds."""
    text = subprocess.run(
        ["wrk", "-t1", "-c32", f"-d{seconds}s", "-s", lua, f"http://{HOST}:{port}/"], check=True, text=True,
        capture_output=True, env=dict(os.environ, POLLS=output)).stdout
    if "Non-2xx" in text:
        raise SystemExit(text)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])


def feeds(given, folder, count):
    folder = os.path.join(folder, str(count))
    os.mkdir(folder)
    since = time.monotonic()
    subprocess.run(
        [given.bench, "feeds", "--count", str(count), "--database", f"{folder}/k.sqlite", "--paths", f"{folder}/paths"],
        check=True)
    print(f"{count} feeds: made in {time.monotonic() - since:.0f} s, "
          f"{os.path.getsize(folder + '/k.sqlite') >> 20} MiB of database")
    paths = open(f"{folder}/paths").read().split()
    process, port = start(given.program, folder)
    print(f"{count} feeds: {memory(process.pid)} MiB resident after the start")
    rate = warm(port, paths, f"{folder}/polls")
    print(f"{count} feeds: each read once, {rate:.0f} a second; {memory(process.pid)} MiB resident")
    return process, port, f"{folder}/polls", folder


def large_circle(given, folder):
    folder = os.path.join(folder, "large")
    os.mkdir(folder)
    process, port = start(given.program, folder)
    try:
        key = make_key(given.program, folder)
        base = time.time()
        paths = {}
        for count in [100, 100_000]:
            circle = f"/v1/circles/c{count}"
            call(port, "PUT", circle, key, '{"name":"C","timeZone":"Europe/Berlin"}')
            call(port, "PUT", f"{circle}/members/a", key, '{"displayName":"A","role":"owner"}')
            lines = "".join(
                json.dumps({"op": "put", "collection": "tasks", "id": f"t{i}", "value": {
                    "title": f"Task {i}",
                    "dueAt": time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(base + i % 8000 * 3600))}}) + "\n"
                for i in range(count))
            call(port, "POST", f"{circle}/batch", key, lines, "application/x-ndjson")
            paths[count] = path_of(call(port, "POST", f"{circle}/feeds", key, '{"userId":"a"}'))
        time.sleep(1.1)
        rates = {}
        for count, path in paths.items():
            warm(port, [path], f"{folder}/polls{count}")
        for _ in range(given.rounds):
            for count in paths:
                rates.setdefault(count, []).append(polls(port, f"{folder}/polls{count}", given.lua, given.seconds))
        few, many = max(rates[100]), max(rates[100_000])
        print(f"unchanged polls a second: {few:.0f} of 100 items, {many:.0f} of 100,000: ratio {many / few:.2f}")
        times = []
        connection = socket.create_connection((HOST, port))
        for i in range(12):
            item = json.dumps({"title": f"Changed {i}", "dueAt": time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime(base))})
            call(port, "PUT", "/v1/circles/c100000/tasks/t50", key, item)
            since = time.monotonic()
            connection.sendall(f"HEAD {paths[100_000]} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            answer = connection.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            times.append(1000 * (time.monotonic() - since))
        print(f"from one item's change to new bytes of 100,000: {statistics.median(times):.1f} ms (median), "
              f"{min(times):.1f} at best")
    finally:
        process.kill()
        process.wait()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("bench")
    options.add_argument("--count", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=5)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        given.lua = f"{folder}/polls.lua"
        with open(given.lua, "w") as file:
            file.write(LUA)
        servers = []
        try:
            servers = [feeds(given, folder, count) for count in (100, given.count)]
            rates = [[], []]
            for _ in range(given.rounds):
                for index, (_, port, output, _) in enumerate(servers):
                    rates[index].append(polls(port, output, given.lua, given.seconds))
            few, many = max(rates[0]), max(rates[1])
            print(f"unchanged polls a second: {few:.0f} at 100 feeds, {many:.0f} at {given.count}: "
                  f"ratio {many / few:.2f}")
            process, _, _, home = servers[1]
            print(f"{given.count} feeds: {memory(process.pid)} MiB resident after the polls")
            process.send_signal(signal.SIGKILL)
            process.wait()
            since = time.monotonic()
            again, port = start(given.program, home)
            socket.create_connection((HOST, port)).close()
            print(f"start after kill -9: {time.monotonic() - since:.2f} s")
            servers[1] = (again, port, None, home)
        finally:
            for server in servers:
                server[0].kill()
                server[0].wait()
        large_circle(given, folder)


if __name__ == "__main__":
    main()

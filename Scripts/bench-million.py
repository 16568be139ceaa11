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
    """Has every feed made once, as after a start, and notes the tag of each; gives feeds a second.

    By HEAD, which is not counted: what is timed is the making. Over several connections at a time.
    """
    tag = re.compile(rb"\r\nETag: ([^\r]+)\r\n")
    connections = [socket.create_connection((HOST, port)) for _ in range(8)]
    since = time.monotonic()
    with open(output, "w") as file:
        for first in range(0, len(paths), 8 * 50):
            groups = [paths[start:start + 50] for start in range(first, min(len(paths), first + 8 * 50), 50)]
            for connection, group in zip(connections, groups):
                connection.sendall("".join(f"HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in group).encode())
            for connection, group in zip(connections, groups):
                data = b""
                while data.count(b"\r\n\r\n") < len(group):
                    more = connection.recv(1 << 20)
                    if not more:
                        raise SystemExit("the server closed the connection")
                    data += more
                tags = tag.findall(data)
                assert len(tags) == len(group), data[:300]
                file.writelines(f"{path} {value.decode()}\n" for path, value in zip(group, tags))
    return len(paths) / (time.monotonic() - since)


def processor(pid):
    """Processor time of a process, in microseconds."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1_000_000 // os.sysconf("SC_CLK_TCK")


def polls(process, port, output, lua, seconds):
    """Unchanged polls a second, of random feeds, and microseconds of the server's processor time for each."""
    before = processor(process.pid)
    text = subprocess.run(
        ["wrk", "-t1", "-c32", f"-d{seconds}s", "-s", lua, f"http://{HOST}:{port}/"], check=True, text=True,
        capture_output=True, env=dict(os.environ, POLLS=output)).stdout
    if "Non-2xx" in text:
        raise SystemExit(text)
    requests = int(re.search(r"(\d+) requests in", text)[1])
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), (processor(process.pid) - before) / requests


def compare(one, other, few, many):
    """Prints the best rates and the least processor time of two kinds of polls."""
    (rate, cost), (other_rate, other_cost) = [
        (max(r for r, _ in kind), min(c for _, c in kind)) for kind in (few, many)]
    print(f"unchanged polls a second: {rate:.0f} at {one}, {other_rate:.0f} at {other}: ratio {other_rate / rate:.2f}; "
          f"processor time each: {cost:.1f} and {other_cost:.1f} microseconds, ratio {cost / other_cost:.2f}")


def feeds(given, folder, count):
    folder = os.path.join(folder, str(count))
    since = time.monotonic()
    if not os.path.exists(f"{folder}/paths"):
        os.makedirs(folder)
        subprocess.run(
            [given.bench, "feeds", "--count", str(count), "--database", f"{folder}/k.sqlite",
             "--paths", f"{folder}/paths"], check=True)
    print(f"{count} feeds: made in {time.monotonic() - since:.0f} s, "
          f"{os.path.getsize(folder + '/k.sqlite') >> 20} MiB of database")
    paths = open(f"{folder}/paths").read().split()
    process, port = start(given.program, folder)
    print(f"{count} feeds: {memory(process.pid)} MiB resident after the start")
    rate = warm(port, paths, f"{folder}/polls")
    print(f"{count} feeds: each made once, {rate:.0f} a second; {memory(process.pid)} MiB resident")
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
                rates.setdefault(count, []).append(polls(process, port, f"{folder}/polls{count}", given.lua, given.seconds))
        compare("100 items", "100,000 items", rates[100], rates[100_000])
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
    options.add_argument("--folder", help="where the databases go and stay, to be used again")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or temporary
        given.lua = f"{temporary}/polls.lua"
        with open(given.lua, "w") as file:
            file.write(LUA)
        servers = []
        try:
            servers = [feeds(given, folder, count) for count in (100, given.count)]
            rates = [[], []]
            for _ in range(given.rounds):
                for index, (process, port, output, _) in enumerate(servers):
                    rates[index].append(polls(process, port, output, given.lua, given.seconds))
            compare("100 feeds", f"{given.count} feeds", *rates)
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
        large_circle(given, temporary)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Unchanged polls and full reads at more connections, at one processor and at all, and with TLS, beside nginx in turn.

usage: bench-growth.py PROGRAM [--rounds N] [--seconds N] [--connections N…] [--settings one all TLS]

Both answer the same feed of 200 events at their default settings: the server counts each answer durably and logs it, nginx
writes a buffered log. `wrk` shares the processors with whoever answers. On `one processor` the server, or nginx with one
worker, may use only the first. With TLS each connection is opened once and polls for as long as the round lasts, which is
five times as long where there are more than a thousand: their handshakes alone take seconds.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Faults"))
from running import HOST, call, make_key, path_of, start  # noqa: E402

CONFIGURATION = """
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
worker_processes {workers};
worker_rlimit_nofile 30000;
events {{ worker_connections 12000; }}
http {{
    access_log {folder}/access.log combined buffer=64k flush=1s;
    keepalive_requests 1000000000;
    types {{ text/calendar ics; }}
    server {{
        listen {host}:{port} backlog=4096{tls};
        ssl_certificate {folder}/certificate.pem;
        ssl_certificate_key {folder}/key.pem;
        root {folder}/www;
    }}
}}
"""


def processor(pids):
    """Processor time of processes, in microseconds."""
    ticks = 0
    for pid in pids:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * 1_000_000 // os.sysconf("SC_CLK_TCK")


def feed(program, folder):
    """A database with a feed of 200 events; gives the feed's path."""
    server, port = start(program, folder)
    key = make_key(program, folder)
    circle = "/v1/circles/bench"
    call(port, "PUT", circle, key, '{"name":"Bench","timeZone":"Europe/Berlin"}')
    call(port, "PUT", f"{circle}/members/ann", key, '{"displayName":"Ann","role":"owner"}')
    day = time.strftime("%Y-%m-%d", time.gmtime())
    lines = "".join(
        f'{{"op":"put","collection":"tasks","id":"task-{i}","value":{{"title":"Give medicine number {i}, with food",'
        f'"dueAt":"{day}T{i % 24:02}:{i % 60:02}:00Z","notes":"Call if it is refused."}}}}\n' for i in range(200))
    call(port, "POST", f"{circle}/batch", key, lines, "application/x-ndjson")
    path = path_of(call(port, "POST", f"{circle}/feeds", key, '{"userId":"ann"}'))
    # Past the second of the last change, so that the validators stay as they are.
    time.sleep(1.1)
    with urllib.request.urlopen(f"http://{HOST}:{port}{path}") as answer:
        os.makedirs(f"{folder}/www")
        with open(f"{folder}/www/feed.ics", "wb") as file:
            file.write(answer.read())
    for name in (folder, f"{folder}/www"):
        os.chmod(name, 0o755)
    server.terminate()
    server.wait()
    return path


def tag(url):
    told = subprocess.run(["curl", "-sk", "-o", os.devnull, "-D", "-", url], capture_output=True, text=True).stdout
    return next(line.split(": ", 1)[1] for line in told.splitlines() if line.lower().startswith("etag: "))


def measured(url, etag, connections, seconds, pids):
    """Requests a second, and processor time of the processes for each in microseconds."""
    fields = ["-H", f"If-None-Match: {etag}"] if etag else []
    before = processor(pids)
    told = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", *fields, url],
        check=True, capture_output=True, text=True).stdout
    spent = processor(pids) - before
    if "Non-2xx" in told or "Socket errors" in told:
        print(told, file=sys.stderr)
    rate = float(told.split("Requests/sec:")[1].split()[0])
    requests = int(told.split(" requests in")[0].split()[-1])
    return rate, spent / max(requests, 1)


def compare(options, folder, path, place, cores, tls):
    """One setting of both servers: rounds in turn, for each number of connections."""
    limits = ["--max-connections", "20000", "--max-connections-per-network", "20000"]
    certificate = ["--tls-certificate", f"{folder}/certificate.pem", "--tls-key", f"{folder}/key.pem"] if tls else []
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    server, port = start(options.program, folder, *limits, *certificate, "--log-level", "info")
    own = 18490
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(CONFIGURATION.format(
            folder=folder, host=HOST, port=own, tls=" ssl" if tls else "", workers=len(cores)))
    subprocess.run(["nginx", "-c", f"{folder}/nginx.conf", "-p", folder], check=True, capture_output=True)
    os.sched_setaffinity(0, before)
    master = open(f"{folder}/nginx.pid").read().strip()
    workers = subprocess.run(["pgrep", "-P", master], capture_output=True, text=True).stdout.split()
    scheme = "https" if tls else "http"
    sides = [("kalends", f"{scheme}://{HOST}:{port}{path}", [server.pid]),
             ("nginx", f"{scheme}://{HOST}:{own}/feed.ics", workers)]
    tags = {name: tag(url) for name, url, _ in sides}
    try:
        for connections in options.connections:
            for answer in ("304", "200"):
                rounds = []
                seconds = options.seconds * (5 if tls and connections > 1000 else 1)
                for _ in range(options.rounds):
                    rounds.append([measured(url, tags[name] if answer == "304" else None, connections, seconds, pids)
                                   for name, url, pids in sides])
                if not all(one[0] for both in rounds for one in both):
                    print(f"{place:<14} {connections:>6} {answer} somebody answered nothing", flush=True)
                    continue
                ratios = sorted(ours[0] / theirs[0] for ours, theirs in rounds)
                middle = [[statistics.median(one[side][value] for one in rounds) for value in (0, 1)] for side in (0, 1)]
                print(f"{place:<14} {connections:>6} {answer} {middle[0][0]:>9.0f} {middle[0][1]:>7.1f}"
                      f" {middle[1][0]:>9.0f} {middle[1][1]:>7.1f} {statistics.median(ratios):>7.3f}"
                      f" ({ratios[0]:.3f} to {ratios[-1]:.3f})", flush=True)
    finally:
        subprocess.run(["nginx", "-c", f"{folder}/nginx.conf", "-p", folder, "-s", "quit"], capture_output=True)
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--settings", nargs="+", choices=["one", "all", "TLS"], default=["one", "all", "TLS"])
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    folder = tempfile.mkdtemp()
    try:
        path = feed(options.program, folder)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"],
            check=True, capture_output=True)
        everywhere = os.sched_getaffinity(0)
        print(f"{options.rounds} rounds of {options.seconds} s, in turn; rates a second, and microseconds of processor time each")
        print(f"{'':<14} {'conns':>6} ans {'kalends':>9} {'each':>7} {'nginx':>9} {'each':>7} ratio", flush=True)
        for name, place, cores, tls in [
                ("one", "one processor", {min(everywhere)}, False),
                ("all", f"{len(everywhere)} processors", everywhere, False), ("TLS", "TLS", everywhere, True)]:
            if name in options.settings:
                compare(options, folder, path, place, cores, tls)
    finally:
        shutil.rmtree(folder)


main()

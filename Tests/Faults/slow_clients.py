# SPDX-License-Identifier: Apache-2.0
"""Thousands of slow clients next to readers who poll as usual.

A third send their header a byte now and then, a third a body, a third read nothing of what they asked for, each once a
second at a time of its own. All have to be cut within 30 seconds; meanwhile the 99th percentile of normal polls may
double, and memory grow by 256 MiB.
"""

import argparse
import http.client
import multiprocessing
import os
import resource
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time

from running import HOST, call, make_key, memory, path_of, start

def prepare(program, folder, port):
    key = make_key(program, folder)
    call(port, "PUT", "/v1/circles/c", key, '{"name":"C","timeZone":"Europe/Berlin"}')
    call(port, "PUT", "/v1/circles/c/members/a", key, '{"displayName":"A","role":"owner"}')
    day = time.strftime("%Y-%m-%d", time.gmtime())
    lines = "".join(
        '{"op":"put","collection":"tasks","id":"t%d","value":{"title":"Task %d","dueAt":"%sT10:00:00Z","notes":"%s"}}\n'
        % (i, i, day, "n" * 200) for i in range(200))
    call(port, "POST", "/v1/circles/c/batch", key, lines, "application/x-ndjson")
    return path_of(call(port, "POST", "/v1/circles/c/feeds", key, '{"userId":"a"}')), key


class Pollers:
    """Four readers who poll a feed every 20 ms, in a process of their own, so that they wait for the server alone."""

    def __init__(self, port, path):
        self.goes = multiprocessing.Event()
        self.goes.set()
        self.results = multiprocessing.Queue()
        self.process = multiprocessing.Process(target=self.run, args=(port, path), daemon=True)
        self.process.start()

    def run(self, port, path):
        times, faults = [], [0]

        def poll():
            connection = http.client.HTTPConnection(HOST, port, timeout=10)
            while self.goes.is_set():
                before = time.monotonic()
                try:
                    connection.request("GET", path, headers={"If-None-Match": "*"})
                    answer = connection.getresponse()
                    answer.read()
                    faults[0] += answer.status != 304
                except (OSError, http.client.HTTPException):
                    faults[0] += 1
                    connection.close()
                times.append((before, time.monotonic() - before))
                time.sleep(0.02)

        threads = [threading.Thread(target=poll) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.results.put((times, faults[0]))

    def end(self):
        """Gives when each poll began and how long it took, and how many failed."""
        self.goes.clear()
        return self.results.get(timeout=30)


def p99(times, since, until):
    chosen = sorted(took for at, took in times if since <= at < until)
    return 1000 * chosen[int(len(chosen) * 0.99)] if chosen else float("nan")


class Slow:
    """One slow client: what it says at first, and what it adds every second."""

    def __init__(self, kind, port, path, key, number):
        self.kind, self.cut_after = kind, None
        self.socket = socket.socket()
        if kind == "reader":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        # Each few hundred from a network of their own, as an attack would come.
        self.socket.bind((f"127.0.{1 + number % 15}.1", 0))
        self.socket.connect((HOST, port))
        self.since = time.monotonic()
        if kind == "header":
            first = f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Slow: ".encode()
        elif kind == "body":
            first = (f"POST /v1/circles/c/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
                     "Content-Type: application/x-ndjson\r\nContent-Length: 1000000\r\n\r\n{").encode()
        else:
            # More than any buffer between takes, so that the server sees that nothing is read.
            first = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 4
        self.socket.sendall(first)
        self.socket.setblocking(False)

    def drip(self):
        """Says one byte more; notes when the connection is found cut."""
        if self.cut_after is not None:
            return
        try:
            if self.kind == "reader":
                # Looks without taking: an error or an end tells that it was cut.
                error = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if error:
                    raise ConnectionResetError
                self.socket.send(b"\r\n")
                return
            self.socket.send(b"a")
            if self.socket.recv(1) == b"":
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            self.cut_after = time.monotonic() - self.since
            self.socket.close()


def drip_within(seconds, clients):
    """Lets each client add a byte, spread over a time: clients that know nothing of each other do not send at once."""
    since = time.monotonic()
    for number, client in enumerate(clients):
        early = since + seconds * number / len(clients) - time.monotonic()
        if early > 0.005:
            time.sleep(early)
        client.drip()
    time.sleep(max(0, since + seconds - time.monotonic()))


def headers(port, count):
    """Sends a request with very many header fields and gives the answer's status, 0 for a reset."""
    with socket.create_connection((HOST, port)) as connection:
        connection.settimeout(20)
        try:
            connection.sendall(b"GET /healthz HTTP/1.1\r\n")
            for _ in range(count // 1000):
                connection.sendall(b"a: b\r\n" * 1000)
        except OSError:
            pass
        try:
            answer = connection.recv(100)
        except OSError:
            return 0
        return int(answer.split()[1]) if answer else 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--count", type=int, default=3000)
    given = options.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * given.count + 500)), hard))
    faults = []

    with tempfile.TemporaryDirectory() as folder:
        process, port = start(given.program, folder)
        try:
            path, key = prepare(given.program, folder, port)
            pollers = Pollers(port, path)
            # Slow clients are other machines': what they take of this one's processors is not the server's doing.
            os.nice(19)
            time.sleep(2)
            calm_since = time.monotonic()
            time.sleep(8)
            calm_until = time.monotonic()
            before = memory(process.pid)

            since = time.monotonic()
            kinds = ["header", "body", "reader"]
            clients = [Slow(kinds[i % 3], port, path, key, i) for i in range(given.count)]
            connected = time.monotonic()
            peak = before
            while time.monotonic() - connected < 32:
                drip_within(1, clients)
                peak = max(peak, memory(process.pid))
                if all(client.cut_after is not None for client in clients):
                    break
            until = time.monotonic()
            times, failed = pollers.end()
            calm, arriving = p99(times, calm_since, calm_until), p99(times, since, connected)
            under = p99(times, connected, until)
            for kind in kinds:
                cut = sorted(c.cut_after for c in clients if c.kind == kind and c.cut_after is not None)
                alive = sum(c.kind == kind and c.cut_after is None for c in clients)
                if cut:
                    print(f"slow {kind}: {len(cut)} cut after {statistics.median(cut):.1f} s (median), "
                          f"{cut[-1]:.1f} s at most; {alive} left")
                if alive or not cut or cut[-1] > 30:
                    faults.append(f"slow {kind}: {alive} not cut")
            print(f"normal polls, p99: {calm:.2f} ms before, {under:.2f} ms beside {given.count} slow clients "
                  f"({arriving:.2f} ms in the {connected - since:.1f} s in which they came)")
            print(f"memory: {before} MiB before, {peak} MiB at most")
            # Beneath some milliseconds the clock of a busy machine is what is measured.
            if under > max(2 * calm, calm + 5):
                faults.append("normal polls slowed down to more than twice their time")
            if peak - before > 256:
                faults.append("memory grew by more than 256 MiB")
            if failed:
                faults.append(f"{failed} normal polls failed")

            status = headers(port, 1_000_000)
            print(f"1,000,000 header fields: {status or 'reset'}; 101: {headers(port, 1000)}")
            if process.poll() is not None:
                faults.append("the server died")
            if status not in (0, 431):
                faults.append(f"very many header fields: {status}")

            stuck = [Slow(kinds[i % 3], port, path, key, i) for i in range(30)]
            time.sleep(0.5)
            ended = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
            took = time.monotonic() - ended
            print(f"SIGTERM beside {len(stuck)} stuck clients: ended after {took:.1f} s with {process.returncode}")
            if took > 5 or process.returncode != 0:
                faults.append("the server does not end in time")
        finally:
            if process.poll() is None:
                process.kill()
    for fault in faults:
        print("FAULT:", fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

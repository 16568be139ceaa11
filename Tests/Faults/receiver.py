# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks that notes what came, from whom, and when."""

import http.server
import json
import multiprocessing
import pickle
import random
import signal
import threading
import time
from pathlib import Path

from history import Delivery
from ports import free_port

forked = multiprocessing.get_context("fork")


class Receiver:
    """Takes webhooks, slowly enough that two at once are seen, and refuses a few."""

    def __init__(self, folder, seed, host="127.0.0.1", senders=None):
        """`senders`: the numbers of servers, by their addresses."""
        self.address, self.file = (host, free_port()), Path(folder) / "webhooks"
        self._seed, self._senders = seed, senders or {}
        self._process = forked.Process(target=self._run, daemon=True)
        self._process.start()

    def _run(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        file, lock, chance = open(self.file, "ab"), threading.Lock(), random.Random(self._seed)
        senders = self._senders

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                text = self.rfile.read(int(self.headers["content-length"]))
                began = time.monotonic()
                time.sleep(chance.uniform(0, 0.03))
                is_taken = chance.random() > 0.01
                data = json.loads(text)["data"]
                delivery = Delivery(
                    self.headers["webhook-id"], data["circleId"], tuple(item["number"] for item in data["items"]), began,
                    time.monotonic(), is_taken, senders.get(self.client_address[0]))
                with lock:
                    pickle.dump(delivery, file)
                    file.flush()
                try:
                    self.send_response(204 if is_taken else 500)
                    self.send_header("content-length", "0")
                    self.end_headers()
                except OSError:
                    pass

            def log_message(self, *words):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, *words):
                """A sender that is killed resets its connection."""

        Quiet(self.address, Handler).serve_forever()

    def deliveries(self):
        found = []
        with open(self.file, "rb") as file:
            while True:
                try:
                    found.append(pickle.load(file))
                except EOFError:
                    return found

    def close(self):
        self._process.kill()
        self._process.join()

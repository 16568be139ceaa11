# SPDX-License-Identifier: Apache-2.0
"""Several servers on one PostgreSQL as one that a calendar app asks: each request goes to any of them."""

import base64
import os
import random
from pathlib import Path

from server import Caller, Server, Violation


class Servers(Caller):
    """Has what a `Server` has for whoever asks, starts, stops and restores."""

    def __init__(self, folder, cluster, count, chance):
        secret = base64.b64encode(chance.randbytes(32)).decode()
        self.all, self.down = [], []
        # Requests come from many threads, whose order no seed fixes anyway.
        self.chance = random.Random()
        for number in range(count):
            place = Path(folder) / f"server{number}"
            place.mkdir()
            if number:
                os.link(self.all[0].program, place / "kalends")
            self.all.append(Server(place, place, {
                "KALENDS_FILES": str(place / "k"), "KALENDS_SERVERS": "several", "KALENDS_SECRET_KEY": secret}))
            self.all[-1].database = cluster.address

    def request(self, *words, **more):
        """One that is not there is not asked, as behind a balancer."""
        refused = None
        for server in self.chance.sample(self.all, len(self.all)):
            try:
                return server.request(*words, **more)
            except ConnectionRefusedError as error:
                refused = error
        raise refused

    def start(self):
        for server in self.down or self.all:
            server.start()
        self.down = []

    def wait(self, seconds=30):
        for server in self.all:
            server.wait(seconds)

    def kill(self):
        """Kills one of them, or several."""
        self.down = self.chance.sample(self.all, self.chance.randint(1, len(self.all)))
        for server in self.down:
            server.kill()

    def stop(self):
        faults = []
        for server in self.all:
            try:
                server.stop()
            except Violation as fault:
                faults.append(fault)
        if faults:
            raise faults[0]

    def command(self, *words):
        return self.all[0].command(*words)

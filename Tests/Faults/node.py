# SPDX-License-Identifier: Apache-2.0
"""One of several servers on one database, on a host of its own where there is a network of namespaces, and what can be
done to it."""

import glob
import multiprocessing
import os
import signal
from pathlib import Path

from ports import free_port
from server import Server
from wire import CUT, PASSING, STANDING, Wire

forked = multiprocessing.get_context("fork")
DATABASE = "database"


def clock_library():
    return next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)


class Node(Server):
    """One of the servers, with files, a clock and a way to the database of its own.

    That way is a wire where there is no network, or the database's answers are to be replayed; otherwise the network."""

    def __init__(self, folder, number, cluster, key, network=None, is_wired=False):
        place = Path(folder) / f"server{number}"
        place.mkdir()
        if number:
            os.link(Path(folder) / "server0" / "kalends", place / "kalends")
        self.number, self.name, self.network = number, f"server{number}", network
        environment = {"KALENDS_FILES": str(place / "k"), "KALENDS_SERVERS": "several", "KALENDS_SECRET_KEY": key,
                       "KALENDS_ALLOW_HTTP_IMPORTS": "true"}
        launcher, self.wire, self.offset = [], None, None
        if network:
            launcher = network.launcher(self.name)
            self.host = environment["KALENDS_HOST"] = network.addresses[self.name]
        if library := clock_library():
            self.offset = place / "offset"
            self.offset.write_text("+0")
            # Through a shell, because the library changes the environment of the first program that it is loaded into,
            # where Swift looks for its arguments. A jump of the clock does not count as time that passes.
            launcher += ["env", f"LD_PRELOAD={library}", f"FAKETIME_TIMESTAMP_FILE={self.offset}",
                         "FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1",
                         "bash", "-c", 'exec "$@"', "kalends"]
        super().__init__(place, place, environment, launcher)
        self.is_faulty = forked.RawValue("b", 0)
        self.database = f"host={network.addresses[DATABASE] if network else ''} user=kalends dbname=kalends"
        if not network or is_wired:
            enter = (lambda: network.enter(self.name)) if network else None
            self.wire = Wire(free_port(), f"{cluster.home}/.s.PGSQL.5432", enter)
            self.database = f"host=127.0.0.1 port={self.wire.port} user=kalends dbname=kalends"
        self.database += " sslmode=disable gssencmode=disable"

    def part(self):
        """No byte passes between it and the database, and neither side is notified."""
        if self.wire:
            self.wire.mode = STANDING
        else:
            self.network.part(self.name, [DATABASE])

    def cut(self):
        """Its connections to the database are reset."""
        if self.wire:
            self.wire.mode = CUT
        else:
            self.network.reset(self.name, [DATABASE])

    def move_clock(self, offset):
        """By a time such as "+1h" or "-7s", or back with "+0"; it is seen within a second."""
        staged = self.offset.with_suffix(".new")
        staged.write_text(offset)
        staged.rename(self.offset)

    def heal(self):
        """Undoes everything that was done to it, and waits until it serves."""
        if self.wire:
            self.wire.mode = PASSING
        if self.network:
            self.network.mend(self.name)
        if self.offset:
            self.move_clock("+0")
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
        else:
            self.start()
        self.wait(60)
        self.is_faulty.value = 0

    def close(self):
        try:
            self.process.send_signal(signal.SIGCONT)
            self.kill()
        except (AttributeError, OSError):
            pass
        if self.wire:
            self.wire.close()
        for process in self.processes:
            for left in glob.glob(f"/dev/shm/*faketime*_{process}"):
                os.unlink(left)

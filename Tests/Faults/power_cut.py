# SPDX-License-Identifier: Apache-2.0
"""Cuts the power of a disk under load: a file system on a loop device is shut down without its log being flushed, so that
only what was flushed before is there afterwards. Everything acknowledged before the cut must be.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/power_cut.py [--rounds 20] [--filesystem ext4|xfs]
"""

import argparse
import fcntl
import os
import random
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from load import Load
from report import check_bracket, run, skip
from server import Server, Violation

# The same numbers for both file systems.
FS_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2
MAKERS = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f")}

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--filesystem", choices=MAKERS, default="ext4")
options = parser.parse_args()

TITLE = f"Power cuts ({options.filesystem} on a loop device, shut down without flushing):"


def shell(*words):
    return subprocess.run(words, capture_output=True, text=True)


class Disk:
    def __init__(self, folder):
        self.image, self.point = Path(folder) / "disk.img", Path(tempfile.mkdtemp(prefix="kalends-disk-"))
        with open(self.image, "wb") as image:
            image.truncate(512 << 20)
        self.is_mounted = False

    def prepare(self):
        """Why this machine cannot do it, or nothing."""
        try:
            made = shell(*MAKERS[options.filesystem], str(self.image))
        except FileNotFoundError as missing:
            return f"{missing.filename} is not installed"
        return made.stderr.strip() if made.returncode else self.mount()

    def mount(self):
        done = shell("mount", "-o", "loop", str(self.image), str(self.point))
        self.is_mounted = done.returncode == 0
        return done.stderr.strip()

    def unmount(self):
        for _ in range(100):
            if not self.is_mounted or shell("umount", str(self.point)).returncode == 0:
                self.is_mounted = False
                return
            time.sleep(0.1)
        raise Violation("the disk cannot be unmounted")

    def cut(self):
        descriptor = os.open(self.point, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(descriptor)

    def remove(self):
        self.unmount()
        os.rmdir(self.point)


def rounds(folder):
    disk = Disk(folder)
    server = None
    try:
        trouble = disk.prepare()
        if trouble:
            print(f"skipped: {trouble}")
            return
        server = Server(disk.point, folder)
        server.start()
        server.wait()
        load = Load(server, server.fill(), readers=3, circle="written", imports="imported")
        lost = 0
        for number in range(1, options.rounds + 1):
            load.start()
            time.sleep(random.uniform(0.3, 2.0))
            # Read before the cut: what is answered during it is under way.
            acknowledged = load.completes()
            names, files = load.acknowledged, load.imported
            disk.cut()
            load.cut()
            time.sleep(0.3)
            if load.late:
                raise Violation(f"{load.late} reads that began after the cut were acknowledged")
            server.kill()
            load.stop()
            disk.unmount()
            trouble = disk.mount()
            if trouble:
                raise Violation(f"the disk does not come back: {trouble}")
            server.check_integrity()
            server.start()
            seconds = server.wait()
            sums = check_bracket(server, load, acknowledged)
            for name in names:
                if not server.has_task("written", name):
                    raise Violation(f"the task {name} was acknowledged before the cut and is not there")
            found = server.imported_files(load.imported_to)
            for file in range(load.sent_files):
                if found[file] != server.EVENTS_OF_FILE and (file < files or found[file]):
                    raise Violation(
                        f"of file {file} {found[file]} of {server.EVENTS_OF_FILE} events are there, and {files} files were "
                        "acknowledged before the cut")
            server.must("DELETE", f"/v1/circles/{load.imported_to}")
            # In flight at the cut: answered, and perhaps not recorded.
            lost += max(0, sum(load.completes()) - sums[1])
            yield (number, sums[0], sums[1], sums[2], len(names), files, f"{seconds:.2f}")
        print(f"answered while the power went, and not recorded: {lost}")
    finally:
        if server is not None:
            server.kill()
        disk.remove()


if __name__ == "__main__":
    if os.geteuid() != 0:
        skip(TITLE, "only root may mount a disk")
    run(
        TITLE,
        [("cut", 5), ("acknowledged", 12), ("recorded", 9), ("sent", 9), ("written", 8), ("files", 6), ("start s", 8)], rounds)

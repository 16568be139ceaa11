# SPDX-License-Identifier: Apache-2.0
"""A network of namespaces on one machine: a host each, joined by a bridge that lies in a namespace of its own.

What is done to it reaches nothing outside of it. It needs root, `ip` (Debian: iproute2) and, for what hits some addresses
only, `nft` (Debian: nftables)."""

import contextlib
import ctypes
import os
import shutil
import subprocess

from server import Violation

HUB = "hub"


def missing():
    """Why there can be no such network here; None where there can."""
    if os.getuid() != 0:
        return "not root"
    for program in ("ip", "nft", "nsenter"):
        if shutil.which(program) is None:
            return f"{program} is not there"
    name = f"k{os.getpid()}-try"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode != 0:
        return "no namespaces of networks"
    try:
        bridge = subprocess.run(["ip", "-n", name, "link", "add", "br0", "type", "bridge"], capture_output=True)
        rules = subprocess.run(
            ["nsenter", f"--net=/run/netns/{name}", "nft", "-f", "-"], input=RULES, text=True, capture_output=True)
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return "no bridge or no nftables in the kernel" if bridge.returncode or rules.returncode else None


# A chain each way, empty until something is done.
RULES = """add table inet faults
add chain inet faults out { type filter hook output priority 0; }
add chain inet faults in { type filter hook input priority 0; }
add rule inet faults out ip daddr 127.9.9.9 tcp dport 1 reject with tcp reset
add rule inet faults in ip saddr 127.9.9.9 numgen random mod 100 < 1 drop
flush table inet faults
"""


class Network:
    """Hosts with addresses of their own; each is called by its name."""

    def __init__(self, names):
        self.addresses = {name: f"10.99.0.{number}" for number, name in enumerate(names, 1)}
        self.range = "10.99.0.0/24"
        # That of the process that made it, whoever asks.
        self._prefix = f"k{os.getpid()}"
        self._made = []
        try:
            self._make(HUB)
            self._ip("-n", self.path(HUB), "link", "add", "br0", "type", "bridge")
            self._ip("-n", self.path(HUB), "link", "set", "br0", "up")
            for name, address in self.addresses.items():
                self._make(name)
                self._ip("link", "add", name, "netns", self.path(HUB), "type", "veth", "peer", "name", "eth0",
                         "netns", self.path(name))
                self._ip("-n", self.path(HUB), "link", "set", name, "master", "br0", "up")
                self._ip("-n", self.path(name), "link", "set", "lo", "up")
                self._ip("-n", self.path(name), "addr", "add", f"{address}/24", "dev", "eth0")
                self._ip("-n", self.path(name), "link", "set", "eth0", "up")
                self._rules(name, RULES)
        except BaseException:
            self.close()
            raise

    def lend(self, name, addresses):
        """Gives a host more addresses, of any network, which the other hosts reach as they reach it."""
        for address in addresses:
            self._ip("-n", self.path(name), "addr", "add", f"{address}/32", "dev", "eth0")
            for other in self.addresses:
                if other != name:
                    self._ip("-n", self.path(other), "route", "add", f"{address}/32", "dev", "eth0")

    def path(self, name):
        """The name under which the system knows a host's namespace."""
        return f"{self._prefix}-{name}"

    def _make(self, name):
        self._ip("netns", "add", self.path(name))
        self._made.append(name)

    def _ip(self, *words):
        done = subprocess.run(["ip", *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise Violation(f"ip {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")

    def _rules(self, name, text):
        done = subprocess.run(
            ["nsenter", f"--net=/run/netns/{self.path(name)}", "nft", "-f", "-"], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise Violation(f"nft ended with {done.returncode}: {done.stderr.strip()}")

    def launcher(self, name):
        """What a command begins with that is to run on a host; the process stays the same."""
        return ["nsenter", f"--net=/run/netns/{self.path(name)}", "--"]

    def enter(self, name):
        """Moves this thread, and what it starts from now on, to a host."""
        library = ctypes.CDLL(None, use_errno=True)
        with open(f"/run/netns/{self.path(name)}") as place:
            if library.setns(place.fileno(), 0) != 0:
                raise Violation(f"setns failed: {os.strerror(ctypes.get_errno())}")

    def unplug(self, name):
        """Takes the cable out: every packet vanishes, in both ways."""
        self._ip("-n", self.path(HUB), "link", "set", name, "down")

    def plug(self, name):
        self._ip("-n", self.path(HUB), "link", "set", name, "up")

    def part(self, name, others):
        """Packets between a host and others vanish."""
        self._both(name, others, "drop")

    def lose(self, name, others, percent):
        """So many percent of the packets between a host and others vanish."""
        self._both(name, others, f"numgen random mod 100 < {percent} drop")

    def reset(self, name, others):
        """Connections of a host to others are reset, and new ones refused."""
        self._rules(name, "".join(
            f"add rule inet faults out ip daddr {self.addresses[other]} meta l4proto tcp reject with tcp reset\n"
            for other in others))

    def _both(self, name, others, verdict):
        self._rules(name, "".join(
            f"add rule inet faults out ip daddr {self.addresses[other]} {verdict}\n"
            f"add rule inet faults in ip saddr {self.addresses[other]} {verdict}\n" for other in others))

    def mend(self, name):
        self.plug(name)
        self._rules(name, "flush table inet faults\n")

    def close(self):
        for name in self._made:
            with contextlib.suppress(Violation):
                self._ip("netns", "del", self.path(name))
        self._made = []

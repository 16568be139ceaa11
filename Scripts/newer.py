#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the Swift packages that have a newer version than the manifests name, and tries them.

    Scripts/newer.py                  lists them; changes nothing
    Scripts/newer.py --try [NAME…]    builds and tests a copy of the project, in .build-newer, with all of them or some
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The companion names some of the same packages, each with the same version.
MANIFESTS = ["Package.swift", "Companion/Package.swift"]
PIN = re.compile(r'\.package\(url: "([^"]+)", exact: "([^"]+)"')


def number(text):
    """A released version as numbers; None for one that is not released, such as 2.0.0-beta.1."""
    match = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)", text)
    return match and tuple(map(int, match.groups()))


def newest(tags):
    return max((tag for tag in tags if number(tag)), key=number, default=None)


def newer(manifest):
    """Gives the address, this version and the newest one of each package that has one."""
    for url, version in PIN.findall(manifest):
        found = subprocess.run(["git", "ls-remote", "--tags", "--refs", url], check=True, capture_output=True, text=True)
        last = newest(line.rpartition("refs/tags/")[2] for line in found.stdout.splitlines())
        if last and number(last) > number(version):
            yield url, version, last.removeprefix("v")


def name(url):
    return url.rpartition("/")[2].removesuffix(".git")


def attempt(found):
    """Builds and tests a copy with these versions; returns the tests' exit status."""
    copy = ROOT / ".build-newer"
    shutil.rmtree(copy / "source", ignore_errors=True)
    subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
    subprocess.run(["git", "worktree", "add", "--detach", copy / "source"], cwd=ROOT, check=True)
    for path in MANIFESTS:
        manifest = (ROOT / path).read_text()
        for url, version, last in found:
            manifest = manifest.replace(f'url: "{url}", exact: "{version}"', f'url: "{url}", exact: "{last}"')
        (copy / "source" / path).write_text(manifest)
    return subprocess.run(["make", "test"], cwd=copy / "source", check=False).returncode


def main():
    found = list(newer((ROOT / MANIFESTS[0]).read_text()))
    for url, version, last in found:
        is_major = number(last)[0] != number(version)[0]
        print(f"{name(url)}: {version}, newest {last}{' (another major version)' if is_major else ''}")
    if not found:
        print("Every package has its newest version.")
    if "--try" in sys.argv[1:]:
        wanted = [given for given in sys.argv[1:] if given != "--try"]
        unknown = [given for given in wanted if given not in [name(url) for url, _, _ in found]]
        if unknown:
            sys.exit(f"There is no newer version of {', '.join(unknown)}.")
        tried = [one for one in found if not wanted or name(one[0]) in wanted]
        if tried:
            sys.exit(attempt(tried))


if __name__ == "__main__":
    main()

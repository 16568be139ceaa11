# SPDX-License-Identifier: Apache-2.0
"""Finds what the documents name and is not there: files, sections, targets of make, harnesses, another version's package; and
files that name a document.

    python3 -B Scripts/docs-rule.py
"""

import re
import subprocess
import sys
from pathlib import Path

# What is written once, and not changed when something moves.
HISTORY = {Path("CHANGELOG.md")}
LINK = re.compile(r"\]\((?!https?:|mailto:|<)([^)\s#]*)(#[^)\s]*)?\)")
NAMED = re.compile(r"`((?:Sources|Companion|Tests|docs|Scripts|Samples|Packaging|Benchmarks|\.github|\.devcontainer)/[\w./+-]+)`")
DOCUMENT = re.compile(r"\bdocs/[\w-]+\.md\b")
TARGET = re.compile(r"`make ([a-z][a-z-]*)\b")
HARNESS = re.compile(r"`Tests/Harness ([a-z][a-z-]*)\b")
PACKAGE = re.compile(r"\bkalends[_-](\d+\.\d+\.\d+)")
VERSION = re.compile(r'static let version = "([^"]+)"')
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def anchors(text):
    """The names of a page's sections, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def faults(page, targets, harnesses, version):
    text = page.read_text()
    plain = FENCE.sub("", text)
    for path, section in LINK.findall(plain):
        there = (page.parent / path).resolve() if path else page.resolve()
        if not there.exists():
            yield f"the link to {path} leads nowhere"
        elif section and there.suffix == ".md" and section[1:] not in anchors(there.read_text()):
            yield f"{path} has no section {section}"
    for name in NAMED.findall(plain):
        if not (Path(name).exists() or Path(name.rstrip("/.")).exists()):
            yield f"{name} is not there"
    for name in TARGET.findall(text):
        if name not in targets:
            yield f"there is no make {name}"
    for name in HARNESS.findall(text):
        if name not in harnesses:
            yield f"there is no Tests/Harness {name}"
    for name in PACKAGE.findall(text):
        if name != version:
            yield f"the program is of version {version}, and not {name}"


def main():
    files = [Path(name) for name in subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True).stdout.splitlines()]
    targets = set(re.findall(r"^([a-z]+):", Path("Makefile").read_text(), re.M))
    harnesses = set(re.findall(r'^    "([a-z-]+)": ', Path("Tests/Harness").read_text(), re.M))
    version = VERSION.search(Path("Sources/Base/System/Program.swift").read_text())[1]
    pages = [path for path in files if path.suffix == ".md" and path.exists() and path not in HISTORY]
    found = [f"{page}: {fault}" for page in pages for fault in faults(page, targets, harnesses, version)]
    for path in files:
        if path.suffix in {".swift", ".py", ".sh", ".mts", ".service", ".yml", ".json"} and path.is_file() and path not in pages:
            for name in set(DOCUMENT.findall(path.read_text(errors="replace"))):
                if not Path(name).exists():
                    found.append(f"{path}: {name} is not there")
    if found:
        sys.exit("What the documents name is not there:\n" + "\n".join(sorted(found)))
    print(f"docs-rule: {len(pages)} documents name only what there is")


main()

# SPDX-License-Identifier: Apache-2.0
"""Compares two OpenAPI documents of Kalends, and names what in the newer one breaks a client of the older one.

    python3 -B Tests/API/compatible.py OLD NEW          NEW is a document, or a program whose server is asked for it
    python3 -B Tests/API/compatible.py --keep OLD NEW   puts NEW in the place of OLD: a version is released
    python3 -B Tests/API/compatible.py --self-test      plants changes, and looks whether each is named

A break fails, unless NEW has a higher major version, or before 1.0 a higher minor version (docs/versions.md). As long as
CHANGELOG.md calls the version of OLD unreleased, a break is only printed.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from breaks import Comparison, may_break

HERE = Path(__file__).resolve().parent


def document(path):
    """What a file holds, or what the server of a program says."""
    if path.suffix == ".json":
        return json.loads(path.read_text())
    sys.path.insert(0, str(HERE.parent / "Faults"))
    os.environ["KALENDS"] = str(path)
    from server import Server
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, folder)
        server.start()
        try:
            server.wait()
            return json.loads(server.request("GET", "/openapi.json")[2])
        finally:
            server.kill()


def lines_of(document):
    """JSON with a line for each path and each component, so that a difference shows which one changed."""
    def rows(values, show):
        return "{" + ",".join(f"\n{json.dumps(name)}: {show(values[name])}" for name in sorted(values)) + "}"

    def flat(value):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    shown = {"paths": lambda value: rows(value, flat), "components": lambda value: rows(value, lambda one: rows(one, flat))}
    return "{" + ",\n".join(
        f"{json.dumps(name)}: {shown.get(name, flat)(document[name])}" for name in sorted(document)) + "}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("documents", type=Path, nargs="*", metavar="OLD NEW")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        from planted import try_all
        return try_all()
    if len(options.documents) != 2:
        parser.error("two documents are compared")
    new = document(options.documents[1])
    if options.keep:
        options.documents[0].write_text(lines_of(new) + "\n")
        return print(f"compatible: {options.documents[0]} is of {new['info']['version']}")
    old = document(options.documents[0])
    versions = [one["info"]["version"] for one in (old, new)]
    found = Comparison(old, new).found
    for fault in found:
        print(f"  {fault}")
    is_unreleased = f"## {versions[0]} (Unreleased)" in (HERE.parent.parent / "CHANGELOG.md").read_text()
    said = f"compatible: {len(found)} breaks of a client of {versions[0]} in {versions[1]}"
    if found and not is_unreleased and not may_break(*versions):
        sys.exit(said)
    print(said + (f", and {versions[0]} is not released" if found and is_unreleased else ""))


main()

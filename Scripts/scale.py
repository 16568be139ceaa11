# SPDX-License-Identifier: Apache-2.0
"""Measures what one more feed, read, item and imported event costs in rows and bytes, in both engines, and works out what a
hundred million feeds and ten thousand circles of 100,000 items cost. With --write the tables of docs/scale.md.

    python3 -B Scripts/scale.py .build/release/kalends .build/release/kalends-bench [--write]

Each is made twice, a few and many, and the difference is divided by the difference of the numbers. Bytes and rows do not
depend on what else the machine does.
"""

import argparse
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Faults"))

from cluster import PROGRAMS, Cluster  # noqa: E402
from load import Connection  # noqa: E402
from server import Server  # noqa: E402
from urllib.parse import urlsplit  # noqa: E402

FEEDS, CIRCLES, ITEMS = 100_000_000, 10_000, 100_000
# Processor time of an unchanged poll at a million feeds, and what a token takes in memory: docs/load.md.
POLL_MICROSECONDS, TOKEN_BYTES, TOKEN_MEMORY = 30, 240, 256 << 20
HOURS = (1, 6, 24)


def made(given, folder, kind, count):
    """A database with so many of a kind in it; the server that it belongs to has ended."""
    home = Path(folder) / f"{kind}-{count}"
    home.mkdir()
    if kind in ("feeds", "reads"):
        feeds = count if kind == "feeds" else given.few
        subprocess.run(
            [given.bench, "feeds", "--count", str(feeds), "--database", home / "k.sqlite", "--paths", home / "paths"],
            check=True, stdout=subprocess.DEVNULL)
        if kind == "feeds":
            return home / "k.sqlite"
    server = Server(home, home)
    server.start()
    server.wait()
    try:
        if kind == "reads":
            # Each feed is read by one family of programs, as often as it takes.
            paths = (home / "paths").read_text().split()
            connection = Connection(server.port)
            for number in range(count):
                connection.get(paths[number % len(paths)])
            return home / "k.sqlite"
        server.key = server.command("key", "create", "--name", "scale").strip()
        server.must("PUT", "/v1/circles/c", {"name": "C", "timeZone": "Europe/Berlin"})
        now = time.time()
        if kind == "items":
            lines = "".join(json.dumps({"op": "put", "collection": "tasks", "id": f"task-{number}", "value": {
                "title": f"Task number {number}", "reminders": [15],
                "dueAt": time.strftime("%Y-%m-%dT%H:00:00Z", time.gmtime(now + number % 8000 * 3600))}}) + "\n"
                for number in range(count))
            sent(server, "/v1/circles/c/batch", lines, "application/x-ndjson")
        else:
            events = "".join(
                f"BEGIN:VEVENT\r\nUID:{number}@example.com\r\nDTSTAMP:20260101T000000Z\r\n"
                f"DTSTART:{time.strftime('%Y%m%dT%H0000Z', time.gmtime(now + number % 8000 * 3600))}\r\n"
                f"SUMMARY:Event number {number}\r\nEND:VEVENT\r\n" for number in range(count))
            sent(server, "/v1/circles/c/imports?mode=commit",
                 f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n{events}END:VCALENDAR\r\n", "text/calendar")
    finally:
        server.stop()
    return home / "k.sqlite"


def sent(server, path, text, kind):
    status, _, answer = server.request(
        "POST", path, text.encode(), {"Authorization": f"Bearer {server.key}", "Content-Type": kind}, timeout=900)
    if status not in (200, 201):
        raise SystemExit(f"{path} was answered {status}: {answer[:300]!r}")


def in_sqlite(path):
    """Rows and bytes; the file is rewritten first, so that no free pages count."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    names = [name for name, in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    rows = sum(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return rows, os.path.getsize(path)


def in_postgresql(given, cluster, path, number):
    name = f"scale{number}"
    cluster.ask(f"CREATE DATABASE {name} TEMPLATE template0", "postgres")
    subprocess.run(
        [given.program, "move", "--from", path, "--to", f"host={cluster.home} user=kalends dbname={name}", "--files",
         f"{path}.{name}"], check=True, stdout=subprocess.DEVNULL)
    cluster.ask("VACUUM FULL", name)
    size = int(cluster.ask("SELECT pg_database_size(current_database())", name))
    cluster.ask(f"DROP DATABASE {name}", "postgres")
    return size


def measured(given):
    """By kind: rows, bytes in SQLite and bytes in PostgreSQL of one more."""
    cluster = Cluster() if PROGRAMS else None
    kinds = {}
    try:
        with tempfile.TemporaryDirectory(prefix="kalends-scale-", dir=given.folder) as folder:
            for kind in ("feeds", "reads", "items", "events"):
                values = []
                for number, count in enumerate((given.few, given.many)):
                    path = made(given, folder, kind, count)
                    rows, size = in_sqlite(path)
                    other = in_postgresql(given, cluster, path, f"{kind}{number}") if cluster else None
                    values.append((rows, size, other))
                more = given.many - given.few
                kinds[kind] = tuple(
                    None if one is None else (many - one) / more for one, many in zip(*values))
                print(f"{kind}: {kinds[kind]}", flush=True)
    finally:
        if cluster:
            cluster.close()
    return kinds


def quantity(value, unit=""):
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {name}{unit}"
    return f"{value:.3g} {unit}".strip()


def tables(kinds, given):
    """The measured and the worked out, as Markdown."""
    names = {"feeds": "a feed", "reads": "a read that is listed", "items": "a task", "events": "an imported event"}
    lines = [f"One more, from {given.few:,} to {given.many:,} of them:", "",
             "| what | rows | bytes in SQLite | bytes in PostgreSQL |", "| --- | --- | --- | --- |"]
    for kind, (rows, small, large) in kinds.items():
        lines.append(f"| {names[kind]} | {rows:.2f} | {small:,.0f} | {'not measured' if large is None else f'{large:,.0f}'} |")
    items = CIRCLES * ITEMS
    lines += ["", f"{FEEDS:,} feeds, and {CIRCLES:,} circles of {ITEMS:,} items, which are {items:,}:", "",
              "| what | rows | SQLite | PostgreSQL |", "| --- | --- | --- | --- |"]
    for kind, count, name in (("feeds", FEEDS, "feeds"), ("items", items, "items")):
        rows, small, large = (None if value is None else value * count for value in kinds[kind])
        lines.append(f"| {name} | {quantity(rows)} | {quantity(small, 'B')} | "
                     f"{'not measured' if large is None else quantity(large, 'B')} |")
    lines += ["", "| each feed is polled every | polls a second | processors for unchanged polls |", "| --- | --- | --- |"]
    for hours in HOURS:
        rate = FEEDS / hours / 3600
        lines.append(f"| {hours} h | {rate:,.0f} | {rate * POLL_MICROSECONDS / 1e6:.2f} |")
    servers = math.ceil(FEEDS * TOKEN_BYTES / TOKEN_MEMORY)
    lines += ["", f"{FEEDS:,} tokens at {TOKEN_BYTES} bytes are {quantity(FEEDS * TOKEN_BYTES, 'B')} of memory: "
              f"{servers} servers with {TOKEN_MEMORY >> 20} MiB each, if each feed always comes to the same one."]
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", type=Path)
    options.add_argument("bench", type=Path)
    options.add_argument("--few", type=int, default=10_000)
    options.add_argument("--many", type=int, default=100_000)
    options.add_argument("--folder", help="where the databases are made")
    options.add_argument("--write", action="store_true", help="write the tables into docs/scale.md")
    given = options.parse_args()
    os.environ["KALENDS"] = str(given.program)
    text = tables(measured(given), given)
    print(text)
    if given.write:
        page = ROOT / "docs" / "scale.md"
        page.write_text(re.sub(
            r"(<!-- Scripts/scale.py --write -->\n).*?(\n<!-- end -->)", lambda found: found[1] + text + found[2],
            page.read_text(), flags=re.S))


if __name__ == "__main__":
    main()

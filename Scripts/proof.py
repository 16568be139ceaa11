# SPDX-License-Identifier: Apache-2.0
"""Writes docs/proof.md: what README.md and SECURITY.md promise, the command that shows each, and its last figure.

usage: proof.py                     writes the page from what is known
       proof.py run NAME…|all       runs the commands of these proofs first, and keeps what they print
       proof.py take NAME FILE [COMMIT]
                                    takes what a command printed from a file, made on this commit or on another one

A figure is lines of the harness's own output. It is kept in Scripts/proof.json with the commit and the day on which it was
made; a page that is written later shows which commit that was."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

KEPT, PAGE = Path("Scripts/proof.json"), Path("docs/proof.md")

# Name, where it is promised, the promise, the command, and what of its output is the figure.
PROOFS = [
    ("tests", "README", "All of it, with clients and readers that others wrote", "make test", r"✔ Test run with .*"),
    ("busy", "README", "The same suite ten times in a row, beside three processes that never wait", "make test-busy", r"busy: .*"),
    ("release", "README", "The same in the program that is installed", "make test-release",
     r"\d+ of \d+ programs are right.*|kept\.|VIOLATED.*|reads that were sent after.*"),
    ("clients", "README", "Thunderbird, Evolution, vdirsyncer and khal hold every event to the second",
     "make test-clients", r"\d+ of \d+ programs are right.*"),
    ("check", "README", "No warning, and the house's rules", "make check", r"[\w-]+-rule: .*"),
    ("hazards", "SECURITY", "Any bytes may be sent as a calendar file: twice as much takes at most 2.2 times as long",
     "make bench-hazards",
     r"\d+ hazards up to .*|More than .*"),
    ("growth", "SECURITY", "Each text of each route: twice as much takes at most 2.2 times as long", "make test-growth",
     r"growth: .*|FAILED:.*"),
    ("rules", "SECURITY", "50,000 random rules within 50 ms each", "make bench-rules",
     r"\d+ random rules.*|.* ms   99\.9 %.*"),
    ("fuzz", "SECURITY", "Inputs that learn from the reader's branches, under the sanitizers of addresses and of undefined behaviour", "make fuzz",
     r"Done \d+ runs.*|Found something.*"),
    ("fuzz-readers", "SECURITY", "The same for every other reader of text from outside, and the bytes of a connection",
     "make fuzz TARGET=readers", r"Done \d+ runs.*|Found something.*"),
    ("fuzz-mutate", "SECURITY", "And with changed copies of real inputs", "make fuzz TARGET=mutate",
     r"mutate: .*|Found something.*"),
    ("fuzz-document", "SECURITY", "And with what the OpenAPI document describes, with and without faults",
     "make fuzz TARGET=document", r"document: .*|Found something.*"),
    ("sanitize", "SECURITY", "No report of the sanitizers of addresses, of undefined behaviour and of threads",
     "make sanitize", r".*Test run with .*"),
    ("timing", "SECURITY", "The time of an answer says nothing of a token, key, session or password",
     "make test-timing", r"timing: .*"),
    ("revocation", "SECURITY", "An end takes effect at the next request", "make test-revocation",
     r".*(?:reads that were sent after|reads in).*"),
    ("kill", "README", "kill -9 loses nothing that was answered", "make test-kill", r".*complete ≤.*|kept\.|VIOLATED.*"),
    ("postgresql", "README", "Nor is anything lost when PostgreSQL crashes, ends its sessions or is paused",
     "make test-postgresql", r"kept\.|VIOLATED.*"),
    ("failover", "docs/postgresql.md", "Nor when a standby is promoted under load", "make test-failover", r"kept\.|VIOLATED.*|.*complete ≤.*"),
    ("restores", "README", "A backup under load is the database at one commit, and restores on both engines", "make test-restores",
     r"kept\.|VIOLATED.*|a database of .*"),
    ("moves", "docs/postgresql.md", "A move to PostgreSQL or back that is killed is continued", "make test-move", r"kept\.|VIOLATED.*"),
    ("nodes", "docs/nodes.md", "Nor of several servers on one database, and what one ends none of the others answers any more",
     "make test-nodes", r"kept\.|VIOLATED.*|.*reads .*"),
    ("nodes-long", "docs/nodes.md", "The same for ten minutes, with as many polls as the machine can do up to 1,500 a second",
     "make test-nodes-long", r"kept\.|VIOLATED.*|\s+(?:requests|reads|ends|faults) .*"),
    ("power", "README", "Nor does a power cut", "make test-power-cut", r"kept\.|VIOLATED.*|.*not recorded.*|skipped.*"),
    ("disk", "README", "Every 200 and 304 is counted on disk before it leaves: on a full disk too", "make test-disk-full",
     r"kept\.|VIOLATED.*|skipped.*"),
    ("clock", "README", "Counts hold when the clock jumps", "make test-clock", r"kept\.|VIOLATED.*|skipped.*"),
    ("long", "README", "Imports of 100,000 events leave others their turn", "make test-long-writes", r"kept\.|VIOLATED.*|.*\d MiB"),
    ("sync", "README", "Calendars in step survive kill -9 on both sides", "make test-sync-kill", r"\d+ histories.*|kept\.|VIOLATED.*"),
    ("slow", "README", "Slow clients keep nobody waiting", "make test-slow", r"normal polls.*|memory: .*|FAULT.*"),
    ("mixed", "README", "Nor do a hundred hostile ones", "make test-mixed", r"reader: .*|memory: .*|kept\.|not kept\.|FAULT.*"),
    ("files", "README", "Hostile backups, databases, keys, journals and configuration get a sentence",
     "make test-hostile-files", r"\s+all\s+\d+|kept\.|VIOLATED.*"),
    ("proxies", "README", "Caddy and nginx as the README has them", "make test-proxies", r"kept\.|VIOLATED.*|skipped.*"),
    ("package", "README", "The Debian package: an upgrade refuses no request", "make test-package",
     r"\s+ok  .*(?:none refused|exposure|first version|schema).*|package: .*"),
    ("container", "docs/operations.md", "The container, as its compose file says and beside PostgreSQL", "make test-container",
     r"container: .*"),
    ("pages", "README", "Pages in a browser, by mouse and keyboard, with scripts and without", "make test-pages",
     r"\d+ pages, \d+ faults|\d+ tried, \d+ faults|\{\"looked\".*"),
    ("caldav", "README", "Four real CalDAV servers", "make test-caldav", r".*Test run with .*"),
    ("scale", "README", "10,000 connections in time", "make test-connections-scale", r"in time.*|\d+: connected.*|.*MiB.*"),
    ("bench", "README", "Polls beside nginx, reading and writing beside libical and others (docs/performance.md)",
     "make bench", r"bench: .*"),
    ("million", "README", "A million feeds", "make bench-million",
     r"unchanged polls a second.*|.*MiB resident after.*|start after kill.*"),
    ("bench-nodes", "docs/nodes.md", "What several servers on one database cost", "make bench-nodes",
     r"SQLite .*|\d of several.*|revocation, \d servers, 0 .*"),
    ("move", "docs/nodes.md", "A million feeds on PostgreSQL, moved there and back", "make bench-move",
     r"moved .*|start: .*|unchanged polls of .*|start after .*"),
    ("asvs", "SECURITY", "OWASP ASVS 5.0, levels 1 and 2 (docs/asvs.md)", "python3 -B Scripts/asvs-rule.py",
     r"asvs-rule: .*"),
]
MOST_LINES = 10


def commit(name):
    return subprocess.run(
        ["git", "rev-parse", "--short=12", "--verify", name], capture_output=True, text=True, check=True).stdout.strip()


def now():
    head = commit("HEAD")
    # What the page itself is made of changes nothing of what was measured.
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", ".", f":!{KEPT}", f":!{PAGE}"], capture_output=True, text=True).stdout
    return {"commit": head + ("+" if changed.strip() else ""), "day": time.strftime("%Y-%m-%d", time.gmtime())}


def figure(pattern, text):
    """The last lines of an output that say what came of it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    found = [line.strip() for line in text.splitlines() if re.fullmatch(pattern, line.rstrip())]
    return found[-MOST_LINES:]


def take(kept, proof, text, status, **made):
    kept[proof[0]] = {"lines": figure(proof[4], text), "status": status, **now(), **made}


def run(kept, proof):
    print(f"== {proof[3]}", flush=True)
    done = subprocess.run(proof[3], shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    take(kept, proof, done.stdout, done.returncode)
    print("\n".join(kept[proof[0]]["lines"]) or done.stdout[-500:], f"(status {done.returncode})", flush=True)


def cell(text):
    return text.replace("|", "\\|")


def write(kept):
    lines = [
        "# Proof", "",
        "Each promise of `README.md` and `SECURITY.md`, and the command that shows it on any machine. The figures are lines that",
        "the commands printed, with the commit and the day; `python3 -B Scripts/proof.py run NAME` makes one again, and this page",
        "with it. What has no figure was not run on the state that is published.", "",
        "| promise | in | command | last figure | commit, day |", "| --- | --- | --- | --- | --- |"]
    for name, place, promise, command, _ in PROOFS:
        one = kept.get(name)
        shown, when = "", ""
        if one:
            failed = "" if one["status"] == 0 else f"**ended with {one['status']}** "
            shown = failed + "<br>".join(cell(line) for line in one["lines"])
            when = f"{one['commit']}, {one['day']}"
        lines.append(f"| {promise} (`{name}`) | {place} | `{command}` | {shown} | {when} |")
    PAGE.write_text("\n".join(lines) + "\n")


def main(words):
    proofs = {proof[0]: proof for proof in PROOFS}
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    names = list(proofs) if words[1:] == ["all"] else words[1:]
    if words[:1] == ["run"] and names and set(names) <= set(proofs):
        for name in names:
            run(kept, proofs[name])
            KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    elif words[:1] == ["take"] and len(words) in (3, 4) and words[1] in proofs:
        made = {"commit": commit(words[3])} if len(words) == 4 else {}
        take(kept, proofs[words[1]], Path(words[2]).read_text(errors="replace"), 0, **made)
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    elif words:
        sys.exit(f"{__doc__}\n\nNAME is one of {', '.join(proofs)}.")
    write(kept)
    return int(any(kept[name]["status"] for name in names if name in kept))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

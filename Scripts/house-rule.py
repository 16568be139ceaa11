# SPDX-License-Identifier: Apache-2.0
"""Finds the places that change what is stored without the one act, and what a room of the house may not know.

    python3 -B Scripts/house-rule.py

Callers change something through `Acts` (Sources/FeedServer/UseCases/Acts): it checks the right, says which circles are
concerned and writes the audit trail. What the server does by itself, in the background or at its start, is named below
with its reason, and so are the few steps of longer work whose act comes at the end of it. Routes know no store, and use
cases know no HTTP. No value is aligned to more than 16 bytes.
"""

import re
import sys
from pathlib import Path

# What only the act does. A step of `recordInSteps` and its kind is a write too.
WRITE, CONCERNS, NOTE, TOUCH = "store.write/record", "concerns(circle:)", "AuditTrail.note", "touchCircle"
PATTERNS = {
    WRITE: re.compile(r"\bstore\s*\.\s*(?:write|record\w*)\b"),
    CONCERNS: re.compile(r"\bconcerns\(\s*circle:"),
    NOTE: re.compile(r"\bAuditTrail\s*\.\s*note\w*\b"),
    TOUCH: re.compile(r"\.touchCircle\("),
}

# Values that are aligned to 32 bytes and more: an optimized build gives an asynchronous function that keeps one a frame
# that is too short for it, and the process dies of an overwritten heap.
WIDE = re.compile(r"\bSIMD(?:4<U?Int(?:64)?>|4<Double>|8<(?:U?Int(?:32|64)?|Float|Double)>|(?:16|32|64)<)")

# Files that may, and why. Paths are without `Sources/`.
ALLOWED = {
    ("FeedServer/UseCases/Acts/Act.swift", WRITE): "the act",
    ("FeedServer/UseCases/Acts/Act.swift", NOTE): "the act",
    ("FeedServer/UseCases/Acts/Ground.swift", CONCERNS): "the act",
    ("FeedServer/Schedule/ScheduleWriter.swift", TOUCH): "the act's writer of items, once for all of them",
    # The server by itself, for nobody.
    ("FeedServer/Application/Installation.swift", WRITE): "at the start: what the program and its key are",
    ("FeedServer/Application/Server.swift", WRITE): "housekeeping: what is old is removed",
    ("FeedServer/Application/Tidying.swift", WRITE): "removes what nobody sees, revises what an act left due",
    ("FeedServer/Application/Tidying.swift", CONCERNS): "revises what an act left due",
    ("FeedServer/Imports/LegacyEvents.swift", WRITE): "at the start: events of earlier versions are sorted",
    ("FeedServer/Commands/Restore.swift", WRITE): "a copy in no server's hands forgets the journal of another",
    ("FeedServer/Commands/Reseal.swift", WRITE): "another key for all that is sealed, with no server on the database",
    ("FeedServer/UseCases/Operator/KeyRotation.swift", WRITE): "another key for what is sealed, which stays the same text",
    ("FeedServer/Identity/Authentication.swift", WRITE): "when a credential was last used, once a minute",
    ("FeedServer/Identity/Passwords/SignInBrake.swift", WRITE): "counts of wrong passwords, before anybody is known",
    ("FeedServer/OfficeDays/OfficeNights.swift", WRITE): "nights that end, which decide what a day was",
    ("FeedServer/OfficeDays/OfficeNights.swift", CONCERNS): "nights that end, which decide what a day was",
    ("FeedServer/Webhooks/WebhookDispatch.swift", WRITE): "which messages were sent, and how they were taken",
    ("FeedTokens/Accesses/AccessCounter.swift", WRITE): "counts of reads are folded from their journal",
    ("FeedTokens/Accesses/JournalOpening.swift", WRITE): "at the start: which journal the database belongs to",
    ("FeedServer/Subscriptions/SubscriptionRefresh.swift", WRITE): "calendars that are followed, fetched for nobody",
    ("FeedServer/Subscriptions/SubscriptionRefresh.swift", CONCERNS): "calendars that are followed, fetched for nobody",
    ("FeedServer/Connections/GrantDesk.swift", WRITE): "tokens that were renewed, and accounts that let us in no longer",
    ("FeedServer/UseCases/Connections/Connections+Authorizing.swift", WRITE):
        "takes a sign-in out before anybody is known: it serves once, whatever comes of it",
    ("FeedServer/Connections/ConnectionRun.swift", WRITE): "a run's lease, its beginning, and its end when it is broken off",
    ("FeedServer/Connections/ConnectionRun+Settling.swift", WRITE): "what a run came to, and when the next one is due",
    ("FeedServer/Connections/ConnectionRun+Watching.swift", WRITE): "where a provider reports changes",
    ("FeedServer/Connections/PhoneCalendar.swift", WRITE): "what a run writes for a phone; items change by acts",
    ("FeedServer/UseCases/Phones/PhoneItems.swift", WRITE): "when a carrier asked, and what its items were made of",
    ("FeedServer/Connections/ConnectionSync.swift", WRITE): "at the start: what another process held",
    ("FeedServer/Connections/DatabaseSyncStore.swift", WRITE): "what the engine keeps of a run; items change by acts",
    ("FeedServer/UseCases/Connections/ChangeReports.swift", WRITE): "hints of providers, who are nobody's callers",
    ("FeedServer/UseCases/Connections/Resolving.swift", WRITE): "the lease around an act, and the run after it",
    # Steps of imports, which nobody sees until their act.
    ("FeedServer/Imports/EventStaging.swift", WRITE): "staged events, which nobody sees until an act publishes them",
    ("FeedServer/Imports/ImportWork.swift", WRITE): "clears what a commit that was broken off left, before its act",
    ("FeedServer/UseCases/Imports/Imports.swift", WRITE): "marks imports that failed, when the caller may be gone",
    ("FeedServer/UseCases/Webhooks/Webhooks+Changing.swift", WRITE): "a month's messages, in steps before their act",
}

# What a folder may not name, and why. Folders are without `Sources/`.
FRONT = re.compile(
    r"^\s*(?:@testable |internal |private |public )?import (?:Hummingbird\w*|HTTPTypes|NIO\w*|AsyncHTTPClient|GRDB)\b"
    r"|\b(?:KalendsContext|HTTPFields|HTTPResponse|HTTPRequest|ProblemDocument|RouteTable)\b", re.MULTILINE)
STORE = re.compile(
    r"\bservices\s*\.\s*(?:store|maintenance|acts)\b"
    r"|\bany (?:Store|StoreMaintenance|ReadTransaction|WriteTransaction)\b")
ROOMS = {
    "FeedServer/UseCases": (FRONT, "a use case knows no HTTP"),
    **{
        f"FeedServer/{room}": (FRONT, "the product's rules know no HTTP")
        for room in (
            "Audit", "Connections", "Feeds", "Imports", "OfficeDays", "Schedule", "Subscriptions", "Webhooks")
    },
    "FeedServer/Routes": (STORE, "a route decodes, calls one use case and shows what it gave"),
    "FeedServer/PagesFront": (STORE, "a page's handler calls use cases and fills one model"),
    "FeedServer/Views": (STORE, "a view shows what it is given"),
}

# The plan names files; a file that was moved is moved there too.
PLAN = Path("docs/architecture.md")
NAMED = re.compile(r"`((?:[A-Z]\w+/)+[A-Z]\w+)`")


def missing():
    """What the plan of the house names and is not there."""
    for name in NAMED.findall(PLAN.read_text()):
        places = [Path("Sources") / name, Path("Sources/FeedServer") / name]
        if not any(place.is_dir() or place.with_name(place.name + ".swift").is_file() for place in places):
            yield f"{PLAN}: {name} is not there"


COMMENT = re.compile(r"//[^\n]*")


def code(path):
    """A file's text without its comments; lines keep their numbers."""
    return COMMENT.sub("", path.read_text())


def main():
    root = Path("Sources")
    found, used = [], set()
    for path in sorted(root.glob("**/*.swift")):
        name = path.relative_to(root).as_posix()
        for match in WIDE.finditer(code(path)):
            found.append(f"{name}: {match.group()} is aligned to more than 16 bytes; keep it in halves")
        if name.startswith(("Storage/", "StoragePostgreSQL/", "StorageSQLite/")):
            continue
        text = code(path)
        for kind, pattern in PATTERNS.items():
            for match in pattern.finditer(text):
                if (name, kind) in ALLOWED:
                    used.add((name, kind))
                else:
                    found.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {kind} outside of the act")
        for room, (pattern, rule) in ROOMS.items():
            if name.startswith(room + "/"):
                for match in pattern.finditer(text):
                    line = text.count("\n", 0, match.start()) + 1
                    found.append(f"{name}:{line}: {match.group().strip()}, but {rule}")
    found += missing()
    found += [f"{name}: has no {kind} any more; take it out of ALLOWED" for name, kind in sorted(ALLOWED.keys() - used)]
    if found:
        sys.exit("The rules of the house are not kept:\n" + "\n".join(found))
    print(f"house-rule: everything stored for a caller goes through the act; {len(ALLOWED)} other places have a reason")


main()

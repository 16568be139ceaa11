# SPDX-License-Identifier: Apache-2.0
"""Finds the places that change what is stored without the one act, and what a room of the house may not know.

    python3 -B Scripts/house-rule.py

Callers change something through `Acts` (Sources/KalendsCore/People/Rules/Acts): it checks the right, says which
circles are concerned and writes the audit trail. What the server does by itself, in the background or at its start,
is named below with its reason, and so are the few steps of longer work whose act comes at the end of it. Routes know
no store, use cases know no HTTP, and a noun knows none that comes after it. JSON has one reader, and text from
outside one way in. No value is aligned to more than 16 bytes, and nothing asks for tables of languages.
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

# Another reader of JSON, which would have other guards. Foundation's makes values of types from what ours has judged.
READER = re.compile(r"\b(?:JSONDecoder|JSONSerialization)\b")
JUDGED = "Base/JSON/Decodable+JSON.swift"

# What Foundation asks ICU's tables for, which the program does not have (CEmptyICU). `FoundationClock` is for phones.
TABLES = re.compile(
    r"\bimport (?:\w+ )?Foundation(?:Internationalization)?\b(?!E)"
    r"|\b(?:(?:Time|Locale|Date|Number)Formatter|NSRegularExpression|Locale)\b"
    r"|\b(?:TimeZone|Calendar)(?:\(identifier|\.(?:auto)?(?:current|updating)\w*)|\.(?:formatted|localized\w*)\(")
PHONES = "OfficeDays/OfficeClock.swift"

# Where strangers' bytes become text: `String(fromOutside:)`, or `.fromOutside` behind what makes it, bounds its combining
# marks. Without it a comparison in a package, or a hash, takes time that grows with the square of what a stranger sends.
DOORS = (
    "Base/JSON/JSONParser", "ICalBridge/Reading/", "ICalBridge/XML/", "ICalBridge/Forms/", "ICalBridge/Verdicts/",
    "ICalBridge/Libical/", "CalendarSync/", "CompanionFolder/", "KalendsFront/", "CalDAVServer/")
DOOR = "KalendsFront/Edge/HeadMarks.swift"
MADE = re.compile(r"\bString\(\s*(?:decoding|validating|copying|cString|bytes|data|buffer|contentsOf\w*): [^\n]*")
BOUNDED = re.compile(r"fromOutside|[!=]= nil|as: UTF16\.self\)\.utf8\)")

# Base has the operators that compare text by its bytes; with this line they apply to all files of a module.
SHARED = re.compile(r"^@_exported public import Base\b", re.MULTILINE)
TARGET = re.compile(r'arget\(\s*name: "(\w+)",\s*dependencies: \[([^\]]*)\]')

# Files that may, and why. Paths are without `Sources/`.
ALLOWED = {
    ("KalendsCore/People/Rules/Acts/Act.swift", WRITE): "the act",
    ("KalendsCore/People/Rules/Acts/Act.swift", NOTE): "the act",
    ("KalendsCore/People/Rules/Acts/ActTarget.swift", CONCERNS): "the act",
    ("KalendsCore/People/Rules/Acts/OnceRequest.swift", WRITE): "the answer to a request whose act has kept none",
    ("KalendsCore/People/Rules/Audit/AuditTrail.swift", WRITE): "gives acts their places in the trail",
    ("KalendsCore/Schedule/Rules/ScheduleWriter.swift", TOUCH): "the act's writer of items, once for all of them",
    # The server by itself, for nobody.
    ("Server/Assembly/Installation.swift", WRITE): "at the start: what the program and its key are",
    ("Server/Assembly/ShownForm.swift", WRITE): "what the program shows differently than the one before",
    ("Server/Background/Housekeeping.swift", WRITE): "housekeeping: what is old is removed",
    ("KalendsCore/Shared/Installation/Tidying.swift", WRITE): "removes what nobody sees, revises what an act left due",
    ("KalendsCore/Shared/Installation/Tidying.swift", CONCERNS): "revises what an act left due",
    ("KalendsCore/Shared/Installation/Tidying+Tasks.swift", WRITE): "removes what files said of tasks that are gone for good",
    ("KalendsCore/Shared/Installation/Tidying+Tasks.swift", CONCERNS): "removes what files said of tasks that are gone for good",
    ("KalendsCore/Shared/Installation/Tidying+Erasing.swift", WRITE): "takes an erasure to its end, which an act began",
    ("KalendsCore/Shared/Installation/Tidying+Erasing.swift", CONCERNS): "takes an erasure to its end",
    ("KalendsCore/Shared/Installation/Tidying+Erasing.swift", NOTE): "says of how many entries it took the names out",
    ("FeedServer/Commands/Restore.swift", WRITE): "a copy in no server's hands forgets the journal of another",
    ("FeedServer/Commands/Reseal.swift", WRITE): "another key for all that is sealed, with no server on the database",
    ("KalendsCore/Shared/Operator/KeyRotation.swift", WRITE):
        "another key for what is sealed, which stays the same text",
    ("KalendsCore/People/Rules/UseNotes.swift", WRITE): "when a credential was last used, once a minute",
    ("KalendsCore/People/Rules/Passwords/SignInThrottle.swift", WRITE):
        "counts of wrong passwords, before anybody is known",
    ("KalendsCore/OfficeDays/Rules/OfficeNights.swift", WRITE): "nights that end, which decide what a day was",
    ("KalendsCore/OfficeDays/Rules/OfficeNights.swift", CONCERNS): "nights that end, which decide what a day was",
    ("KalendsCore/Sync/UseCases/Connections+Calendar.swift", WRITE): "links to a calendar that an act has left, in steps",
    ("KalendsCore/Calendars/Rules/Push/PushKey.swift", WRITE): "the key pair of the installation, which is made once",
    ("KalendsCore/Calendars/UseCases/PushRegistrations+Sending.swift", WRITE):
        "of what calendar apps were told, and how it was taken",
    ("WebhookSending/WebhookDispatch.swift", WRITE): "which messages were sent, and how they were taken",
    ("FeedTokens/Accesses/AccessCounter.swift", WRITE): "counts of reads are folded from their journal",
    ("FeedTokens/Accesses/JournalOwner.swift", WRITE): "at the start: which journals a database of several servers has",
    ("Server/Background/SharedJobs.swift", WRITE): "what servers that ended left",
    ("KalendsCore/Shared/Installation/Leases.swift", WRITE): "who does what one server at a time may do",
    ("KalendsCore/Shared/Installation/ShardWork.swift", WRITE): "which server does which part of the background work",
    ("FeedTokens/Accesses/JournalOpening.swift", WRITE): "at the start: which journal the database belongs to",
    ("KalendsCore/Imports/Rules/Subscriptions/SubscriptionRefresh.swift", WRITE):
        "calendars that are followed, fetched for nobody",
    ("KalendsCore/Imports/Rules/Subscriptions/SubscriptionRefresh.swift", CONCERNS):
        "calendars that are followed, fetched for nobody",
    ("KalendsCore/Sync/Rules/GrantRegistry.swift", WRITE):
        "tokens that were renewed, and accounts that let us in no longer",
    ("KalendsCore/Sync/UseCases/Connections+Authorizing.swift", WRITE):
        "takes a sign-in out before anybody is known: it serves once, whatever comes of it",
    ("KalendsCore/Sync/Rules/ConnectionRun.swift", WRITE):
        "a run's lease, its beginning, and its end when it is broken off",
    ("KalendsCore/Sync/Rules/ConnectionRun+Settling.swift", WRITE): "what a run came to, and when the next one is due",
    ("KalendsCore/Sync/Rules/ConnectionRun+Watching.swift", WRITE): "where a provider reports changes",
    ("KalendsCore/Sync/Rules/Phones/PhoneCalendar.swift", WRITE): "what a run writes for a phone; items change by acts",
    ("KalendsCore/Sync/UseCases/Phones/PhoneItems.swift", WRITE):
        "when a carrier asked, and what its items were made of",
    ("KalendsCore/Sync/Rules/SyncScheduler.swift", WRITE): "gives back a lease that could not be given back before",
    ("KalendsCore/Sync/Rules/ConnectionSync.swift", WRITE): "at the start: what another process held; every minute: counts of requests",
    ("KalendsCore/Sync/Rules/DatabaseSyncStore.swift", WRITE): "what the engine keeps of a run; items change by acts",
    ("KalendsCore/Sync/UseCases/ChangeReports.swift", WRITE): "hints of providers, who are nobody's callers",
    ("KalendsCore/Sync/UseCases/Resolving.swift", WRITE): "the lease around an act, and the run after it",
    # Steps of imports, which nobody sees until their act.
    ("KalendsCore/Imports/Rules/EventStaging.swift", WRITE):
        "staged events, which nobody sees until an act publishes them",
    ("KalendsCore/Imports/Rules/ImportWork.swift", WRITE):
        "clears what a commit that was broken off left, before its act",
    ("KalendsCore/Imports/UseCases/Imports.swift", WRITE): "marks imports that failed, when the caller may be gone",
    ("KalendsCore/Schedule/UseCases/Webhooks/Webhooks+Changing.swift", WRITE):
        "a month's messages, in steps before their act",
}

# What a folder may not name, and why. Folders are without `Sources/`. The compiler keeps the targets apart; what would
# make it let something through is looked at here too: an import, and a dependency in `Package.swift`.
OUTSIDE = r"(?:Hummingbird\w*|HTTPTypes|NIO\w*|AsyncHTTPClient|GRDB)"
FRONT = re.compile(
    rf"^\s*(?:@\w+(?:\(\w+\))? |internal |private |package |public )*import (?:\w+ )?{OUTSIDE}\b"
    r"|\b(?:KalendsContext|HTTPFields|HTTPResponse|HTTPRequest|ProblemDocument|RouteTable)\b", re.MULTILINE)
STORE = re.compile(
    r"\bservices\s*\.\s*(?:store|maintenance|acts)\b"
    r"|\bany (?:Store|StoreMaintenance|ReadTransaction|WriteTransaction)\b")
ROOMS = {
    "KalendsCore": (FRONT, "the product's rules and use cases know no HTTP and no engine"),
    "CalDAVServer": (STORE, "a method decodes, and calls use cases and collections"),
    "WebhookSending": (FRONT, "messages go out through Outbound"),
    "KalendsFront/Routes": (STORE, "a route decodes, calls one use case, and a view shows what that gave"),
    "KalendsFront/Pages": (STORE, "a page's handler calls use cases and fills one model"),
}

# The nouns of the core, each of which may name types of those before it; and the files that may name a later one's, and
# why. Use cases of all nouns are reached through Services, which are shared.
CORE_ROOM = Path("Sources/KalendsCore")
NOUNS = ("People", "Schedule", "Imports", "OfficeDays", "Feeds", "Sync", "Calendars")
AGAINST = {
    "OfficeDays/Rules/OfficeBook.swift": "a decided day is written to the person's phone and connection",
    "Feeds/Rules/PersonalEntries.swift": "a feed shows its owner's own events",
    "Feeds/UseCases/ReachQuery.swift": "a change has reached connections, too",
}
DECLARED = re.compile(
    r"^(?:(?:@\w+|package|public|final|indirect) )*(?:struct|class|enum|actor|protocol) (\w+)", re.MULTILINE)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TYPE = re.compile(r"(?<![.\w])[A-Z]\w*")


def wrong_arrows():
    """Where a noun of the core names a type of a later one."""
    texts = {path.relative_to(CORE_ROOM): code(path) for path in sorted(CORE_ROOM.glob("**/*.swift"))}
    rooms = {}
    for path, text in texts.items():
        for name in DECLARED.findall(text):
            rooms.setdefault(name, set()).add(path.parts[0])
    known = set()
    for path, text in texts.items():
        if path.parts[0] not in NOUNS:
            continue
        later = set(NOUNS[NOUNS.index(path.parts[0]) + 1:])
        names = {name for name in TYPE.findall(LITERAL.sub("", text)) if rooms.get(name) and rooms[name] <= later}
        if names and path.as_posix() in AGAINST:
            known.add(path.as_posix())
        elif names:
            yield f"KalendsCore/{path}: names {', '.join(sorted(names))}, of a noun that comes later"
    for path in sorted(AGAINST.keys() - known):
        yield f"{path}: names no later noun any more; take it out of AGAINST"


PLAN_OF_TARGETS = Path("Package.swift")
CORE = re.compile(r'name: "KalendsCore",\s*dependencies: \[(.*?)\n {12}\]', re.DOTALL)


def wrong_dependencies():
    """What the core's target could import and must not."""
    core = CORE.search(PLAN_OF_TARGETS.read_text())
    if not core:
        yield f"{PLAN_OF_TARGETS}: KalendsCore has no list of dependencies"
        return
    for name in re.findall(r'"(\w+)"', core.group(1)):
        if re.fullmatch(OUTSIDE, name) or name in ("KalendsFront", "Pages", "StorageSQLite"):
            yield f"{PLAN_OF_TARGETS}: KalendsCore depends on {name}, but {ROOMS['KalendsCore'][1]}"


def without_operators():
    """Modules in some of whose files text is compared as the standard library does."""
    for name, dependencies in TARGET.findall(PLAN_OF_TARGETS.read_text()):
        files = list(Path("Sources", name).glob("**/*.swift"))
        if files and '"Base"' in dependencies and not any(SHARED.search(file.read_text()) for file in files):
            yield f"{name}: no file has “@_exported public import Base”, so text is not compared by its bytes"


# These pages name files of the targets; a file that was moved is moved there too.
PAGES = (Path("docs/architecture.md"), Path("CONTRIBUTING.md"))
HOUSE = ("KalendsCore", "KalendsFront", "CalDAVServer", "Server", "FeedServer")
NAMED = re.compile(r"`((?:[A-Z]\w+/)+[A-Z]\w+)`")


def missing():
    """What the pages name and is not there."""
    for page in PAGES:
        for name in NAMED.findall(page.read_text()):
            places = [Path(name), Path("Sources") / name, *(Path("Sources") / target / name for target in HOUSE)]
            if not any(place.exists() or place.with_name(place.name + ".swift").is_file() for place in places):
                yield f"{page}: {name} is not there"


TARGET = re.compile(r'name: "(\w+)",\s*dependencies: \[(.*?)\]\s*[,)]', re.DOTALL)
OWN = re.compile(r'(?<!name: )(?<!package: )"(\w+)"')
ROW = re.compile(r"^\| (`.*`) \| [^|]* \| ([^|]*) \| [^|]* \|$", re.MULTILINE)


def wrong_uses():
    """Where the page says that a target uses other targets than the plan does."""
    page, plan = PAGES[0], {
        name: set(OWN.findall(listed)) for name, listed in TARGET.findall(PLAN_OF_TARGETS.read_text())}
    for targets, uses in ROW.findall(page.read_text()):
        names = set(re.findall(r"\w+", targets))
        planned = set().union(*(plan.get(name, set()) for name in names)) - names - {"Base"}
        if planned != set(re.findall(r"`(\w+)`", uses)):
            yield f"{page}: {targets} uses {', '.join(sorted(planned)) or 'nothing'}"


COMMENT = re.compile(r"//[^\n]*")


def code(path):
    """A file's text without its comments; lines keep their numbers."""
    return COMMENT.sub("", path.read_text())


def main():
    found, used = [], set()
    roots = Path("Sources"), Path("Companion/Sources")
    for root, path in ((root, path) for root in roots for path in sorted(root.glob("**/*.swift"))):
        name = path.relative_to(root).as_posix()
        for match in WIDE.finditer(code(path)):
            found.append(f"{name}: {match.group()} is aligned to more than 16 bytes; keep it in halves")
        for match in TABLES.finditer(code(path) if root == roots[0] and name != PHONES else ""):
            found.append(f"{name}: {match.group()} asks for tables that the program does not have")
        for match in READER.finditer(code(path) if name != JUDGED else ""):
            found.append(f"{name}: {match.group()} reads JSON without the guards of Base/JSON")
        for match in MADE.finditer(code(path) if name.startswith(DOORS) and name != DOOR else ""):
            if not BOUNDED.search(match.group()):
                found.append(f"{name}: {match.group().strip()} makes text of strangers' bytes without fromOutside")
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
    found += wrong_dependencies()
    found += without_operators()
    found += wrong_arrows()
    found += wrong_uses()
    found += [f"{name}: has no {kind} any more; take it out of ALLOWED" for name, kind in sorted(ALLOWED.keys() - used)]
    if found:
        sys.exit("The rules of the house are not kept:\n" + "\n".join(found))
    print(f"house-rule: everything stored for a caller goes through the act; {len(ALLOWED)} other places have a reason")


main()

# SPDX-License-Identifier: Apache-2.0
"""Finds the places where text is compared, ordered or hashed by the standard library, which normalises it: in time that
grows with the square of a run of combining marks, and a stranger may choose the text.

    python3 -B Scripts/text-rule.py .build release

It looks into compiled files, where nothing that the compiler derives or infers is hidden. They are compiled for this, beside
the modules of that build and by its commands, but file by file and without the optimizer, which moves such places. Base's
operators stand in for `==`, `<`, `switch` and `hasPrefix`; what is left are keys of dictionaries and sets, and generic
functions. Use ByteString, a closure with `==`, or the functions of Base/Text. What is harmless is named below with its
reason.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

MODULES = [
    "Base", "ICalBridge", "Storage", "StorageSQLite", "StoragePostgreSQL", "FeedTokens", "Outbound", "CalendarSync",
    "OfficeDays", "PhoneTexts", "KalendsCompanion", "KalendsEventKit", "CompanionFolder", "CompanionTool", "Pages",
    "KalendsCore", "KalendsFront", "Server", "FeedServer"]

# What the standard library does with normalised text.
SYMBOLS = {
    "$sSS2eeoiySbSS_SStFZ": "String ==",
    "$sSS2neoiySbSS_SStFZ": "String !=",
    "$sSS1loiySbSS_SStFZ": "String <",
    "$sSSSHsWP": "String as a key, or hashed",
    "$sSSSLsWP": "String ordered by a generic function",
    "$sSSSQsWP": "String compared by a generic function",
    "$sSsSHsWP": "Substring as a key, or hashed",
    "$sSsSQsWP": "Substring compared by a generic function",
    "$sSs2eeoiySbSs_SstFZ": "Substring ==",
    "$sSS9hasPrefixySbSSF": "String.hasPrefix",
    "$sSS9hasSuffixySbSSF": "String.hasSuffix",
    "$sSJ2eeoiySbSJ_SJtFZ": "Character ==",
    "$sSJ2neoiySbSJ_SJtFZ": "Character !=",
    "$sSJ1loiySbSJ_SJtFZ": "Character <",
    "$sSJSHsWP": "Character as a key, or hashed",
    "$sSJSQsWP": "Character compared by a generic function",
    "$sSJSLsWP": "Character ordered by a generic function",
    "$sSy17_StringProcessingE8containsySbSSF": "String.contains",
    "$ss21_findStringSwitchCase5cases6stringSiSays06StaticB0VG_SStF": "init(rawValue:) of an enumeration",
}

KEY, SHARED, ORDER = "String as a key, or hashed", "String compared by a generic function", (
    "String ordered by a generic function")
PIECE_KEY, PIECE = "Substring as a key, or hashed", "Substring compared by a generic function"
EQUAL = "String =="
CASES = "init(rawValue:) of an enumeration"
LETTER = "Character compared by a generic function"

LOG = "metadata of the log, under names of our own"
QUERY = "the framework's query parameters; the request's target was bounded by HeadMarks"
OURS = "a fixed list of our own"
TEMPLATES = "the names of words, inserts and fields in our own templates and forms"
OPERATOR = "the operator's own settings or the program's own words"
COLUMNS = "the names of columns and parameters in our own statements"
BOUNDED = "the text's marks were bounded before"
FIELDS = "the names of fields in our own forms"
ATTRIBUTES = "the names that Foundation has for a file's attributes"
METHOD = "a method, which HTTP keeps to ASCII, beside one of ours"

# Files in which one of them is harmless, and why. An enumeration's raw values are ours, and bring their own key along;
# what a stranger wrote is made a case of by `init(text:)`.
ALLOWED = {
    ("ICalBridge/SystemTimeZones", KEY): OURS, ("ICalBridge/SystemTimeZones", SHARED): OURS,
    ("ICalBridge/TypedValue+Reading", SHARED): OURS, ("ICalBridge/ValueType", KEY): OURS,
    ("ICalBridge/ValueType", SHARED): OURS, ("ICalBridge/Problem", SHARED): OURS,
    ("ICalBridge/VersionOneRule", PIECE): "words of a rule, of which only the shortest are looked at",
    ("ICalBridge/ZoneNames", PIECE): "a zone's name in pieces, compared with two dots",
    ("Storage/FeedToken", SHARED): OURS, ("Storage/SQLValue", SHARED): COLUMNS,
    ("StoragePostgreSQL/Session", KEY): COLUMNS,
    ("StoragePostgreSQL/Dialect", LETTER): "our own statements", ("StoragePostgreSQL/ConnectionTarget", KEY): OPERATOR,
    ("Server/AccessFolding", KEY): LOG, ("KalendsFront/FeedFastPath", KEY): LOG,
    ("KalendsFront/FeedReadingRoutes", KEY): LOG, ("KalendsCore/ImportFailure", KEY): LOG,
    ("KalendsFront/ImportRoutes", KEY): LOG, ("KalendsFront/RouteLog", KEY): LOG, ("FeedServer/Serve", KEY): LOG,
    ("KalendsFront/LineLogHandler", KEY): LOG, ("Server/PublicPort", KEY): LOG,
    ("Server/Housekeeping", KEY): LOG, ("Server/ServerRun", KEY): LOG, ("Server/SharedJobs", KEY): LOG,
    ("KalendsCore/SubscriptionRefresh", KEY): LOG,
    ("KalendsCore/WebhookDispatch", KEY): LOG, ("Server/HangupHandler", KEY): LOG, ("KalendsCore/Background", KEY): LOG, ("KalendsFront/ProxyNotice", KEY): LOG,
    ("KalendsFront/TLSCertificates", KEY): LOG,
    ("KalendsFront/AuditRoutes", PIECE_KEY): QUERY, ("KalendsFront/FeedPreviewRoute", PIECE_KEY): QUERY,
    ("KalendsFront/ImportRoutes", PIECE_KEY): QUERY, ("KalendsFront/Page", PIECE_KEY): QUERY,
    ("KalendsFront/Request+Body", PIECE_KEY): QUERY, ("KalendsFront/ScheduleRoutes", PIECE_KEY): QUERY,
    ("KalendsFront/OfficeDayRoutes", PIECE_KEY): QUERY, ("KalendsFront/OfficeSettingsRoutes", PIECE_KEY): QUERY,
    ("KalendsFront/ConnectionRoutes", PIECE_KEY): QUERY, ("KalendsFront/PersonalEventRoutes", PIECE_KEY): QUERY,
    ("KalendsFront/PlannedRoutes", PIECE_KEY): QUERY, ("KalendsFront/SyncRoutes", PIECE_KEY): QUERY,
    ("KalendsCore/OfficeNights", KEY): LOG, ("KalendsCore/ConnectionRun", KEY): LOG,
    ("KalendsCore/ConnectionRun+Watching", KEY): LOG, ("KalendsCore/ConnectionSync", KEY): LOG,
    ("KalendsCore/ImportCounts", SHARED): OURS, ("KalendsFront/QueryCheck", SHARED): OURS, ("KalendsCore/Setting", KEY): OPERATOR,
    ("KalendsFront/DocumentationPage", KEY): OURS, ("KalendsFront/OpenAPIDocument", SHARED): OURS,
    ("KalendsFront/RouteTable", SHARED): OURS, ("KalendsFront/RouteTable+Document", SHARED): OURS,
    ("KalendsCore/Scope", SHARED): OURS, ("KalendsCore/Metrics", ORDER): OURS, ("KalendsCore/SignedToken", KEY): OURS,
    ("Outbound/HopTransport", KEY): "the one host that a request goes to", ("Server/PassedSocket", KEY): OPERATOR,
    ("KalendsCore/ImportReader", KEY): OPERATOR,
    ("Server/ShownForm", KEY): OPERATOR, ("KalendsCore/ServerSettings", KEY): OPERATOR,
    ("FeedServer/SettingsOptions", KEY): OPERATOR, ("FeedServer/Move", KEY): OPERATOR,
    ("KalendsCore/SettingsFile", KEY): OPERATOR, ("KalendsCore/SettingCredentials", KEY): OPERATOR,
    ("KalendsFront/PacedAnswers", SHARED): OURS, ("KalendsFront/Refusal+Paths", PIECE): OURS,
    ("Storage/SQLiteStore+Inspection", KEY): COLUMNS,
    ("FeedServer/CheckProblems", SHARED): BOUNDED, ("FeedServer/Expand", ORDER): BOUNDED,
    ("KalendsFront/FeedReadingRoutes", SHARED): BOUNDED, ("KalendsFront/FeedRequest", SHARED): BOUNDED,
    ("KalendsFront/FeedRoutes", SHARED): BOUNDED, ("KalendsCore/RenderedSchedule", ORDER): BOUNDED,
    ("KalendsCore/SubscriptionRefresh", SHARED): BOUNDED, ("KalendsCore/WebhookMessage", SHARED): BOUNDED,
    ("KalendsFront/WebhookRoutes", SHARED): BOUNDED,
    ("KalendsCore/BrandSettings", SHARED): OPERATOR, ("CompanionTool/Login", KEY): OPERATOR,
    ("KalendsCompanion/PrivateFile", EQUAL): ATTRIBUTES,
    # Copies of packages' generic functions, in files that do not import Base.
    ("KalendsCore/SettingValues", EQUAL): OPERATOR, ("KalendsCore/SubscriptionRefresh", EQUAL): OURS,
    ("KalendsFront/FeedRequest", EQUAL): METHOD, ("KalendsFront/OpenAPIDocument", EQUAL): OURS,
    ("KalendsFront/PageDoor", EQUAL): METHOD, ("KalendsFront/PageVisit+Answer", EQUAL): METHOD,
    ("KalendsFront/RouteTable+Document", EQUAL): OURS, ("KalendsFront/RunFacts", EQUAL): FIELDS,
    ("KalendsFront/SignInPages", EQUAL): FIELDS, ("KalendsFront/SyncPages", EQUAL): FIELDS,
    ("FeedServer/CheckProblems", EQUAL): OURS,
    **{
        (f"KalendsFront/{file}", KEY): FIELDS
        for file in (
            "AccountPages", "AdminPages", "CheckPages", "ConnectionSetupPages", "FeedFacts", "FeedPages", "ImportPages",
            "OfficeDayPages", "PageForm", "RunFacts", "SecondFactorPages", "SignInPages", "SubscriptionPages", "SyncPages")
    },
    **{
        (f"KalendsFront/{file}", SHARED): METHOD
        for file in ("ConnectionSetupPages", "PageDoor", "PageRoute", "PageVisit+Answer")
    },
    **{
        (f"Pages/{file}", KEY): TEMPLATES
        for file in (
            "AccountPages", "AdminPage", "ArrivalPage", "Bars", "CirclesPage", "ConnectionPage+Later", "ConnectorPages", "FeedPage",
            "Fields", "ItemReach", "Node", "OfficeDaysPage+Settings", "RenderContext", "Phrases", "SecondFactorPage",
            "Sentence", "SubscriptionsPage", "SyncPage", "Tables", "TimeWords", "Words")
    },
}


# Options of the build's commands that only its own results need, with how many words each.
DROPPED = {
    "-O": 1, "-g": 1, "-emit-dependencies": 1, "-emit-module": 1, "-emit-module-path": 2, "-output-file-map": 2,
    "-emit-objc-header": 1, "-emit-objc-header-path": 2, "-index-store-path": 2, "-serialize-diagnostics": 1,
    "-parseable-output": 1, "-assert-config": 2, "-whole-module-optimization": 1, "-num-threads": 2}
# Options whose next word is for another program.
PASSED_ON = ("-Xcc", "-Xfrontend")


def commands(manifest):
    """What SwiftPM calls the compiler with, by the module's name."""
    found = {}
    for line in manifest.read_text().splitlines():
        call = re.match(r'\s+args: (\["[^"]*swiftc","-module-name".*\])$', line)
        if call:
            words = json.loads(call[1])
            found[words[2]] = words
    return found


def compiled(words, folder, built):
    """The files of a module, one for each source, compiled without the optimizer into a folder of its own: again when the
    build made one of its own files since then."""
    stamp = folder / "done"
    if stamp.exists() and stamp.stat().st_mtime > max(file.stat().st_mtime for file in built.glob("*.o")):
        return sorted(folder.glob("*.o"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kept, words = [], list(words)
    while words:
        count = DROPPED.get(words[0], 0)
        size = count or (2 if words[0] in PASSED_ON else 1)
        kept += [] if count else words[:size]
        del words[:size]
    done = subprocess.run([*kept, "-Onone"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"text-rule: {folder.name} does not compile without the optimizer:\n{done.stdout}{done.stderr}")
    stamp.touch()
    return sorted(folder.glob("*.o"))


def undefined(file):
    lines = subprocess.run(["nm", "-u", str(file)], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.strip()}


def is_copy(name, kind, source):
    """Whether a comparison comes from a package's generic function, which the optimizer made for text and left to be copied:
    where such a function is harmless it is, too, as long as the file's own `==` is Base's."""
    return kind == EQUAL and any((name, cause) in ALLOWED for cause in (KEY, SHARED)) and (
        re.search(r"^(package |public |internal )?import Base$", source.read_text(), re.MULTILINE))


def main():
    build, configuration = Path(sys.argv[1]), sys.argv[2]
    known = commands(build / f"{configuration}.yaml")
    found, files = [], 0
    for module in MODULES:
        if module not in known:
            sys.exit(f"text-rule: {build} does not know the module {module}; build first")
        sources = {source.stem: source for source in Path("Sources", module).glob("**/*.swift")}
        folder = build.resolve() / "unoptimized" / module
        for file in compiled(known[module], folder, build / configuration / f"{module}.build"):
            # SwiftPM brings files of its own.
            if file.stem not in sources:
                continue
            files += 1
            met = {SYMBOLS[symbol] for symbol in undefined(file) & SYMBOLS.keys()}
            if CASES in met:
                met -= {CASES, KEY}
            name = f"{module}/{file.stem}"
            found += [
                f"{name}: {kind}" for kind in sorted(met)
                if (name, kind) not in ALLOWED and not is_copy(name, kind, sources[file.stem])]
    if found:
        sys.exit("Text is compared otherwise than by its bytes:\n" + "\n".join(found))
    print(f"text-rule: {files} compiled files, text is compared by its bytes")


main()

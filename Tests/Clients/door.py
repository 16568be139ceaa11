# SPDX-License-Identifier: Apache-2.0
"""Test suites that others wrote run against the CalDAV door of a server with one person and one app password.

    python Tests/Clients/door.py PROGRAM --tools FOLDER [tester caldav vdirsyncer litmus apple]
    python Tests/Clients/door.py --url URL --user NAME --password WORD --tools FOLDER ...    another server

FOLDER gets the suites: packages of PyPI in a virtual environment, and the sources that hold their tests. `apple` is Apple's
CalDAVTester, which no registry has: KALENDS_CALDAVTESTER names a checkout of its port to Python 3, KALENDS_PYCALENDAR the
folder that holds the package pycalendar, and caldavtester.py makes of both what runs. One line a suite, with what failed
below it; the exit status is 1 when more fails than EXPECTED names, with its reason.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from caldavtester import ported
from kalends import Failure, Kalends

PACKAGES = ["caldav==3.6.0", "caldav-server-tester==1.7.0", "vdirsyncer==0.21.0", "pytest", "pytest-asyncio", "pytest-cov",
            "pytest-httpserver", "hypothesis>=6.72,<7", "trustme", "aioresponses", "aiostream", "requests", "pyyaml", "manuel", "tzlocal", "vobject",
            "pyfakefs", "httpx", "pytz", "proxy.py", "coverage"]
SOURCES = ["caldav==3.6.0", "vdirsyncer==0.21.0"]

# What fails by intent, with its reason; a pattern of the test's name.
EXPECTED = {
    "tester": [
        (r"scheduling", "invitations are sent by the calendar app; the door announces no scheduling"),
    ],
    "caldav": [],
    "vdirsyncer": [],
    "apple": [
        (r"^errors/PUT/(13|19)$", "a calendar of one's own keeps each byte that came, wrong escapes and controls too"),
        (r"^errors/PUT/(17|22)$", "a changed occurrence that its series does not have is kept as it came"),
        (r"^errors/PUT/16$", "the number of attendees has no bound of its own"),
        (r"^errors/PUT/24$", "an unknown zone makes an invalid calendar object resource, and not CALDAV:valid-timezone"),
        (r"^errors/Invalid CalDAV:timezone(-id)?/2$", "PROPPATCH of a zone is never refused, since that stops Apple's apps"),
        (r"^expandproperty/Invalid REPORTs/3$", "they want nested properties refused with 501, and the door answers them"),
        (r"^ctag/PUT/DELETE/COPY/MOVE/9$", "what it moves was moved away by its sixth test, and is 404"),
        (r"^proppatch/prop patch property attributes/1$", "they want an attribute within apostrophes"),
        (r"^conditional/Last_modified handling/(1|3)$", "If-Modified-Since is for GET and HEAD alone (RFC 9110 section 13.1.3)"),
        (r"^reports/(basic query reports/2a|limit/expand recurrence in reports/5|free-busy reports/2)$",
         "they want a VFREEBUSY, which no calendar keeps"),
        (r"^reports/basic query reports/23$",
         "the series has a component without an alarm, which meets the filter (RFC 4791 section 9.7.1)"),
        (r"^reports/time-range query reports/12a$", "a zone that can be read is taken, though its object has no VERSION"),
        (r"^reports/limit/expand recurrence in reports/12$", "each occurrence has its RECURRENCE-ID, the first too"),
    ],
    "litmus": [
        (r"locks", "the door announces no class 2, and litmus skips what it does not announce"),
        (r"^(put_get|put_get_utf8_segment|copy_init|move|propinit|propmanyns)$",
         "the collection of litmus is a calendar, which keeps calendar data alone, and this puts a text file"),
        (r"^(delete_fragment|mkcol|copy_coll|copy_shallow|move_coll)$",
         "this makes a collection within a calendar, which is 403 (RFC 4791 section 4.2)"),
    ],
}

MIXIN = '''
import pytest


class ServerMixin:
    @pytest.fixture
    def get_storage_args(self, request, tmpdir, slow_create_collection, aio_connector):
        async def inner(collection="test"):
            args = {{"url": {url!r}, "username": {user!r}, "password": {password!r}, "connector": aio_connector}}
            if collection is not None:
                args = await slow_create_collection(self.storage_class, args, collection)
            return args

        return inner
'''


class Door:
    """Where the suites go."""

    def __init__(self, url, user, password, account=None):
        self.url, self.user, self.password = url, user, password
        # Makes a further person and returns the password.
        self.account = account or (lambda name: password)


class Tools:
    """The suites, installed once in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.python = self.folder / "venv/bin/python"
        done = self.folder / "done"
        wanted = "\n".join(PACKAGES + SOURCES)
        if done.exists() and done.read_text() == wanted:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", self.folder / "venv"], check=True)
        subprocess.run([self.python, "-m", "pip", "-q", "install", *PACKAGES], check=True)
        subprocess.run([self.python, "-m", "pip", "-q", "download", "--no-deps", "--no-binary", ":all:", *SOURCES,
                        "-d", self.folder / "sources"], check=True)
        for archive in (self.folder / "sources").glob("*.tar.gz"):
            with tarfile.open(archive) as opened:
                opened.extractall(self.folder, filter="data")
        done.write_text(wanted)

    def source(self, name):
        return next(self.folder.glob(f"{name}-*/"))


class Result:
    def __init__(self, passed, failed, skipped=0, rest=""):
        self.passed, self.failed, self.skipped, self.rest = passed, failed, skipped, rest


def run(arguments, **options):
    """A program's whole output as text, errors included."""
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def pytest(tools, folder, arguments, environment=None):
    """Runs tests and reads their report."""
    report = Path(folder) / "report.xml"
    report.unlink(missing_ok=True)
    done = run([tools.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=",
                "-o", "asyncio_default_fixture_loop_scope=function", "-W", "ignore::DeprecationWarning", f"--junitxml={report}",
                *arguments], cwd=folder, env={**os.environ, **(environment or {})})
    if not report.exists():
        raise Failure(f"pytest made no report: {done.stdout[-2000:]}")
    import xml.etree.ElementTree as tree
    passed, failed, skipped = 0, [], 0
    for case in tree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').rsplit('.', 1)[-1]}::{case.get('name')}"
        faults = [f for f in case if f.tag in ("failure", "error")]
        if faults:
            failed.append((name, (faults[0].get("message") or "").split("\n")[0][:300]))
        elif any(f.tag == "skipped" for f in case):
            skipped += 1
        else:
            passed += 1
    return Result(passed, failed, skipped, done.stdout)


def tester(tools, door):
    """caldav-server-tester: features that differ from what the standards have."""
    done = subprocess.run(
        [tools.folder / "venv/bin/caldav-server-tester", "--caldav-url", door.url, "--caldav-username", door.user,
         "--caldav-password", door.password, "--format", "json"], cwd=tools.folder, capture_output=True, text=True)
    rest = f"{done.stdout}\n{done.stderr}"
    try:
        features = json.loads(done.stdout)["features"]
    except ValueError:
        raise Failure(f"caldav-server-tester made no report: {rest[-2000:]}") from None
    failed = re.findall(r"found something unexpected for (\S+)\.  (Expected: .*)", done.stderr)
    return Result(len(features) - len(failed), failed, rest=rest)


def caldav(tools, door):
    """The functional tests of python-caldav."""
    folder = tools.source("caldav")
    (folder / "tests/caldav_test_servers.yaml").write_text(json.dumps({"test-servers": {"kalends": {
        "type": "external", "enabled": True, "url": door.url, "username": door.user, "password": door.password,
        "features": {"scheduling": {"support": "unsupported"}}}}}))
    names = {"PYTHON_CALDAV_TEST_EMBEDDED": "0", "PYTHON_CALDAV_TEST_DOCKER": "0"}
    return pytest(tools, folder, ["tests/test_caldav.py", "tests/test_async_integration.py", "-k", "not Unit"], names)


def vdirsyncer(tools, door):
    """The storage tests of vdirsyncer."""
    folder = tools.source("vdirsyncer")
    mixin = folder / "tests/storage/servers/kalends"
    mixin.mkdir(exist_ok=True)
    (mixin / "__init__.py").write_text(MIXIN.format(url=door.url, user=door.user, password=door.password))
    return pytest(tools, folder, ["tests/storage/dav/test_caldav.py"], {"DAV_SERVER": "kalends"})


def litmus(tools, door):
    """litmus, which makes a collection in the person's home."""
    home = f"{door.url}calendars/{door.user}/" if door.url.endswith("/dav/") else door.url
    with tempfile.TemporaryDirectory() as folder:
        done = run(["litmus", "-k", home, door.user, door.password], cwd=folder)
    lines = re.findall(r"^ *\d+\. (\S+?)\.+ (pass|FAIL|WARNING|SKIPPED)([^\n]*)", done.stdout, re.M)
    return Result(sum(kind == "pass" for _, kind, _ in lines),
                  [(name, rest.strip()) for name, kind, rest in lines if kind == "FAIL"],
                  sum(kind == "SKIPPED" for _, kind, _ in lines), done.stdout)


# Apple's tests that need neither scheduling nor sharing; `errors` leaves behind what it expects to be refused.
APPLE = """sync-report reports put nonascii prefer propfind mkcalendar depthreports encodedURIs ctag recurrenceput get
    caldavIOP timezones expandproperty brief floating well-known webcal proppatch current-user-principal ical-client limits
    options freebusy delete conditional duplicate_uids vtodos bad-ical errors""".split()
# What of their features the door has. It has none of these: `webcal`, since feeds are what is subscribed to;
# `well-known`, whose tests want PROPFIND redirected, which macOS does not follow; `limits`, properties of Apple's server;
# `no-duplicate-uids`, which is about scheduling: a UID is unique in its calendar; `query-extended`, a draft that expired.
APPLE_FEATURES = """caldav brief ctag current-user-principal expand-property prefer prefer-minimal prefer-noroot
    prefer-representation sync-report sync-report-limit timezones-by-reference
    principal-property-search+REPORT principal-search-property-set+REPORT COPY+Method MOVE+Method
    Extended+MKCOL""".split()
# Suites, or single tests of them, that need a feature which the door has not, and do not say so.
APPLE_IGNORED = [
    # Scheduling: an inbox that fills, an outbox that takes POST, attendees that the server rewrites.
    ("prefer", "representation schedule PUT", None), ("ctag", "Scheduling", None), ("nonascii", "POSTs", None),
    ("nonascii", "PUT with CN re-write", None), ("errors", "Invalid urn: calendar user address", None),
    ("caldavIOP", "1. Event Creation", "1.3"), ("caldavIOP", "2. Event Modification", "2.4"),
    ("caldavIOP", "2. Event Modification", "2.7"), ("caldavIOP", "2. Event Modification", "2.9"),
    ("freebusy", "Freebusy - mixed timed and all-day", "3"), ("freebusy", "Freebusy - mixed timed and all-day", "4"),
    # Groups of users.
    ("expandproperty", "Membership REPORT", None),
    # What one user shows to another.
    ("mkcalendar", "MKCALENDAR read-free-busy privilege", "2"),
]
# A request of a file's beginning that the door refuses: no calendar keeps VFREEBUSY.
APPLE_UNSENT = {"reports": "Resource/CalDAV/reports/put/15.txt"}


def apple_settings(template, door, users):
    """Their description of a server, made from the one that they bring."""
    text = template.read_text()
    where = urlsplit(door.url)
    text = re.sub(r"<host>.*?</host>", f"<host>{where.hostname}</host>", text, count=1)
    text = re.sub(r"<nonsslport>.*?</nonsslport>", f"<nonsslport>{where.port}</nonsslport>", text, count=1)
    features = "".join(f"<feature>{name.replace('+', ' ')}</feature>" for name in APPLE_FEATURES)
    text = re.sub(r"<features>.*?</features>", f"<features>{features}</features>", text, flags=re.S)
    for key, value in {"$root:": where.path, "$principals_users:": "$principalcollection:",
                       "$principals_uids:": "$principalcollection:", "$calendars_users:": "$calendars:",
                       "$calendars_uids:": "$calendars:", "$userguid%d:": "user%02d",
                       # Tasks are in the same calendar as events.
                       "$tasks:": "calendar",
                       # A report of changes has the members of a collection, and not the collection.
                       "$calendar_sync_extra_items:": "[]", "$calendar_sync_extra_count:": "0"}.items():
        text = re.sub(rf"(<key>{re.escape(key)}</key>\s*<value>).*?(</value>)", rf"\g<1>{value}\2", text, count=1)
    passwords = "".join(f"<substitution><key>$pswd{number}:</key><value>{password}</value></substitution>"
                        for number, password in users.items())
    text = re.sub(r"<substitution>\s*<key>\$pswd%d:</key>.*?</substitution>", "", text, count=1, flags=re.S)
    return text.replace("<substitutions>", f"<substitutions>{passwords}", 1)


def apple_tests(checkout, folder):
    """Their tests as they are run, in a folder of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in APPLE:
        text = (checkout / f"scripts/tests/CalDAV/{name}.xml").read_text()
        if name in APPLE_UNSENT:
            rest = r"(?:(?!</request>).)*"
            pattern = rf"<request[^>]*>{rest}{re.escape(APPLE_UNSENT[name])}{rest}</request>"
            text, count = re.subn(pattern, "", text, flags=re.S)
            if count != 1:
                raise Failure(f"{name}.xml has no such request")
        for file, suite, test in APPLE_IGNORED:
            if file != name:
                continue
            start = re.search(rf"<test-suite name=(['\"]){re.escape(suite)}\1", text)
            place = start
            if start and test:
                place = re.compile(rf"<test name=(['\"]){re.escape(test)}\1").search(text, start.end())
            if not place:
                raise Failure(f"{name}.xml has no {suite} {test or ''}")
            text = f"{text[:place.end()]} ignore='yes'{text[place.end():]}"
        # Addresses of collections end with a slash already.
        text = text.replace("$calendars:/", "$calendars:")
        (folder / f"{name}.xml").write_text(text)


def apple(tools, door):
    """Apple's CalDAVTester."""
    checkout, package = (os.environ.get(name) for name in ("KALENDS_CALDAVTESTER", "KALENDS_PYCALENDAR"))
    if not checkout or not package:
        raise Failure("KALENDS_CALDAVTESTER and KALENDS_PYCALENDAR name no checkouts; docs/caldav-accounts.md says which")
    checkout, package = ported(Path(checkout).resolve(), package, tools.folder)
    users = {number: door.account(f"user{number:02d}") for number in range(1, 41)}
    for number, password in users.items():
        # The inbox is an empty calendar, which is all that some tests of reports need.
        for name in ("calendar", "inbox"):
            run(["curl", "-s", "-u", f"user{number:02d}:{password}", "-X", "MKCALENDAR",
                 f"{door.url}calendars/user{number:02d}/{name}/"])
    settings = tools.folder / "serverinfo.xml"
    shutil.copy(checkout / "scripts/server/serverinfo.dtd", tools.folder)
    settings.write_text(apple_settings(checkout / "scripts/server/serverinfo.xml", door, users))
    tests = tools.folder / "apple/CalDAV"
    apple_tests(checkout, tests)
    done = run([tools.python, "testcaldav.py", "-s", settings, "--print-details-onfail",
                *(tests / f"{name}.xml" for name in APPLE)], cwd=checkout, env={**os.environ, "PYTHONPATH": package})
    passed, failed, skipped, file, suite = 0, [], 0, "", ""
    for line in done.stdout.splitlines():
        found = re.match(r"( *)(?:(Suite|Test): )?(\S.*?) *(?:\[(OK|FAILED|ERROR|IGNORED)\])?$", line)
        if not found:
            continue
        indent, kind, name, outcome = found.groups()
        if kind == "Suite":
            suite = name
        elif kind == "Test" and outcome == "OK":
            passed += 1
        elif kind == "Test" and outcome == "IGNORED":
            skipped += 1
        elif kind == "Test" and outcome:
            failed.append((f"{file}/{suite}/{name}", outcome))
        elif ".apple.CalDAV." in name and not indent:
            file = name.rpartition(".")[2]
            if outcome == "ERROR":
                failed.append((file, "the file cannot be run"))
    return Result(passed, failed, skipped, done.stdout)


SUITES = {"tester": tester, "caldav": caldav, "vdirsyncer": vdirsyncer, "litmus": litmus, "apple": apple}


def judge(name, tools, door, reports):
    """Runs a suite and returns how many failures nobody expected."""
    result = SUITES[name](tools, door)
    (reports / f"{name}.txt").write_text(result.rest)
    unexpected = 0
    lines = []
    for test, message in result.failed:
        reason = next((why for pattern, why in EXPECTED[name] if re.search(pattern, test)), None)
        unexpected += reason is None
        lines.append(f"  {test}: {reason or message}")
    print(f"{name}: {result.passed} passed, {len(result.failed)} failed ({unexpected} unexpected), {result.skipped} skipped")
    print("\n".join(lines), flush=True)
    return unexpected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("suites", nargs="*", metavar="suite")
    parser.add_argument("--tools", required=True)
    parser.add_argument("--url")
    parser.add_argument("--user", default="ann")
    parser.add_argument("--password", default="")
    given = parser.parse_intermixed_args()
    suites = list(given.suites)
    if given.url and given.program:
        suites.insert(0, given.program)
    suites = suites or [name for name in SUITES if name != "apple" or os.environ.get("KALENDS_CALDAVTESTER")]
    unknown = [name for name in suites if name not in SUITES]
    if unknown:
        parser.error(f"there is no suite {unknown[0]}; there are {', '.join(SUITES)}")
    tools = Tools(given.tools)
    reports = tools.folder / "reports"
    reports.mkdir(exist_ok=True)
    unexpected = 0
    if given.url:
        door = Door(given.url, given.user, given.password)
        return sum(judge(name, tools, door, reports) for name in suites)
    with tempfile.TemporaryDirectory() as folder:
        server = Kalends(given.program, folder)
        try:
            def account(name):
                server.call("PUT", f"/v1/users/{name}", {"timeZone": "Europe/Berlin"})
                return server.call("POST", "/v1/app-passwords", {"label": "Suites", "userId": name})["password"]

            door = Door(f"http://127.0.0.1:{server.port}/dav/", "ann", account("ann"), account)
            for name in suites:
                unexpected += judge(name, tools, door, reports)
        finally:
            server.stop()
    return unexpected


if __name__ == "__main__":
    try:
        sys.exit(1 if main() else 0)
    except Failure as failure:
        sys.exit(f"{failure}")

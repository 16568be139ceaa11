# SPDX-License-Identifier: Apache-2.0
"""DAViCal for `bench-door.py`: Debian's packages, or a folder with what is in them, on a PostgreSQL of its own.

PHP's own server answers with four processes, without Apache; compiled code is kept, as with Apache.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import door_servers as servers

ROUTER = """<?php
chdir(__DIR__);
$_SERVER['SCRIPT_NAME'] = '/caldav.php';
$_SERVER['PATH_INFO'] = rawurldecode(preg_replace('{^/caldav.php|[?].*$}', '', $_SERVER['REQUEST_URI']));
include 'caldav.php';
"""
MODULES = ["calendar", "ctype", "dom", "gettext", "iconv", "pdo", "pdo_pgsql", "pgsql", "posix", "tokenizer", "xml", "xmlreader",
           "xmlwriter"]
PERSON = """
INSERT INTO usr (user_no, active, email_ok, updated, username, password, fullname, email)
    VALUES (10, TRUE, current_date, current_date, '{user}', '**{password}', 'Alice', 'alice@example.net');
INSERT INTO principal (type_id, user_no, displayname, default_privileges) VALUES (1, 10, 'Alice', 0::BIT(24));
INSERT INTO collection (user_no, parent_container, dav_name, dav_etag, dav_displayname, is_calendar, created, modified,
        resourcetypes)
    VALUES (10, '/{user}/', '/{user}/door/', '-1', 'Door', TRUE, current_timestamp, current_timestamp,
            '<DAV::collection/><urn:ietf:params:xml:ns:caldav:calendar/>');
"""


class DAViCal(servers.Peer):
    """PHP with DAViCal, whose processor time is PostgreSQL's, too."""

    def __init__(self, process, port, database, place):
        user = servers.USER
        super().__init__("DAViCal", f"/caldav.php/{user}/", f"/caldav.php/{user}/door/", process, port)
        self.database, self.place = database, place

    def processor(self):
        return super().processor() + servers.processor(self.database)

    def stop(self):
        super().stop()
        postgresql(self.place, "pg_ctl", "stop", "-s", "-m", "immediate", "-D", self.place / "data")
        shutil.rmtree(self.place, ignore_errors=True)


def postgresql(place, program, *words, text=None):
    folder = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    # The server refuses to run as root.
    person = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*person, folder / program, *words], input=text, text=True, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"{program} of PostgreSQL ended with {done.returncode}: {done.stdout[-1000:]}")


def database(packages):
    """A PostgreSQL with DAViCal's tables, as its own script makes them; returns its folder and its process."""
    place = Path(tempfile.mkdtemp(prefix="kalends-davical-"))
    if os.geteuid() == 0:
        shutil.chown(place, "postgres")
    postgresql(place, "initdb", "-D", place / "data", "-U", "davical", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
    postgresql(place, "pg_ctl", "start", "-s", "-w", "-l", place / "log", "-D", place / "data", "-o",
               f"-c listen_addresses= -c unix_socket_directories={place}")
    tables, awl = packages / "usr/share/davical/dba", packages / "usr/share/awl/dba"
    postgresql(place, "createdb", "-h", place, "-U", "davical", "davical")
    order = [awl / "awl-tables.sql", awl / "schema-management.sql", tables / "davical.sql", tables / "supported_locales.sql",
             tables / "caldav_functions.sql", tables / "rrule_functions.sql", *sorted((tables / "views").glob("*.sql")),
             tables / "base-data.sql"]
    text = "".join(f"\\i {path}\n" for path in order)
    for part in (text, PERSON.format(user=servers.USER, password=servers.PASSWORD)):
        postgresql(place, "psql", "-qX", "-h", place, "-U", "davical", "davical", text=part)
    return place, int((place / "data/postmaster.pid").read_text().split()[0])


def davical(packages, folder, texts):
    packages = Path(packages)
    place, process = database(packages)
    site = folder / "davical"
    for part in ("htdocs", "inc"):
        shutil.copytree(packages / "usr/share/davical" / part, site / part)
    (site / "config").mkdir()
    (site / "config/config.php").write_text(
        f"<?php $c->pg_connect[] = 'dbname=davical user=davical host={place}'; $c->domain_name = '{servers.HOST}';\n"
        "$c->admin_email = 'a@example.net'; $c->system_name = 'Door'; $c->readonly_webdav_collections = false;\n")
    (site / "htdocs/router.php").write_text(ROUTER)
    php = sorted(packages.glob("usr/bin/php[0-9]*"))[-1]
    modules = next(packages.glob("usr/lib/php/20*"))
    port = servers.free_port()
    process_of_php = subprocess.Popen(
        [php, "-n", "-d", f"extension_dir={modules}", *(word for name in MODULES for word in ("-d", f"extension={name}")),
         "-d", "zend_extension=opcache", "-d", "opcache.enable=1", "-d", "opcache.enable_cli=1", "-d", "memory_limit=1G",
         "-d", "display_errors=0", "-d", f"include_path={packages}/usr/share/awl/inc", "-S", f"{servers.HOST}:{port}", "-t",
         site / "htdocs", site / "htdocs/router.php"],
        env=os.environ | {"PHP_CLI_SERVER_WORKERS": "4"}, stdout=(folder / "log").open("wb"), stderr=subprocess.STDOUT)
    peer = DAViCal(process_of_php, port, process, place)
    try:
        peer.wait()
        events = b"".join(text[text.index(b"BEGIN:VEVENT"):text.index(b"END:VCALENDAR")] for text in texts.values())
        some = next(iter(texts.values()))
        begin = some[:some.index(b"BEGIN:VEVENT")]
        peer.connection().send("PUT", peer.calendar, begin + events + b"END:VCALENDAR\r\n").must(200, 201, 204)
    except BaseException:
        peer.stop()
        raise
    return peer

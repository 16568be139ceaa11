# SPDX-License-Identifier: Apache-2.0
"""The hostile arrangements of `hostile_files.py`."""

import os
import random
import socket
import sqlite3
import struct

from ports import free_port

AT_PLACE = ("folder", "pipe", "device", "socket", "dangling link", "loop of links")


def put(path, kind):
    """Puts something that is no ordinary file in a place."""
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
        (path / "keep").write_text("somebody's")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        # As a link: to make devices is the administrator's right.
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    elif kind == "dangling link":
        path.symlink_to(path.parent / "nowhere" / "file")
    elif kind == "loop of links":
        path.symlink_to(path)


def sql(path, script):
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()


def rewrite(path, old, new, name):
    """Changes the text of a part of the schema behind SQLite's back."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    done = connection.execute(
        "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND instr(sql, ?) > 0", (old, new, name, old))
    assert done.rowcount == 1, (old, name)
    connection.commit()
    connection.close()


def bytes_at(path, offset, new):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(new)


def restoring(change):
    """A case that restores `backup.sqlite` after `change(place)`."""
    def arrange(place):
        change(place)
        return ["restore", place.backup, "--database", place.database]
    return arrange


def backing_up(change):
    """A case that writes a backup to what `change(place)` returns."""
    return lambda place: ["backup", change(place), "--database", place.database]


def serving(change):
    def arrange(place):
        flags = change(place)
        flags = flags if isinstance(flags, list) else []
        place.port = free_port()
        return ["serve", "--database", place.database, "--port", place.port, "--access-journal-bytes", "65536", *flags]
    return arrange


def replaced(content):
    return lambda place: place.backup.write_bytes(content)


def rebuilt(pragma):
    """The same rows in a file of another layout, at which nothing is wrong."""
    def change(place):
        sql(place.backup, f"PRAGMA journal_mode = DELETE; {pragma}; VACUUM;")
    return change


def utf16(place):
    other = place.path("other.sqlite")
    source = sqlite3.connect(place.backup)
    target = sqlite3.connect(other)
    target.execute("PRAGMA encoding = 'UTF-16le'")
    target.executescript("\n".join(source.iterdump()))
    target.close()
    source.close()
    os.replace(other, place.backup)


def huge_text(place):
    connection = sqlite3.connect(place.backup)
    connection.execute(
        "INSERT OR REPLACE INTO settings VALUES ('titlePrefix', CAST(zeroblob(?) AS TEXT))", (300 << 20,))
    connection.commit()
    connection.close()


def huge_letters(place):
    connection = sqlite3.connect(place.backup)
    connection.execute("UPDATE circles SET name = ?", ("x" * (200 << 20),))
    connection.commit()
    connection.close()


def random_damage(seed):
    def change(place):
        chance = random.Random(seed)
        content = bytearray(place.backup.read_bytes())
        for _ in range(chance.choice((1, 4, 40, 400))):
            content[chance.randrange(100, len(content))] = chance.randrange(256)
        place.backup.write_bytes(content)
    return change


def open_log(place):
    """A backup whose latest rows are in a log next to it, as after a program was killed."""
    connection = sqlite3.connect(place.backup)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("UPDATE circles SET name = 'in the log'")
    connection.commit()
    other = place.path("copy")
    other.write_bytes(place.backup.read_bytes())
    log = place.path("backup.sqlite-wal").read_bytes()
    connection.close()
    os.replace(other, place.backup)
    place.path("backup.sqlite-wal").write_bytes(log)


def hot_journal(place):
    """A backup in whose middle somebody was killed: its former content is in the journal next to it."""
    connection = sqlite3.connect(place.backup, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN")
    connection.execute("UPDATE circles SET name = 'half'")
    journal = place.path("backup.sqlite-journal").read_bytes()
    connection.execute("ROLLBACK")
    connection.close()
    place.path("backup.sqlite-journal").write_bytes(journal or b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(4088))


def stranger(place):
    place.backup.unlink()
    sql(place.backup, "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT); INSERT INTO moz_places VALUES (1, 'x')")


def imposter(place):
    """A stranger's file with a table of our name."""
    place.backup.unlink()
    sql(place.backup, "CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY);"
                      "INSERT INTO schema_migrations VALUES (1)")


def restore_cases(Case):
    head = b"SQLite format 3\0"
    refuse = [
        ("empty", replaced(b"")), ("one byte", replaced(b"S")), ("its name only", replaced(head)),
        ("a header only", lambda p: p.backup.write_bytes(p.backup.read_bytes()[:100])),
        ("garbage behind the name", replaced(head + random.Random(1).randbytes(1 << 16))),
        ("cut in the middle", lambda p: p.backup.write_bytes(p.backup.read_bytes()[: p.backup.stat().st_size // 2])),
        ("cut by a byte", lambda p: p.backup.write_bytes(p.backup.read_bytes()[:-1])),
        ("another program's", stranger), ("a stranger's with our table", imposter),
        ("page size 0", lambda p: bytes_at(p.backup, 16, b"\0\0")),
        ("page size 3", lambda p: bytes_at(p.backup, 16, b"\0\3")),
        ("another page size in the header", lambda p: bytes_at(p.backup, 16, struct.pack(">H", 512))),
        ("a format of the future", lambda p: bytes_at(p.backup, 18, b"\x09\x09")),
        ("a schema format of the future", lambda p: bytes_at(p.backup, 44, b"\0\0\0\x09")),
        ("reserved bytes", lambda p: bytes_at(p.backup, 20, b"\xff")),
        ("in UTF-16", utf16),
        ("a log beside it", open_log), ("a journal beside it", hot_journal),
        ("a trigger", lambda p: sql(
            p.backup, "CREATE TRIGGER t AFTER INSERT ON circles BEGIN DELETE FROM feeds; END")),
        ("a trigger over a table's name", lambda p: sql(
            p.backup, "CREATE TRIGGER circles AFTER UPDATE ON settings BEGIN DELETE FROM feeds; END")),
        ("an endless trigger", lambda p: sql(
            p.backup, "CREATE TRIGGER t AFTER UPDATE ON settings BEGIN INSERT INTO settings SELECT "
            "hex(randomblob(9)), value FROM settings, circles, feeds; END")),
        ("a view", lambda p: sql(p.backup, "CREATE VIEW v AS SELECT 1")),
        ("an endless view in a table's place", lambda p: sql(
            p.backup, "DROP TABLE schema_migrations; CREATE VIEW schema_migrations AS WITH RECURSIVE c (version) AS "
            "(SELECT 1 UNION ALL SELECT version + 1 FROM c) SELECT version FROM c")),
        ("a generated column", lambda p: sql(
            p.backup, "ALTER TABLE circles ADD COLUMN more AS (hex(zeroblob(1000000000)))")),
        ("a further table", lambda p: sql(p.backup, "CREATE TABLE more (a)")),
        ("a virtual table", lambda p: sql(p.backup, "CREATE VIRTUAL TABLE v USING fts5 (a)")),
        ("an index over an expression", lambda p: sql(p.backup, "CREATE INDEX i ON circles (upper(name))")),
        ("a rule taken away", lambda p: rewrite(p.backup, "display_name TEXT NOT NULL", "display_name TEXT", "members")),
        ("a rule taken away by a blank", lambda p: rewrite(
            p.backup, "display_name TEXT NOT NULL", "display_name TEXTNOT NULL", "members")),
        ("a rule taken away by two words in one", lambda p: rewrite(
            p.backup, "display_name TEXT NOT NULL", "display_name TEXT NOTNULL", "members")),
        ("a rule taken away by a blank of Unicode", lambda p: rewrite(
            p.backup, "display_name TEXT NOT NULL", "display_name TEXT\u00a0NOT NULL", "members")),
        ("a blank in a rule's text", lambda p: rewrite(p.backup, "'viewer'", "'view er'", "members")),
        ("a schema that cannot be read", lambda p: rewrite(p.backup, "CREATE TABLE members (", "CREATE TABLE (", "members")),
        ("a schema of 50 MB", lambda p: rewrite(
            p.backup, "CREATE TABLE members (", "CREATE TABLE members (/*" + "x" * (50 << 20) + "*/", "members")),
        ("many tables", lambda p: sql(p.backup, "".join(f"CREATE TABLE t{n} (a);" for n in range(3000)))),
        ("zeros of 300 MB", huge_text), ("letters of 200 MB", huge_letters),
        ("words where numbers are", lambda p: sql(p.backup, "UPDATE circles SET version = 'soon'")),
        ("bytes where words are", lambda p: sql(p.backup, "UPDATE circles SET name = x'ff00'")),
        ("fractions", lambda p: sql(p.backup, "UPDATE circles SET version = 1e300")),
        ("a JSON nested 100,000 deep", lambda p: sql(
            p.backup, f"UPDATE feeds SET config = '{'[' * 100_000}'")),
        ("the greatest version", lambda p: sql(p.backup, "INSERT INTO schema_migrations VALUES (9223372036854775807)")),
        ("a newer version", lambda p: sql(p.backup, "INSERT INTO schema_migrations VALUES (99999)")),
        ("no version", lambda p: sql(p.backup, "DELETE FROM schema_migrations")),
        ("a million versions", lambda p: sql(
            p.backup, "INSERT INTO schema_migrations WITH RECURSIVE c (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM c "
            "LIMIT 1000000) SELECT n FROM c")),
    ]
    for name, change in refuse:
        yield Case(f"restore: {name}", restoring(change))
    for kind in AT_PLACE:
        yield Case(f"restore: of a {kind}", restoring(lambda p, kind=kind: put(p.backup, kind)))
        yield Case(f"restore: over a {kind}", restoring(lambda p, kind=kind: put(p.database, kind)), statuses=(2, 3))
        is_link = "link" in kind or kind == "device"
        yield Case(f"restore: a {kind} where the copy is made", restoring(
            lambda p, kind=kind: put(p.path("k.sqlite.restoring"), kind)), statuses=(0,) if is_link else (3,))
        yield Case(f"restore: a {kind} for the log of before", restoring(
            lambda p, kind=kind: put(p.path("k.sqlite-wal"), kind)), statuses=(0, 3), changes=True)
        yield Case(f"restore: a {kind} for the journal", restoring(
            lambda p, kind=kind: put(p.journal, kind)), statuses=(0, 3), changes=True)
    for name, pragma in [("pages of 512 bytes", "PRAGMA page_size = 512"), ("pages of 65,536", "PRAGMA page_size = 65536"),
                         ("auto_vacuum", "PRAGMA auto_vacuum = FULL"), ("a foreign application_id",
                                                                      "PRAGMA application_id = 252006673"),
                         ("statistics", "ANALYZE")]:
        yield Case(f"restore: {name}", restoring(rebuilt(pragma)), "Restored", statuses=(0,))
    for seed in range(30):
        yield Case(f"restore: damage {seed}", restoring(random_damage(seed)), statuses=(0, 3), changes=True)
    yield Case("restore: of the database itself", lambda p: ["restore", p.database, "--database", p.database])

    def second_name(place):
        os.link(place.database, place.path("second"))
        return ["restore", place.path("second"), "--database", place.database]
    yield Case("restore: of a second name of the database", second_name)

    def by_link(place):
        place.path("link").symlink_to(place.database)
        return ["restore", place.path("link"), "--database", place.database]
    yield Case("restore: of a link to the database", by_link)

    def latest(place):
        place.kept = place.backup.read_bytes()
        place.path("latest").symlink_to(place.backup)
        return ["restore", place.path("latest"), "--database", place.database]

    def apart(place):
        """Why the restored database is not one of its own."""
        if place.database.is_symlink() or os.path.samefile(place.database, place.backup):
            return "the database is the backup now"
        if place.backup.read_bytes() != place.kept:
            return "the backup was written to"
        return "" if place.database.stat().st_mode & 0o777 == 0o600 else "others can read the database"
    yield Case("restore: of a link to a backup", latest, "Restored", statuses=(0,), after=apart)
    yield Case("restore: a name with signs for the terminal", lambda p: [
        "restore", p.path("a\x1b[2Jb"), "--database", p.database])
    yield Case("restore: a name that is too long", lambda p: ["restore", p.path("x" * 5000), "--database", p.database])

    def shut(place):
        place.backup.chmod(0)
    yield Case("restore: of a file that may not be read", restoring(shut), unprivileged=True)

    def read_only(place):
        place.folder.chmod(0o555)
    yield Case("restore: in a folder that is read-only", restoring(read_only), unprivileged=True)


def backup_cases(Case):
    for kind in AT_PLACE:
        def target(place, kind=kind):
            put(place.path("target"), kind)
            return place.path("target")
        yield Case(f"backup: onto a {kind}", backing_up(target))
    onto = [
        ("onto the database", lambda p: p.database), ("onto its key", lambda p: p.key),
        ("onto its journal", lambda p: p.journal), ("onto a backup", lambda p: p.backup),
        ("into no folder", lambda p: p.path("none/b.sqlite")), ("into a file", lambda p: p.path("backup.sqlite/b")),
        ("without a name", lambda p: ""), ("as a folder", lambda p: f"{p.folder}/"), ("as the root", lambda p: "/"),
        ("as a dot", lambda p: "."), ("into /proc", lambda p: "/proc/b.sqlite"), ("as a device", lambda p: "/dev/full"),
        ("a name that is too long", lambda p: p.path("x" * 300)),
        ("a path that is too long", lambda p: f"{p.folder}/" + "./" * 3000 + "b.sqlite"),
        ("signs for the terminal", lambda p: p.path("none/a\x1b[2J")),
        ("where its log would be", lambda p: p.path("k.sqlite-wal")),
    ]
    for name, target in onto:
        yield Case(f"backup: {name}", backing_up(target), statuses=(2, 3) if name == "without a name" else (3,))

    def dangling(place):
        place.path("link").symlink_to(place.path("elsewhere"))
        return place.path("link")
    yield Case("backup: onto a link to nothing", backing_up(dangling))

    def new(place):
        return place.path("b.sqlite")

    def whole(place):
        """Why the file is not a backup, or not for its owner only."""
        if place.names() - {"b.sqlite"} != {"k.sqlite", "k.sqlite.key", "k.sqlite.accesses", "backup.sqlite"}:
            return f"more is left: {place.names()}"
        if place.path("b.sqlite").stat().st_mode & 0o777 != 0o600:
            return "others can read the backup"
        verdict = sqlite3.connect(place.path("b.sqlite")).execute("PRAGMA integrity_check").fetchone()[0]
        return "" if verdict == "ok" else verdict
    yield Case("backup: as it is meant", backing_up(new), "Wrote", statuses=(0,), after=whole)

    def file_at(place):
        put(place.path("b.sqlite-journal"), "folder")
        return place.path("b.sqlite")
    yield Case("backup: a folder where SQLite keeps its own", backing_up(file_at), statuses=(0, 3))

    def read_only(place):
        place.path("shut").mkdir()
        place.path("shut").chmod(0o555)
        return place.path("shut/b.sqlite")
    yield Case("backup: into a folder that is read-only", backing_up(read_only), unprivileged=True)

    def no_database(place):
        place.database.unlink()
        return place.path("b.sqlite")
    yield Case("backup: of nothing", backing_up(no_database))

    def garbage(place):
        place.database.write_bytes(b"x" * 9000)
        return place.path("b.sqlite")
    yield Case("backup: of garbage", backing_up(garbage))

    def cut(place):
        place.database.write_bytes(place.database.read_bytes()[: place.database.stat().st_size // 2])
        return place.path("b.sqlite")
    yield Case("backup: of half a database", backing_up(cut))


def database_cases(Case):
    for kind in AT_PLACE:
        for suffix in ("", ".lock", "-wal", "-shm", "-journal", ".sock"):
            yield Case(f"serve: a {kind} as k.sqlite{suffix}", serving(
                lambda p, kind=kind, suffix=suffix: put(p.path(f"k.sqlite{suffix}"), kind)),
                statuses=(0, 2, 3), serves="maybe", changes=True)
    broken = [
        ("garbage", lambda p: p.database.write_bytes(b"x" * 9000)),
        ("a header only", lambda p: p.database.write_bytes(p.database.read_bytes()[:100])),
        ("another program's", lambda p: (p.database.unlink(), sql(p.database, "CREATE TABLE a (b)"))),
        ("a newer version", lambda p: sql(p.database, "INSERT INTO schema_migrations VALUES (99999)")),
        ("a view for the versions", lambda p: sql(
            p.database, "DROP TABLE schema_migrations; CREATE VIEW schema_migrations AS SELECT 1 AS version")),
        ("no settings", lambda p: sql(p.database, "DROP TABLE settings")),
        ("no version", lambda p: sql(p.database, "DELETE FROM schema_migrations")),
        ("a format of the future", lambda p: bytes_at(p.database, 18, b"\x09\x09")),
    ]
    for name, change in broken:
        yield Case(f"serve: {name}", serving(change))


def key_cases(Case):
    keys = [
        ("empty", lambda p: p.key.write_bytes(b"")), ("short", lambda p: p.key.write_text("c2hvcnQ=\n")),
        ("long", lambda p: p.key.write_text("QUJD" * 30)), ("very long", lambda p: p.key.write_bytes(b"A" * (100 << 20))),
        ("no text", lambda p: p.key.write_bytes(b"\xff\xfe\0\xc0")),
        ("for everybody", lambda p: p.key.chmod(0o644)),
    ] + [(f"a {kind}", lambda p, kind=kind: put(p.key, kind)) for kind in AT_PLACE]
    for name, change in keys:
        yield Case(f"key: {name}", serving(change))
        yield Case(f"key: {name}, to a command", backing_up(lambda p, change=change: (change(p), p.path("b.sqlite"))[1]))

    def reseal(place):
        put(place.path("former"), "pipe")
        return ["reseal", "--former-key-file", place.path("former"), "--database", place.database]
    yield Case("key: a pipe for the former", reseal)

    def another(place):
        place.key.unlink()
    yield Case("key: none, so that another is made", serving(another), serves=True)


def journal_cases(Case):
    def whole(place, change):
        content = bytearray(place.journal.read_bytes())
        place.journal.write_bytes(change(content))
    changes = [
        ("empty", lambda c: b""), ("a byte", lambda c: c[:1]), ("its head", lambda c: c[:32]),
        ("cut by a byte", lambda c: c[:-1]), ("garbage", lambda c: random.Random(2).randbytes(len(c))),
        ("another version", lambda c: b"\0KALJNL2" + c[8:]),
        ("another salt", lambda c: c[:8] + bytes(8) + c[16:]),
        ("garbage behind its head", lambda c: c[:32] + random.Random(3).randbytes(len(c) - 32)),
        ("no room", lambda c: c[:16] + bytes(8) + c[8:16] + c[32:]),
        ("room for all", lambda c: c[:16] + b"\xff" * 8 + bytes(255 - b for b in c[8:16]) + c[32:]),
    ]
    for name, change in changes:
        yield Case(f"journal: {name}", serving(lambda p, change=change: whole(p, change)), serves=True)
    for kind in AT_PLACE:
        yield Case(f"journal: a {kind}", serving(lambda p, kind=kind: put(p.journal, kind)), statuses=(0, 3),
                   serves="maybe", changes=True)
        yield Case(f"journal: a {kind} where the next is made", serving(
            lambda p, kind=kind: (p.journal.unlink(), put(p.path("k.sqlite.accesses.new"), kind))[1]),
            statuses=(0, 3), serves="maybe", changes=True)
        yield Case(f"journal: a {kind}, to a command", backing_up(
            lambda p, kind=kind: (put(p.journal, kind), p.path("b.sqlite"))[1]), statuses=(0, 3), changes=True)


def setting_cases(Case):
    documents = [
        ("no setting", b"port: 80"), ("lines without end", b"x = 1\n" * 100_000), ("bytes in a line", b"host = \xff"), ("a list", b"[]"), ("a number", b"1"), ("bytes", b"\xff\xfe{"),
        ("a NUL", b"{\"host\": \"a\\u0000b\"}"), ("a NUL in bytes", b"{\"host\"\0: 1}"), ("a mark of order", b"\xef\xbb\xbf{"),
        ("cut", b"{\"port\": 80"), ("deep", b"{\"port\":" + b"[" * 500_000), ("long", b"{\"a\":\"" + b"x" * (2 << 20) + b"\"}"),
        ("twice the same", b"{\"port\": 1, \"port\": 2}"), ("unknown", b"{\"prot\": 80}"),
        ("signs for the terminal", b"{\"\\u001b[2J\": 1}"), ("a wrong type", b"{\"port\": \"80\"}"),
        ("too great", b"{\"port\": 99999999999999999999999}"), ("a fraction", b"{\"port\": 80.5}"),
        ("much unknown", b"{" + b",".join(b"\"k%d\": 1" % n for n in range(20_000)) + b"}"),
        ("a host with a blank", b"{\"host\": \"a b\"}"), ("an address", b"{\"publicURL\": \"javascript:alert(1)\"}"),
        ("a key of nothing", b"{\"secretKey\": \"\"}"), ("a short key", b"{\"secretKey\": \"aaaa\"}"),
        ("a short secret", b"{\"jwtSecret\": \"aaaa\"}"), ("no certificate", b"{\"tlsCertificate\": \"/none\"}"),
        ("proxies", b"{\"trustedProxies\": [\"300.1.1.1/99\"]}"),
    ]
    for name, document in documents:
        def write(place, document=document):
            place.path("config").write_bytes(document)
            return ["--config", place.path("config")]
        yield Case(f"config: {name}", serving(write), statuses=(2, 3))

    def write_nothing(place):
        place.path("config").write_bytes(b"")
        return ["--config", place.path("config")]
    # Lines without a setting are a valid file.
    yield Case("config: empty", serving(write_nothing), serves=True)
    for kind in AT_PLACE:
        def put_config(place, kind=kind):
            put(place.path("config"), kind)
            return ["--config", place.path("config")]
        yield Case(f"config: a {kind}", serving(put_config), statuses=(2, 3))
        for flag in ("--secret-key-file", "--jwt-secret-file", "--jwt-jwks-file", "--app-logo"):
            def put_file(place, kind=kind, flag=flag):
                put(place.path("file"), kind)
                return [flag, place.path("file")]
            yield Case(f"config: a {kind} for {flag}", serving(put_file), statuses=(2, 3))

        def put_tls(place, kind=kind):
            put(place.path("file"), kind)
            return ["--tls-certificate", place.path("file"), "--tls-key", place.path("file")]
        yield Case(f"config: a {kind} for TLS", serving(put_tls), statuses=(2, 3))
    for name, content in [("nothing", b""), ("garbage", b"\xff" * 9000), ("a cut certificate",
                          b"-----BEGIN CERTIFICATE-----\nMIIB\n"), ("an empty certificate",
                          b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")]:
        def write_tls(place, content=content):
            place.path("file").write_bytes(content)
            return ["--tls-certificate", place.path("file"), "--tls-key", place.path("file")]
        yield Case(f"config: {name} for TLS", serving(write_tls), statuses=(2, 3))
    for name, content in [("nothing", b""), ("garbage", b"\xff" * 900), ("no keys", b"{\"keys\": []}"),
                          ("a key of zeros", b"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AAAA\",\"e\":\"AAAA\",\"kid\":\"a\"}]}"),
                          ("a small key", b"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"sXch\",\"e\":\"AQAB\",\"kid\":\"a\"}]}"),
                          ("a point off the curve",
                           b"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" + b"A" * 43 + b"\",\"y\":\"" + b"A" * 43
                           + b"\",\"kid\":\"a\"}]}")]:
        def write_keys(place, content=content):
            place.path("file").write_bytes(content)
            return ["--jwt-jwks-file", place.path("file")]
        yield Case(f"config: {name} as JWKS", serving(write_keys), statuses=(2, 3))
    variables = [("KALENDS_PORT", "x"), ("KALENDS_SECRET_KEY", "x"), ("KALENDS_PROT", "1"),
                 ("KALENDS_CONFIG", "/dev/zero"), ("KALENDS_DATABASE", ""), ("KALENDS_CACHE_BYTES", "-1")]
    for name, value in variables:
        def variable(place, name=name, value=value):
            place.environment = {name: value}
            place.port = free_port()
            return ["serve"] if name in ("KALENDS_DATABASE", "KALENDS_PORT") else [
                "serve", "--database", place.database, "--port", place.port]
        yield Case(f"config: the variable {name}", variable, statuses=(2, 3))


def all_cases(Case):
    for cases in (restore_cases, backup_cases, database_cases, key_cases, journal_cases, setting_cases):
        yield from cases(Case)

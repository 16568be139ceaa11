# SPDX-License-Identifier: Apache-2.0
"""Real CalDAV servers, each behind a proxy that makes faults when a request asks for one.

    python Tests/Providers/caldav_faults.py READY [radicale xandikos cyrus davical]

The servers keep their files in READY's folder, which goes away with this program. When all of them answer, READY is
written: one line a server, with its name, the proxy's address and the address without a proxy. The program ends with its
parent, or when it is terminated.

A request wishes for a fault with a field `X-Fault: name` or `X-Fault: name=value`, several by `; `. The proxy takes the
field away, and no other request is concerned. `FAULTS` has what there is.
"""

import getpass
import http.client
import http.server
import imaplib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Faults"))

from ports import free_port  # noqa: E402

USER, PASSWORD = "alice", "secret"

DEAD_TOKEN = b'<?xml version="1.0"?><error xmlns="DAV:"><valid-sync-token/></error>'
NO_REPORT = b'<?xml version="1.0"?><error xmlns="DAV:"><supported-report/></error>'

FAULTS = {
    "lost-answer": "the request is carried out and the connection ends without an answer",
    "never-applied": "the connection ends before the server sees anything",
    "status": "this status in place of the server's answer; the server sees nothing",
    "body": "with `status`: `dead-token` or `no-report`, as a DAV:error",
    "retry-after": "with `status`: the field",
    "redirect": "302 to this address",
    "temporary-redirect": "307 to this address",
    "etag": "this etag in place of the server's own; `none` for no etag",
    "unquoted": "etags have no quotes, and are compared as text: one with quotes is another one",
    "member": "the collection is listed among its members, with an etag",
    "cut": "so many responses of a multistatus, under a plain 207",
    "drop-token": "a listing without its sync-token",
    "drop-ctag": "no getctag",
    "respell": "addresses in the answer in another percent-encoding",
    "foreign": "addresses of another host and another calendar are listed too",
    "control": "a control character in the XML",
    "strip": "components of this name are taken out of what is put",
}


class Radicale:
    name = "radicale"

    def __init__(self, folder, port):
        self.port = port
        users = folder / "users"
        users.write_text(f"{USER}:{PASSWORD}\n")
        config = folder / "config"
        config.write_text(
            f"[server]\nhosts=127.0.0.1:{port}\nmax_connections=64\n"
            f"[auth]\ntype=htpasswd\nhtpasswd_filename={users}\nhtpasswd_encryption=plain\ndelay=0\n"
            f"[storage]\nfilesystem_folder={folder / 'collections'}\n[logging]\nlevel=error\n")
        self.command = [sys.executable, "-m", "radicale", "--config", str(config)]


class Xandikos:
    name = "xandikos"

    def __init__(self, folder, port):
        self.port = port
        data, state = folder / "data", folder / "state"
        data.mkdir(), state.mkdir()
        # Without TLS it takes no password, and serves one principal to everybody.
        self.command = [
            str(Path(sys.executable).parent / "xandikos"), "serve", "-d", str(data), "--defaults",
            "--current-user-principal", f"/{USER}/", "-l", "127.0.0.1", "-p", str(port), "--state-dir", str(state)]


class Cyrus:
    """Debian's cyrus-imapd with cyrus-caldav, as its own user where this is root; no service of the system is used."""

    name = "cyrus"
    programs = "/usr/lib/cyrus/bin"

    def __init__(self, folder, port):
        self.port, self.mail = port, free_port()
        for name in ("conf/socket", "conf/db", "mail", "lock", "proc", "sieve"):
            (folder / name).mkdir(parents=True)
        config = folder / "imapd.conf"
        config.write_text(
            f"configdirectory: {folder}/conf\nproc_path: {folder}/proc\nmboxname_lockpath: {folder}/lock\n"
            f"defaultpartition: default\npartition-default: {folder}/mail\nsievedir: {folder}/sieve\n"
            "unixhierarchysep: yes\nhttpmodules: caldav\nhttpallowcompress: no\nallowplaintext: yes\n"
            "sasl_pwcheck_method: auxprop\nsasl_auxprop_plugin: sasldb\nsasl_mech_list: PLAIN LOGIN\n"
            f"sasl_sasldb_path: {folder}/users\nservername: localhost\nautocreate_quota: 0\n"
            "autocreate_users: anyone\nsyslog_prefix: kalends-test\n"
            + ("" if os.getuid() == 0 else f"cyrus_user: {getpass.getuser()}\n"))
        services = folder / "cyrus.conf"
        services.write_text(
            f'START {{\n  recover cmd="{self.programs}/ctl_cyrusdb -C {config} -r"\n}}\nSERVICES {{\n'
            f'  imap cmd="{self.programs}/imapd -C {config}" listen="127.0.0.1:{self.mail}"\n'
            f'  http cmd="{self.programs}/httpd -C {config}" listen="127.0.0.1:{port}" maxchild=20\n}}\nEVENTS {{\n}}\n')
        subprocess.run(
            ["saslpasswd2", "-p", "-c", "-f", str(folder / "users"), "-u", "localhost", USER],
            input=PASSWORD.encode(), check=True)
        if os.getuid() == 0:
            # Its user has to reach the folder, and nothing outside it.
            folder.parent.chmod(0o711)
            subprocess.run(["chown", "-R", "cyrus:mail", str(folder)], check=True)
        self.command = [
            f"{self.programs}/master", "-C", str(config), "-M", str(services), "-p", str(folder / "conf/pid")]

    def prepare(self):
        """The first sign-in makes the account."""
        with imaplib.IMAP4("127.0.0.1", self.mail) as mail:
            mail.login(USER, PASSWORD)


class Davical:
    """Debian's davical with a PostgreSQL cluster of its own, a copy of its pages, and php-cgi behind a small server; no
    service of the system is used."""

    name = "davical"
    share = Path("/usr/share/davical")

    def __init__(self, folder, port):
        self.port, self.folder = port, folder
        # A socket's path has little room, less than a folder for tests may have in front of it.
        self.sockets = Path(tempfile.mkdtemp(prefix="dv-", dir="/tmp"))
        self.pages = folder / "davical"
        for part in ("htdocs", "inc", "dba"):
            shutil.copytree(self.share / part, self.pages / part)
        always = self.pages / "htdocs" / "always.php"
        always.write_text(always.read_text().replace("'/etc/davical/", f"'{folder}/"))
        (folder / "config.php").write_text(
            f"<?php\n$c->pg_connect[] = 'host={self.sockets} dbname=davical user=davical_app';\n"
            "$c->admin_email = 'admin@example.test';\n$c->system_name = 'tests';\n"
            "$c->default_locale = 'en';\n$c->enable_auto_schedule = false;\n")
        self.command = [sys.executable, "-B", str(Path(__file__).with_name("php_gateway.py")), str(port), str(self.pages / "htdocs")]
        if os.getuid() == 0:
            folder.parent.chmod(0o711)
            folder.chmod(0o755)
            shutil.chown(self.sockets, "postgres")
        self.cluster = self.sockets / "data"
        programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
        self.as_owner(programs / "initdb", "-D", self.cluster, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.folders = [self.sockets]
        self.below = [subprocess.Popen(
            self.owner() + [str(programs / "postgres"), "-D", str(self.cluster), "-k", str(self.sockets), "-c",
                            "listen_addresses=", "-c", "fsync=off", "-c", "log_min_messages=fatal"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        for _ in range(200):
            if subprocess.run([programs / "pg_isready", "-q", "-h", self.sockets]).returncode == 0:
                break
            time.sleep(0.1)
        self.as_owner("sh", self.pages / "dba" / "create-database.sh", "davical", "admin")
        # A password that begins with two stars is kept as it is; the type 1 is a person.
        self.as_owner("psql", "-q", "-d", "davical", "-c", f"""
            INSERT INTO usr (username, password, fullname, email, active)
            VALUES ('{USER}', '**{PASSWORD}', 'Alice', '{USER}@example.test', true);
            INSERT INTO principal (type_id, user_no, displayname, default_privileges)
            SELECT 1, user_no, fullname, 0::BIT(24) FROM usr WHERE username = '{USER}'""")

    def owner(self):
        return ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []

    def as_owner(self, *words):
        environment = os.environ | {"PGHOST": str(self.sockets), "PGUSER": "postgres", "LC_ALL": "C.UTF-8"}
        subprocess.run(
            self.owner() + [str(word) for word in words], check=True, env=environment, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)


SERVERS = {server.name: server for server in (Radicale, Xandikos, Cyrus, Davical)}


def wishes(field):
    pairs = (part.split("=", 1) for part in field.split("; ") if part)
    return {pair[0]: pair[1] if len(pair) == 2 else "" for pair in pairs}


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    backend = 0
    # Radicale's queue of new connections is short, and a full one breaks them off.
    turn = threading.Semaphore(4)

    def log_message(self, *_):
        pass

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.forward
        raise AttributeError(name)

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(body)

    def forward(self):
        wish = wishes(self.headers.get("X-Fault", ""))
        unknown = set(wish) - set(FAULTS)
        if unknown:
            return self.answer(599, [], f"no such fault: {unknown}".encode())
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "never-applied" in wish:
            return self.drop()
        if "status" in wish:
            text = {"dead-token": DEAD_TOKEN, "no-report": NO_REPORT}.get(wish.get("body"), b"")
            headers = [("Retry-After", wish["retry-after"])] if "retry-after" in wish else []
            return self.answer(int(wish["status"]), headers + [("Content-Type", "application/xml")], text)
        for name, status in (("redirect", 302), ("temporary-redirect", 307)):
            if name in wish:
                return self.answer(status, [("Location", wish[name])], b"")
        if "strip" in wish:
            name = re.escape(wish["strip"].encode())
            body = re.sub(rb"BEGIN:" + name + rb"\r\n.*?END:" + name + rb"\r\n", b"", body, flags=re.DOTALL)
        if not self.knows(wish):
            return self.answer(412, [], b"")
        with self.turn:
            status, headers, text = self.ask(body)
        if "lost-answer" in wish:
            return self.drop()
        return self.answer(status, *self.spoiled(wish, headers, text))

    def knows(self, wish):
        """Whether a condition has the form that a server without quotes compares; it reaches the real one with them."""
        condition = self.headers.get("If-Match")
        if "unquoted" not in wish or condition is None:
            return True
        self.headers.replace_header("If-Match", f'"{condition}"')
        return '"' not in condition

    def ask(self, body):
        server = http.client.HTTPConnection("127.0.0.1", self.backend, timeout=60)
        headers = {
            name: value for name, value in self.headers.items()
            if name.lower() not in ("x-fault", "connection", "content-length", "host")}
        # Addresses in answers then name the proxy, as behind any other.
        headers["Host"] = self.headers.get("Host", "")
        server.request(self.command, self.path, body=body or None, headers=headers)
        response = server.getresponse()
        text = response.read()
        server.close()
        return response.status, response.getheaders(), text

    def spoiled(self, wish, headers, text):
        if "etag" in wish:
            headers = [pair for pair in headers if pair[0].lower() != "etag"]
            if wish["etag"] != "none":
                headers.append(("ETag", wish["etag"]))
        if "unquoted" in wish:
            headers = [(name, value.strip('"') if name.lower() == "etag" else value) for name, value in headers]
            text = re.sub(rb"(getetag>)(?:\"|&quot;)([^<]*?)(?:\"|&quot;)(<)", rb"\1\2\3", text)
        prefix = re.search(rb"<(\w+:)?multistatus", text)
        if prefix:
            text = self.spoiled_list(wish, text, (prefix[1] or b""))
        return headers, text

    def spoiled_list(self, wish, text, p):
        pattern = rb"<" + p + rb"response[ >/].*?</" + p + rb"response>"
        found = re.findall(pattern, text, flags=re.DOTALL)
        end = b"</" + p + b"multistatus>"

        def member(href):
            text = (
                "<response><href>HREF</href><propstat><prop><getetag>\"c\"</getetag></prop>"
                "<status>HTTP/1.1 200 OK</status></propstat></response>")
            return re.sub(r"<(/?)", rf"<\g<1>{p.decode()}", text).replace("HREF", href).encode()

        if "cut" in wish:
            for response in found[int(wish["cut"]):]:
                text = text.replace(response, b"", 1)
        if "member" in wish:
            text = text.replace(end, member(self.path) + end)
        if "foreign" in wish:
            hrefs = ["https://calendar.example/alice/x.ics", "/somebody/else/x.ics", "../x.ics", "/alice/sub/", "//h/x"]
            text = text.replace(end, b"".join(member(href) for href in hrefs) + end)
        if "drop-token" in wish:
            text = re.sub(rb"<" + p + rb"sync-token>.*?</" + p + rb"sync-token>", b"", text)
        if "drop-ctag" in wish:
            text = re.sub(rb"<([\w]+:)?getctag>.*?</([\w]+:)?getctag>", b"", text)
        if "control" in wish:
            text = text.replace(end, b"\x0b" + end)
        if "respell" in wish:
            text = re.sub(
                rb"(<" + p + rb"href>)(.*?)(</)",
                lambda m: m[1] + m[2].replace(b"-", b"%2D").replace(b".ics", b"%2eics") + m[3], text)
        return text


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def wait_for(port, process, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            sys.exit(f"a server ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("a server does not answer")


def main():
    ready, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or [Radicale.name, Xandikos.name]
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    home = ready.parent
    processes, folders, lines = [], [home], []
    try:
        for name in names:
            folder = home / name
            folder.mkdir()
            server = SERVERS[name](folder, free_port())
            process = subprocess.Popen(server.command, stdout=subprocess.DEVNULL, stderr=sys.stderr)
            processes.append(process)
            # What it rests on ends after it.
            processes += getattr(server, "below", [])
            folders += getattr(server, "folders", [])
            proxy = Listener(("127.0.0.1", 0), type(f"{name}Proxy", (Proxy,), {
                "backend": server.port, "turn": threading.Semaphore(4)}))
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            wait_for(server.port, process)
            if hasattr(server, "prepare"):
                server.prepare()
            lines.append(f"{name} http://127.0.0.1:{proxy.server_port}/ http://127.0.0.1:{server.port}/")
        part = ready.with_suffix(".part")
        part.write_text("\n".join(lines) + "\n")
        part.rename(ready)
        while os.getppid() == parent and all(process.poll() is None for process in processes):
            time.sleep(0.5)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                # Radicale waits for connections that nobody ends.
                process.kill()
                process.wait()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

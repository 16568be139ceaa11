# SPDX-License-Identifier: Apache-2.0
"""A server on a free port of this machine that answers as its path says, well or badly; it prints the port.

Every request is written to standard output as a line of JSON. It ends when standard input does.
"""

import http.server
import json
import sys
import threading
import time
import urllib.parse

seen = {}
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        """Says nothing by itself."""

    def answer(self, status, body=b"{}", headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        address = urllib.parse.urlsplit(self.path)
        with lock:
            count = seen[address.path] = seen.get(address.path, 0) + 1
            print(json.dumps({
                "method": self.command, "path": self.path, "authorization": self.headers.get("Authorization"),
                "user": self.headers.get("Kalends-User"), "type": self.headers.get("Content-Type"),
                "cookie": self.headers.get("Cookie"), "body": body.decode(), "port": self.client_address[1],
            }), flush=True)
        # /prefix/<behaviour>/…: what follows is a route of the program under test.
        behaviour = address.path.split("/")[1]
        try:
            getattr(self, "do_" + behaviour.replace("-", "_"))(count, address)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def do_status(self, count, address):
        """/status/<code>/…"""
        code = int(address.path.split("/")[2])
        self.answer(code, json.dumps({"code": "made_up", "detail": "secret-in-an-answer"}).encode())

    def do_basic(self, count, address):
        """Wants a name and a password, as a proxy before a server does."""
        self.answer(401, b"{}", headers=[("WWW-Authenticate", 'Basic realm="proxy"')])

    def do_flaky(self, count, address):
        """/flaky/<failures>/…: so many times 503, then it works."""
        if count <= int(address.path.split("/")[2]):
            self.answer(503)
        else:
            self.answer(200, self.fixed(address))

    def do_patient(self, count, address):
        """/patient/<seconds>/…: 429 with Retry-After once, then it works."""
        if count == 1:
            self.answer(429, headers=[("Retry-After", address.path.split("/")[2])])
        else:
            self.answer(200, self.fixed(address))

    def fixed(self, address):
        """What a test wants as an answer, in the query or else an empty object."""
        return urllib.parse.parse_qs(address.query).get("answer", ["{}"])[0].encode()

    def do_silent(self, count, address):
        time.sleep(60)
        self.answer(200)

    def do_drip(self, count, address):
        """A byte now and then, for ever: no silence is long, and it never ends."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        for _ in range(1200):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.05)
        self.close_connection = True

    def do_announced(self, count, address):
        """Says that it will be a terabyte."""
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        self.wfile.write(b"{")
        self.close_connection = True

    def do_endless(self, count, address):
        """More and more, in chunks, without a length."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        piece = b"x" * 65536
        for _ in range(4096):
            self.wfile.write(b"10000\r\n" + piece + b"\r\n")
        self.close_connection = True

    def do_redirect(self, count, address):
        self.answer(302, headers=[("Location", "/stolen/here")])

    def do_stolen(self, count, address):
        self.answer(200)

    def do_cookie(self, count, address):
        self.answer(200, headers=[("Set-Cookie", "a=b; Path=/")])

    def do_short(self, count, address):
        """Fewer bytes than it said."""
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"{}")
        self.close_connection = True

    def do_reset(self, count, address):
        """Nothing at all."""
        self.close_connection = True

    def do_text(self, count, address):
        self.answer(200, b"<html>Welcome to the hotel</html>")

    def do_deep(self, count, address):
        self.answer(200, b"[" * 100_000)

    def do_say(self, count, address):
        """/say/<name>/…: the answer that standard input named."""
        self.answer(200, replies[address.path.split("/")[2]].encode())


replies = {}
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port}), flush=True)
for line in sys.stdin:
    replies.update(json.loads(line))
    with lock:
        print(json.dumps({"ready": True}), flush=True)

# SPDX-License-Identifier: Apache-2.0
"""Pages in PHP over HTTP on loopback: each request is a run of php-cgi (RFC 3875).

    python3 Tests/Providers/php_gateway.py PORT FOLDER

`/caldav.php/alice/` runs `caldav.php` of the folder with `/alice/` behind it. Other paths are not there, and neither is a
folder's listing. PHP's own server for tests knows no MKCALENDAR.
"""

import http.server
import os
import subprocess
import sys
import urllib.parse
from pathlib import Path


class Gateway(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = Path()

    def log_message(self, *_):
        pass

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.run_page
        raise AttributeError(name)

    def answer(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(body)

    def run_page(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        decoded = urllib.parse.unquote(path)
        if decoded.rstrip("/") == "/.well-known/caldav":
            return self.answer(301, [("Location", "/caldav.php/")])
        name, _, rest = decoded.lstrip("/").partition("/")
        page = self.folder / name
        if not name.endswith(".php") or "/" in name or not page.is_file():
            return self.answer(404)
        environment = {
            "PATH": os.environ.get("PATH", ""), "GATEWAY_INTERFACE": "CGI/1.1", "REDIRECT_STATUS": "200",
            "SERVER_PROTOCOL": "HTTP/1.1", "SERVER_SOFTWARE": "gateway", "SERVER_NAME": "localhost",
            "SERVER_PORT": str(self.server.server_port), "REQUEST_METHOD": self.command, "REQUEST_URI": self.path,
            "SCRIPT_NAME": f"/{name}", "SCRIPT_FILENAME": str(page), "DOCUMENT_ROOT": str(self.folder),
            "PATH_INFO": f"/{rest}", "QUERY_STRING": query, "REMOTE_ADDR": self.client_address[0],
            "CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": self.headers.get("Content-Type", ""),
        }
        for field, value in self.headers.items():
            environment["HTTP_" + field.upper().replace("-", "_")] = value
        done = subprocess.run(
            ["php-cgi", "-d", "cgi.fix_pathinfo=0", "-d", "display_errors=0", "-d", "log_errors=0",
             "-d", "html_errors=0"], input=body, env=environment, cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status, headers = 200, []
        for line in head.decode("latin-1").split("\r\n"):
            field, _, value = line.partition(":")
            if field.lower() == "status":
                status = int(value.split()[0])
            elif value and field.lower() not in ("content-length", "connection", "transfer-encoding"):
                headers.append((field, value.strip()))
        return self.answer(status, headers, content)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    Gateway.folder = Path(sys.argv[2])
    Server(("127.0.0.1", int(sys.argv[1])), Gateway).serve_forever()

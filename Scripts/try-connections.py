# SPDX-License-Identifier: Apache-2.0
"""A server with the demo, and Google, Microsoft Graph and Radicale on this machine, to go through connections by hand.

    python3 -B Scripts/try-connections.py KALENDS [--port 8080] [--python PYTHON] [--walk]

Prints what to open and what to type; Ctrl-C ends everything, and nothing stays. With `--walk` it goes through all of the
steps itself, as typed, looks whether each does what is said, and ends. PYTHON is one that has radicale.
"""

import argparse
import http.server
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROVIDERS = ROOT / "Tests" / "Providers"
# Seconds that a program may take to start, or a step to be done: a busy machine is slow, and not at fault.
PATIENCE = 600
CIRCLE, PERSON, APPOINTMENT = "rivera-family", "maria-rivera", "appointment-cardiology"

HELPERS = r"""
# As the host application, for %(person)s; `field a b` takes a member out of an answer, `show` sets it in lines.
k() { curl -sS -H "Authorization: Bearer $KEY" -H "Kalends-User: %(person)s" -H "Content-Type: application/json" "$@"; }
field() { python3 -c 'import json,sys,functools
v=json.load(sys.stdin)
for n in sys.argv[1:]: v=v[int(n) if isinstance(v,list) else n]
print(v if isinstance(v,str) else json.dumps(v))' "$@"; }
show() { python3 -m json.tool --no-ensure-ascii; }
# The latest run of a connection, once it has ended.
ran() { for i in $(seq 600); do R=$(k $BASE/v1/connections/$1/runs | field items 0); case "$R" in *'"state": "running"'*) sleep 0.5;; *) break;; esac; done; echo "$R" | show; }
# The run that took something over, once a report of the other side has caused it.
came() { for i in $(seq 600); do R=$(k $BASE/v1/connections/$1/runs | field items 0); case "$R" in *'"pulled": 1'*) break;; *) sleep 0.5;; esac; done; echo "$R" | show; }
# Asks for a run and waits for its end.
sync() { k -X POST $BASE/v1/connections/$1/sync | field runId >/dev/null && sleep 1 && ran $1; }
"""

# Each step: what it is, what is typed, and what has to be in the answer.
STEPS = [
    ("An appointment of the demo's circle. It is the one that is moved below.",
     """A=%(appointment)s; k $BASE/v1/circles/%(circle)s/appointments/$A | show""", r'"startAt"'),

    ("GOOGLE. A connection, and the address at which its person signs in (this one agrees by itself).",
     """G=$(k -d '{"provider": "google"}' $BASE/v1/circles/%(circle)s/connections | field id); echo "$G"
k -d '{"returnTo": "%(back)s"}' $BASE/v1/connections/$G/authorize | field authorizeURL | tee %(folder)s/open""",
     r"%(google)s/o/oauth2/v2/auth"),
    ("Open it in a browser, or follow it here. It ends at %(back)s with result=pending and a code. What began it redeems the code.",
     """redeem() { curl -sS -L "$2" | tee /dev/stderr | sed 's/.* //; s/.*/{"code": "&"}/' | k -d @- $BASE/v1/connections/$1/redeem | field state; }
redeem $G "$(cat %(folder)s/open)" """, "choosing"),
    ("The account's calendars; then a new one for the circle, and what a first run would do. Nothing is changed yet.",
     """k $BASE/v1/connections/$G/calendars | show
k -X PUT -d '{"create": {}}' $BASE/v1/connections/$G/calendar | show
k -X POST "$BASE/v1/connections/$G/sync?mode=preview" | field counts""", r'"state": "active"[\s\S]*"(created|unchanged)": [1-9]'),
    ("The first run.", "sync $G", r'"status": "success"'),
    ("What Google has now: T is the token of the person who looks into the calendar there, C the calendar, E the event of A.",
     """T=$(curl -sS -d '{}' %(google)s/control/person | field token)
C=$(k $BASE/v1/connections/$G | field calendarId | python3 -c 'import urllib.parse;print(urllib.parse.quote(input()))')
E=$(k $BASE/v1/connections/$G/mappings | python3 -c 'import json,sys
print([m["externalId"] for m in json.load(sys.stdin)["items"] if m["itemId"] == sys.argv[1]][0])' $A)
curl -sS -H "Authorization: Bearer $T" %(google)s/calendar/v3/calendars/$C/events/$E | show""", r'"dateTime"'),
    ("The person moves it there by two hours. Google reports the change, and some seconds later it has moved here.",
     """move() { python3 -c 'import datetime,json,sys
e=json.load(sys.stdin); h=datetime.timedelta(hours=float(sys.argv[1]))
for n in ("start","end"): e[n]["dateTime"]=(datetime.datetime.fromisoformat(e[n]["dateTime"].replace("Z","+00:00"))+h).isoformat()
print(json.dumps({n: e[n] for n in ("start","end")}))' $1; }
there() { curl -sS -H "Authorization: Bearer $T" -H "Content-Type: application/json" "$@"; }
there %(google)s/calendar/v3/calendars/$C/events/$E | move 2 > %(folder)s/moved
there -X PATCH -d @%(folder)s/moved %(google)s/calendar/v3/calendars/$C/events/$E | field start
came $G
k $BASE/v1/circles/%(circle)s/appointments/$A | field startAt""", r'"pulled": 1'),
    ("A conflict: it is moved here by a day, and there by another hour, before either side hears of it.",
     """k -X PATCH -d '{"paused": true}' $BASE/v1/connections/$G | field state
k $BASE/v1/circles/%(circle)s/appointments/$A | python3 -c 'import datetime,json,sys
e=json.load(sys.stdin); d=datetime.timedelta(days=1)
kept={n: e[n] for n in ("patientId","provider","location","notes","reminders","status") if e.get(n) is not None}
for n in ("startAt","endAt"):
    if e.get(n): kept[n]=(datetime.datetime.fromisoformat(e[n].replace("Z","+00:00"))+d).isoformat()
print(json.dumps(kept))' > %(folder)s/later
k -X PUT -d @%(folder)s/later $BASE/v1/circles/%(circle)s/appointments/$A | field startAt
there %(google)s/calendar/v3/calendars/$C/events/$E | move 1 > %(folder)s/moved
there -X PATCH -d @%(folder)s/moved %(google)s/calendar/v3/calendars/$C/events/$E | field start
k -X PATCH -d '{"paused": false}' $BASE/v1/connections/$G | field state
sync $G
k $BASE/v1/connections/$G/conflicts | show""", r'"kind": "bothChanged"[\s\S]*"state": "open"|"state": "open"[\s\S]*"kind": "bothChanged"'),
    ("It is in `attention` too. The value here is kept: the event there follows.",
     """k $BASE/v1/connections/$G | field attention
X=$(k $BASE/v1/connections/$G/conflicts | field items 0 id)
k -d '{"keep": "kalends"}' $BASE/v1/conflicts/$X/resolve | field outcome
sleep 2; ran $G; there %(google)s/calendar/v3/calendars/$C/events/$E | field start""", r'openConflicts[\s\S]*kalends'),
    ("Who wrote what, and why.", "k $BASE/v1/connections/$G/journal | show | head -60", r'"reason"'),

    ("OUTLOOK, in the same way.",
     """O=$(k -d '{"provider": "outlook"}' $BASE/v1/circles/%(circle)s/connections | field id)
redeem $O "$(k -d '{"returnTo": "%(back)s"}' $BASE/v1/connections/$O/authorize | field authorizeURL)"
k -X PUT -d '{"create": {}}' $BASE/v1/connections/$O/calendar | field calendarName
sync $O; curl -sS %(graph)s/control/events | show | head -40""", r'choosing[\s\S]*"status": "success"'),

    ("CALDAV: a real Radicale, with a user name and a password; then the calendar as Radicale has it.",
     """D=$(k -d '{"provider": "caldav"}' $BASE/v1/circles/%(circle)s/connections | field id)
k -X PUT -d '{"url": "%(radicale)s", "username": "alice", "password": "secret"}' $BASE/v1/connections/$D/account | show
k -X PUT -d '{"create": {}}' $BASE/v1/connections/$D/calendar | field calendarName
sync $D; curl -sS -u alice:secret "$(k $BASE/v1/connections/$D | field calendarId)" | head -30""",
     r'"status": "success"[\s\S]*BEGIN:VCALENDAR'),
    ("The end: what was made there goes, what was there before stays.",
     """for i in $G $O $D; do k -X DELETE -w '%%{http_code}\\n' "$BASE/v1/connections/$i?events=remove"; done; sleep 5
curl -sS %(google)s/control/state | python3 -c 'import json,sys
print("events left:", sum(e.get("status") != "cancelled" for a in json.load(sys.stdin)["accounts"].values() for c in a for e in c["events"]))'""",
     r"events left: 0"),
]


class Failure(Exception):
    """What keeps the trial from going on, in words for whoever runs it."""


class Back(http.server.BaseHTTPRequestHandler):
    """Where a person lands after signing in."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        text = f"connection {query.get('connection', '?')}: {query.get('result', '?')} {query.get('code', '')}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Trial:
    def __init__(self, folder, options):
        self.folder, self.options, self.processes = Path(folder), options, []

    def begin(self, name, command, environment=None, stdin=subprocess.DEVNULL):
        log = open(self.folder / f"{name}.log", "wb")
        process = subprocess.Popen(
            [str(word) for word in command], stdout=log, stderr=log, stdin=stdin, env=environment,
            start_new_session=True)
        self.processes.append(process)
        return process, self.folder / f"{name}.log"

    def first(self, name, pattern, process, path):
        """What a program says, or writes, once it is there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if path.exists() and (found := re.search(pattern, path.read_text(errors="replace"))):
                return found[1]
            if process.poll() is not None:
                break
            time.sleep(0.1)
        log = self.folder / f"{name}.log"
        raise Failure(f"{name} does not start: {log.read_text(errors='replace')[-2000:]}")

    def start(self):
        program = Path(self.options.kalends).resolve()
        google = self.first("google", r"(http://\S+)", *self.begin("google", [sys.executable, "-B", PROVIDERS / "google_emulator.py"]))
        graph = self.first("graph", r"ready (http://\S+)", *self.begin(
            "graph", [sys.executable, "-B", PROVIDERS / "graph_emulator.py"], stdin=subprocess.PIPE))
        caldav = self.folder / "caldav"
        caldav.mkdir()
        process, _ = self.begin(
            "radicale", [self.options.python, "-B", PROVIDERS / "caldav_faults.py", caldav / "ready", "radicale"])
        radicale = self.first("radicale", r"radicale (http://\S+)", process, caldav / "ready")
        back = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Back)
        threading.Thread(target=back.serve_forever, daemon=True).start()
        base, landing = f"http://localhost:{self.options.port}", f"http://127.0.0.1:{back.server_port}"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KALENDS")} | {
            "KALENDS_PUBLIC_URL": base, "KALENDS_RETURN_ORIGINS": landing,
            "KALENDS_GOOGLE_CLIENT_ID": "our-client.apps.googleusercontent.com", "KALENDS_GOOGLE_CLIENT_SECRET": "GOCSPX-x",
            "KALENDS_GOOGLE_AUTHORIZE_URL": f"{google}/o/oauth2/v2/auth", "KALENDS_GOOGLE_TOKEN_URL": f"{google}/token",
            "KALENDS_GOOGLE_REVOKE_URL": f"{google}/revoke", "KALENDS_GOOGLE_API_URL": google,
            "KALENDS_MICROSOFT_CLIENT_ID": "our-app", "KALENDS_MICROSOFT_CLIENT_SECRET": "ms-secret",
            "KALENDS_MICROSOFT_LOGIN_URL": graph, "KALENDS_MICROSOFT_GRAPH_URL": f"{graph}/v1.0",
            "KALENDS_PRIVATE_CALDAV_HOSTS": urllib.parse.urlsplit(radicale).netloc,
        }
        database = self.folder / "kalends.sqlite"
        process, log = self.begin("server", [
            program, "serve", "--demo", "--database", database, "--port", self.options.port, "--log-level", "notice"], environment)
        self.first("server", r"(serving)", process, log)
        key = subprocess.run(
            [program, "key", "create", "--name", "trial", "--database", database], check=True, capture_output=True,
            text=True, env=environment).stdout.strip()
        self.filled(base, key)
        self.names = {
            "circle": CIRCLE, "person": PERSON, "appointment": APPOINTMENT, "google": google, "graph": graph, "radicale": radicale,
            "back": f"{landing}/done", "folder": self.folder,
        }
        self.head = f"export BASE={base} KEY={key}\n{HELPERS % self.names}"

    def filled(self, base, key):
        """Waits until the demo is in the database."""
        request = urllib.request.Request(
            f"{base}/v1/circles/{CIRCLE}/appointments/{APPOINTMENT}", headers={"Authorization": f"Bearer {key}"})
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                return urllib.request.urlopen(request, timeout=60).close()
            except OSError:
                time.sleep(0.1)
        raise Failure(f"the demo is not there. {self.log()}")

    def steps(self):
        return [(text % self.names, command % self.names, answer % self.names if "%(" in answer else answer)
                for text, command, answer in STEPS]

    def show(self):
        print(f"The server is at {self.names['back'] and 'http://localhost:%d' % self.options.port} (its API: /docs). "
              "Type these lines into another shell, from the top.\n")
        print(self.head)
        for number, (text, command, _) in enumerate(self.steps(), 1):
            print(f"# {number}. {text}\n{command}\n")
        print("# Every few minutes, or with Ctrl-C, see the counters:\ncurl -sS $BASE/healthz\n\nCtrl-C ends everything.", flush=True)

    def walk(self):
        """One shell for all steps, as a person has; a line of its own ends the answer of each."""
        shell = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True)
        self.processes.append(shell)
        shell.stdin.write(self.head + "\n")
        for number, (text, command, answer) in enumerate(self.steps(), 1):
            shell.stdin.write(f"{command}\necho; echo end-of-step-{number}\n")
            shell.stdin.flush()
            # A step that hangs ends with its shell, and what it has said so far is shown.
            watch = threading.Timer(PATIENCE, lambda: os.killpg(shell.pid, signal.SIGKILL))
            watch.start()
            lines = []
            for line in shell.stdout:
                if line.strip() == f"end-of-step-{number}":
                    break
                lines.append(line)
            watch.cancel()
            said = "".join(lines)
            if shell.poll() is not None:
                said += f"\nThe step did not end within {PATIENCE} s."
            if not re.search(answer, said):
                raise Failure(f"step {number}, {text}\n{command}\n\nsaid:\n{said}\n\n{self.log()}")
            print(f"{number}. {text.split('.')[0]}: as described", flush=True)

    def log(self):
        return "server: " + (self.folder / "server.log").read_text(errors="replace")[-3000:]

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kalends")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--python", default=sys.executable, help="a Python that has radicale")
    parser.add_argument("--walk", action="store_true", help="go through the steps, and end")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="kalends-trial-")
    trial = Trial(folder, options)
    try:
        trial.start()
        if options.walk:
            trial.walk()
        else:
            trial.show()
            threading.Event().wait()
    except KeyboardInterrupt:
        print()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
    finally:
        trial.stop()
        shutil.rmtree(folder, ignore_errors=True)


main()

# SPDX-License-Identifier: Apache-2.0
"""Builds the container's image with a program that is there already; runs it as compose.yaml says, and beside PostgreSQL.

    sudo Scripts/postgresql.sh python3 -B Tests/Packages/container.py PROGRAM

The stage of the Containerfile that builds the program, and Caddy, are left out. The base is docker.io's, or where that
cannot be reached, one of the same packages made by debootstrap. PODMAN names another command than podman.
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PODMAN = os.environ.get("PODMAN", "podman")
BASE = "docker.io/library/debian:12-slim"
PROJECT = "kalends-test"
COMPOSE = ["podman-compose", "--podman-path", PODMAN, "--project-name", PROJECT, "--file",
           str(ROOT / "Packaging/container/compose.yaml")]


def check(condition, text):
    if not condition:
        raise SystemExit(f"container: FAILED: {text}")
    print(f"  ok  {text}", flush=True)


def run(*command, fails=False):
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=os.environ | {"KALENDS_DOMAIN": "calendar.example"})
    if not fails and done.returncode != 0:
        raise SystemExit(f"container: {' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def base():
    """Returns the name of an image of Debian."""
    if run(PODMAN, "pull", "--quiet", BASE, fails=True).returncode == 0:
        return BASE
    own = "localhost/kalends-test-base"
    with tempfile.TemporaryDirectory() as folder:
        run("debootstrap", "--variant=minbase", "bookworm", f"{folder}/root", "http://deb.debian.org/debian")
        run("tar", "-cf", f"{folder}/root.tar", "-C", f"{folder}/root", ".")
        run(PODMAN, "import", f"{folder}/root.tar", own)
    return own


def ask(host, method, path, key=None, body=None):
    connection = http.client.HTTPConnection(host, 8080, timeout=30)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data


def address(name):
    """Returns where a container answers, once it does."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        networks = json.loads(run(PODMAN, "inspect", name).stdout)[0]["NetworkSettings"]["Networks"]
        host = next(iter(networks.values()))["IPAddress"]
        try:
            if host and ask(host, "GET", "/readyz")[0] == 200:
                return host
        except OSError:
            pass
        time.sleep(0.3)
    raise SystemExit(f"container: {name} does not answer\n{run(PODMAN, 'logs', name, fails=True).stderr}")


def use(name):
    """Makes a circle and a feed, and reads the feed, before and after a new start."""
    host = address(name)
    key = run(PODMAN, "exec", name, "kalends", "key", "create", "--name", "app").stdout.strip()
    check(ask(host, "PUT", "/v1/circles/c", key, {"name": "Care", "timeZone": "UTC"})[0] == 201, "a circle is made")
    soon = time.strftime("%Y-%m-%dT09:00:00Z", time.gmtime(time.time() + 86400))
    check(ask(host, "PUT", "/v1/circles/c/tasks/t", key, {"title": "Pills", "dueAt": soon})[0] == 201, "and an item")
    ask(host, "PUT", "/v1/circles/c/members/ann", key, {"displayName": "Ann", "role": "owner"})
    status, body = ask(host, "POST", "/v1/circles/c/feeds", key, {"userId": "ann"})
    check(status == 201, "a feed is made")
    path = "/" + json.loads(body)["url"].split("/", 3)[3]
    status, before = ask(host, "GET", path)
    check(status == 200 and b"Pills" in before, f"it is read, {len(before)} bytes")
    doctor = run(PODMAN, "exec", name, "kalends", "doctor")
    check("BAD" not in doctor.stdout and "strangers' files: read by a process without files" in doctor.stdout,
          "doctor finds nothing; strangers' files are read by a process that may do nothing else")
    began = time.monotonic()
    run(PODMAN, "stop", "--time", "45", name)
    state = json.loads(run(PODMAN, "inspect", name).stdout)[0]["State"]
    check(state["ExitCode"] == 0 and time.monotonic() - began < 40, "it stops in order")
    run(PODMAN, "start", name)
    check(ask(address(name), "GET", path) == (200, before), "started again, it gives the same feed")
    logs = run(PODMAN, "logs", name)
    lines = (logs.stdout + logs.stderr).splitlines()
    check(lines and all("level" in json.loads(line) for line in lines), f"each of {len(lines)} lines of log is JSON")


def main():
    program = Path(sys.argv[1]).resolve()
    image = base()
    print(f"An image on {image}:", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program").mkdir()
        shutil.copy(program, Path(folder) / "program/kalends")
        run(PODMAN, "build", "--build-context", f"build={folder}", "--build-arg", f"BASE={image}", "--tag", "kalends",
            "--file", "Packaging/container/Containerfile", ".")
    check(json.loads(run(PODMAN, "inspect", "kalends").stdout)[0]["Config"]["User"] == "kalends", "it is built")

    print("As compose.yaml says:", flush=True)
    try:
        run(PODMAN, "network", "create", "--subnet", "172.28.7.0/24", f"{PROJECT}_inner")
        run(*COMPOSE, "up", "--detach", "--no-build", "kalends")
        name = run(PODMAN, "ps", "--quiet", "--filter", f"label=com.docker.compose.project={PROJECT}").stdout.strip()
        check(address(name).startswith("172.28.7."), "it is in the network whose proxy it trusts")
        use(name)
    finally:
        run(*COMPOSE, "down", "--volumes", fails=True)
        run(PODMAN, "network", "rm", f"{PROJECT}_inner", fails=True)

    place = os.environ.get("KALENDS_TEST_POSTGRESQL", "")
    if not place:
        raise SystemExit("container: there is no PostgreSQL to run beside")
    print("Beside PostgreSQL:", flush=True)
    folder = dict(word.split("=", 1) for word in place.split())["host"]
    run("psql", "--quiet", "--dbname", place, "--command", "CREATE DATABASE container TEMPLATE template0")
    name = f"{PROJECT}-postgresql"
    try:
        run(PODMAN, "run", "--detach", "--name", name, "--network", "podman", "--read-only", "--tmpfs", "/tmp",
            "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--env", "KALENDS_LOG_FORMAT=json",
            "--env", "KALENDS_DATABASE=host=/run/postgresql user=kalends dbname=container",
            "--env", "KALENDS_FILES=/var/lib/kalends/kalends", "--volume", f"{folder}:/run/postgresql", "kalends")
        use(name)
    finally:
        run(PODMAN, "rm", "--force", "--volumes", name, fails=True)
    print("container: all is well")


main()

# SPDX-License-Identifier: Apache-2.0
"""A server for a harness: started in a folder of its own, filled, and called."""

import http.client
import json
import os
import re
import subprocess
import time

HOST = "127.0.0.1"


def start(program, folder, *flags):
    log = open(os.path.join(folder, "log"), "w+")
    process = subprocess.Popen(
        [program, "serve", "--database", f"{folder}/k.sqlite", "--port", "0", "--log-level", "notice", *flags],
        stdout=log, stderr=log)
    for _ in range(400):
        found = re.search(r"\bserving\b.*\bport=(\d+)", open(log.name).read())
        if found:
            return process, int(found[1])
        time.sleep(0.05)
    process.kill()
    raise SystemExit("the server does not start: " + open(log.name).read())


def call(port, method, path, key, body="", kind="application/json"):
    connection = http.client.HTTPConnection(HOST, port, timeout=600)
    connection.request(method, path, body=body, headers={"Authorization": f"Bearer {key}", "Content-Type": kind})
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status >= 300:
        raise SystemExit(f"{method} {path}: {answer.status} {text}")
    return text


def make_key(program, folder):
    return subprocess.run(
        [program, "key", "create", "--name", "harness", "--database", f"{folder}/k.sqlite"],
        check=True, capture_output=True, text=True).stdout.strip()


def path_of(feed):
    """The path of a feed's address in the API's answer about it."""
    return re.search(r"https?://[^/]*(/.*)", json.loads(feed)["url"])[1]


def memory(pid):
    """Resident memory in MiB."""
    text = open(f"/proc/{pid}/status").read()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) >> 10

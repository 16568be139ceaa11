# SPDX-License-Identifier: Apache-2.0
"""Holds the server to its OpenAPI document with other people's programs: a validator of the document, a tester that
makes requests up from it, and a client that a generator writes from it.

    KALENDS=.build/debug/kalends .tools/python/bin/python Tests/API/run.py [--examples 25] [--seed N] [--quick]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

from generators import Faulty, python_client
from seeded import Violation, seeded

TOOLS = Path(sys.executable).parent
HERE = Path(__file__).resolve().parent


def valid(document):
    faults = [f"{list(fault.path)}: {fault.message}" for fault in OpenAPIV31SpecValidator(document).iter_errors()]
    if faults:
        raise Violation("the document is not valid OpenAPI 3.1:\n" + "\n".join(faults))
    count = sum(len(item) for item in document["paths"].values())
    print(f"document: valid OpenAPI 3.1, {count} operations")


def tested(folder, options):
    """Requests made up by rule and at random: no answer may be a 5xx, or one that the document does not describe. The runs go
    on at the same time, each with a server of its own."""
    # A provider learns nothing from the answers of its hooks: what it adds to a report is no fault, and neither is what comes
    # with a request that only tests the address. Everything else holds for them too.
    mild = [check for check in CHECKS if check != "negative_data_rejection"]
    runs = [
        ("anything", False, "--exclude-path-regex", CHECKS), ("what is there", True, "--exclude-path-regex", CHECKS),
        ("hooks", False, "--include-path-regex", mild)]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for said in pool.map(lambda run: made_up(*run, Path(folder) / run[0], options), runs):
            print(said)


def made_up(name, is_fixed, paths, checks, folder, options):
    folder.mkdir()
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
    server, things = seeded(folder)
    try:
        config = folder / "schemathesis.toml"
        # A condition that does not hold, and a wait, are answered before the body is looked at (RFC 9110 section 13.2.1).
        lines = ["[checks.negative_data_rejection]", "expected-statuses = [400, 401, 403, 404, 405, 409, 412, 413, 422, 429]"]
        lines += ["[parameters]"] + [
            f'"path.{part}" = "{value}"' for part, value in things.items() if is_fixed and part != "feed"]
        config.write_text("\n".join(lines) + "\n")
        # Each value of each parameter at its limits. Without ids of what is there, nearly all of it is at nothing.
        phases = ["examples", *([] if options.quick and name == "anything" else ["coverage"]), "fuzzing", "stateful"]
        command = [
            TOOLS / "st", "--config-file", config, "run", f"http://127.0.0.1:{server.port}/openapi.json",
            "--header", f"Authorization: Bearer {server.key}", "--phases", ",".join(phases),
            paths, HOOKS, "--checks", ",".join(checks), "--max-examples", str(options.examples),
            *(["--generation-deterministic"] if options.seed is None else ["--seed", str(options.seed)]),
            "--suppress-health-check", "all", "--warnings", "off", "--no-color", "--request-timeout", "60",
            "--continue-on-failure", "--max-failures", "20", "--output-sanitize", "true",
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
        if done.returncode != 0:
            raise Violation(f"schemathesis, {name}:\n{done.stdout[-20000:]}{done.stderr[-4000:]}\n{server.tail()}")
        server.wait()
    finally:
        server.stop()
    summary = [line.strip() for line in done.stdout.splitlines() if "generated" in line or "passed" in line]
    return f"schemathesis, {name}: " + "; ".join(summary[-3:])


HOOKS = "^/(v1/hooks/|functions/v1/calendar-webhook)"

CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "unsupported_method", "ignored_auth",
]


def generated(server, folder):
    """A client that nobody wrote by hand tells a whole story."""
    try:
        python_client(server.request("GET", "/openapi.json")[2], folder)
    except Faulty as fault:
        raise Violation(str(fault)) from None
    shutil.copy(HERE / "client_story.py", folder)
    done = subprocess.run(
        [sys.executable, "-B", "client_story.py", f"http://127.0.0.1:{server.port}", server.key],
        capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        raise Violation(f"the generated client failed:\n{done.stdout}{done.stderr}")
    print(f"generated client: {done.stdout.strip()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=25)
    parser.add_argument("--quick", action="store_true", help="values at their limits only where something is there")
    parser.add_argument("--seed", type=int, help="other requests than the usual ones")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server, _ = seeded(folder)
        try:
            valid(json.loads(server.request("GET", "/openapi.json")[2]))
            generated(server, folder)
            server.wait()
            tested(folder, options)
        except Violation as violation:
            sys.exit(f"FAILED: {violation}\n{server.tail()}")
        finally:
            server.stop()


main()

# SPDX-License-Identifier: Apache-2.0
"""Clients that public generators make from a server's OpenAPI document, as docs/host-application.md says."""

import subprocess
import sys
from pathlib import Path

TOOLS = Path(sys.executable).parent
GENERATED = Path(__file__).resolve().parent.parent.parent / "Samples" / "first-hour" / "generated"


class Faulty(Exception):
    """What a generator has to say about the document."""


def ran(command, folder):
    done = subprocess.run([TOOLS / command[0], *command[1:]], cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        raise Faulty(f"{command[0]} failed:\n{said[-20000:]}")
    return said


def python_client(document, folder):
    """Writes a package `kalends_client` into the folder."""
    (Path(folder) / "openapi.json").write_bytes(document)
    said = ran([
        "openapi-python-client", "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "kalends_client",
        "--overwrite", "--config", GENERATED / "python.json"], folder)
    if "WARNING" in said:
        raise Faulty(f"openapi-python-client leaves something out:\n{said}")


def typescript_client(document, folder):
    """Writes a folder `kalends-client` of ECMAScript modules into the folder. It says of every document that 3.1 is new; the
    compiler finds what is wrong."""
    (Path(folder) / "openapi.json").write_bytes(document)
    ran(["openapi-generator-cli", "generate", "--generator-name", "typescript-fetch", "--input-spec", "openapi.json", "--output",
         "kalends-client", "--config", GENERATED / "typescript.json"], folder)

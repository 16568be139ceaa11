# SPDX-License-Identifier: Apache-2.0
"""Apple's CalDAVTester and its pycalendar as Python 3 runs them: copies of two checkouts; the first is the port of
DeepDiver1975/ccs-caldavtester, and the second apple/ccs-pycalendar, which is for Python 2."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from kalends import Failure

# Patterns in the port's sources: it mixes texts with bytes, looks at one character of a header field, and at a filter once.
TESTER = [
    (r"from io import .*", "from io import StringIO"),
    (r"BytesIO\(", "StringIO("),
    (r"= response\.read\(\)", '= response.read().decode("utf-8", "surrogateescape")'),
    (r"respdata\.decode\('utf-8'\)", "respdata"),
    (r"requestData\.decode\('utf-8'\)", 'requestData.decode("utf-8", "replace")'),
    (r"hdrs = response\.msg\[([^]]+)\]", r"hdrs = response.msg.get_all(\1)"),
    (r"response\.msg\.getheaders\(", "response.msg.get_all("),
    (r'(hdrs\[0\]|propvalue|pointervalue|paramvalue|label)\.encode\("utf-8"\)', r"\1"),
    (r'\.text\.decode\("utf-8"\)', ".text"),
    (r"(?m)= filter\((.*)\)$", r"= list(filter(\1))"),
    (r"(?m)return basicauth$", 'return basicauth.decode("ascii")'),
    (r"http\.request\(method, quri, data, headers\)",
     'http.request(method, quri, data.encode("utf-8", "surrogateescape"), headers)'),
    (r'open\((.*), "r"\)', r'open(\1, "r", encoding="utf-8", errors="surrogateescape", newline="")'),
]
# Patterns that 2to3 leaves in pycalendar, by file: its own wrong imports, comparing functions, hashes of texts, and a hash
# that Python 3 takes from what has an equality of its own.
PYCALENDAR = [
    ("__init__.py", r"(?m)^from \. import (icalendar|vcard)\.(\w+)$", r"from .\1 import \2"),
    ("datetime.py", r"\n\nclass ", "\n\n\ndef cmp(one, other):\n    return (one > other) - (one < other)\n\n\nclass "),
    ("stringutils.py", r"md5\.new\(txt\)", "md5(txt.encode())"),
    ("componentbase.py", r"    def __eq__\(", "    __hash__ = object.__hash__\n\n    def __eq__("),
    ("icalendar/vfreebusy.py", r"sort\(cmp=lambda x, y: .*\)", "sort(key=lambda x: x.getPeriod().getStart())"),
    ("icalendar/componentrecur.py", r"\.sort\(self\.sort_by_dtstart\)", ".sort(key=lambda x: x.getStart())"),
]


def changed(files, edits):
    """Edits files by patterns, each of which must occur."""
    texts = {file: file.read_text() for file in files}
    for pattern, replacement in edits:
        count = 0
        for file in files:
            texts[file], times = re.subn(pattern, replacement, texts[file])
            count += times
        if count == 0:
            raise Failure(f"this checkout has no {pattern}: it is another version than this knows")
    for file, text in texts.items():
        file.write_text(text)


def ported(checkout, package, folder):
    """Copies of both in a folder: where CalDAVTester is, and the folder that holds the package pycalendar."""
    tester, calendar = folder / "caldavtester", folder / "pycalendar"
    for path in (tester, calendar):
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(checkout, tester, ignore=shutil.ignore_patterns(".git"))
    changed([*(tester / "src").glob("*.py"), *(tester / "verifiers").glob("*.py")], TESTER)
    shutil.copytree(Path(package) / "pycalendar", calendar / "pycalendar", ignore=shutil.ignore_patterns("tests"))
    done = subprocess.run([sys.executable, "-W", "ignore", "-m", "lib2to3", "--write", "--nobackups", calendar],
                          capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"2to3, which Python has up to 3.12, converts no pycalendar: {done.stderr[-500:]}")
    for file, pattern, replacement in PYCALENDAR:
        changed([calendar / "pycalendar" / file], [(pattern, replacement)])
    return tester, calendar

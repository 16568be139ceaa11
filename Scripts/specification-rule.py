# SPDX-License-Identifier: Apache-2.0
"""Holds docs/specifications.md to what is there: every file that it names, and every test by its title.

    python3 -B Scripts/specification-rule.py
"""

import re
import sys
from pathlib import Path

PAGE = Path("docs/specifications.md")
# The specification that each section is about.
SECTIONS = [
    "Apple Calendar Sync (TMR)", "TimeSense iPhone Companion", "Apple Calendar Connector (HelpEm)", "In Office Days",
]
ROW = re.compile(r"^\| “(?P<sentences>.+?)” \| (?P<where>.+?) \| (?P<shown>.+) \|$")
FILE = re.compile(r"`((?:Sources|Tests|Scripts|Samples|docs|Packaging)/[^`]+)`")
TEST = re.compile(r"`(\w+)`: “([^”]+)”")


def plain(text):
    """Text without differences of white space."""
    return " ".join(text.split())


def tests():
    """The texts of the files of tests, by their names."""
    return {path.stem: plain(path.read_text()) for path in Path("Tests").glob("**/*.swift")}


def rows():
    """Every row with its section and line; a row that is not read is a fault."""
    section, found = None, []
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and not line.startswith(("| sentence |", "| --- |")):
            found.append((number, section, ROW.match(line)))
    return found


def sentences(row):
    """A row's sentences; one row may have several."""
    return row["sentences"].split("” “")


def faults():
    known = tests()
    read = rows()
    for section in SECTIONS:
        if not any(row[1] == section for row in read):
            yield f"{PAGE}: nothing is said of {section}"
    for number, section, row in read:
        place = f"{PAGE}:{number}"
        if not row:
            yield f"{place}: this is not “sentence” | where | shown by"
            continue
        where, shown = row["where"], row["shown"]
        named = FILE.findall(where)
        for path in named + FILE.findall(shown):
            if not Path(path).exists():
                yield f"{place}: {path} is not there"
        if not named and where != "—":
            yield f"{place}: no file is named"
        if where == "—" and not shown.startswith("No place here: "):
            yield f"{place}: what has no place needs its reason"
        for name, title in TEST.findall(shown):
            if name not in known:
                yield f"{place}: there is no {name}.swift"
            elif f'"{title}"' not in known[name]:
                yield f"{place}: {name}.swift has no test “{title}”"


def main():
    found = list(faults())
    if found:
        sys.exit("What the specifications' page says is not so:\n" + "\n".join(found))
    count = sum(len(sentences(row)) for _, _, row in rows())
    print(f"specification-rule: {count} sentences in {len(rows())} rows, each with its place and what shows it")


main()

# SPDX-License-Identifier: Apache-2.0
"""Holds docs/specifications.md to what is there: every file that it names, every test by its title, and the specifications'
own words where those lie beside the project. Whatever a specification lists has to be on the page.

    python3 -B Scripts/specification-rule.py
"""

import re
import sys
from pathlib import Path

PAGE = Path("docs/specifications.md")
SEEDS = Path("../shared/seeds")
# Which specification a section is about.
SECTIONS = {
    "Apple Calendar Sync (TMR)": "tmr-apple-sync.md", "TimeSense iPhone Companion": "timesense-companion.md",
    "Apple Calendar Connector (HelpEm)": "apple-calendar-connector.md", "In Office Days": "in-office-days.md",
}
ROW = re.compile(r"^\| “(?P<sentences>.+?)” \| (?P<where>.+?) \| (?P<shown>.+) \|$")
# What a specification asks for is in its lists, tables, trees, quotations and bodies; the other lines explain.
LISTED = re.compile(r"^\s*(?:[->├│└]|\d[.)] |\| \d \||\")")
# A heading of such a list asks for nothing by itself.
HEADING = re.compile(r":(?:\*\*)?$|^\d\) \*\*[^*]+\*\*$")
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


def unsaid(seed, said):
    """What a specification lists and no row quotes, wholly or in part."""
    text, place = plain(seed.read_text()), 0
    quoted = []
    for sentence in map(plain, said):
        found = text.find(sentence)
        while found >= 0:
            quoted.append((found, found + len(sentence)))
            found = text.find(sentence, found + 1)
    for line in seed.read_text().splitlines():
        words = plain(line)
        place = text.index(words, place)
        end = place + len(words)
        if LISTED.match(line) and not HEADING.search(words) and len(words) > 3:
            if not any(first < end and last > place for first, last in quoted):
                yield words
        place = end


def faults():
    known, words = tests(), {}
    read = rows()
    for section, name in SECTIONS.items():
        seed = SEEDS / name
        if seed.is_file():
            said = [sentence for _, of, row in read if row and of == section for sentence in sentences(row)]
            yield from (f"{PAGE}: {section} has nothing of {name}'s “{line}”" for line in unsaid(seed, said))
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
        seed = SEEDS / SECTIONS.get(section, "")
        if seed.is_file():
            text = words.setdefault(seed, plain(seed.read_text()))
            for sentence in sentences(row):
                if plain(sentence) not in text:
                    yield f"{place}: {seed.name} does not say “{sentence}”"


def main():
    found = list(faults())
    if found:
        sys.exit("What the specifications' page says is not so:\n" + "\n".join(found))
    count = sum(len(sentences(row)) for _, _, row in rows())
    print(f"specification-rule: {count} sentences in {len(rows())} rows, each with its place and what shows it")


main()

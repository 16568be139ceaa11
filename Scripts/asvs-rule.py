# SPDX-License-Identifier: Apache-2.0
"""Whether docs/asvs.md says something of each requirement of levels 1 and 2 of the standard, once, and names only files,
tests and targets that there are.

usage: asvs-rule.py"""

import re
import sys
from collections import Counter
from pathlib import Path

VERDICTS = ("met", "not met", "not applicable", "the exception")
PAGE = Path("docs/asvs.md")


def standard():
    """The requirements' ids, with their levels."""
    lines = Path("Scripts/asvs-5.0.0.txt").read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def rows():
    """Ids, verdict and text of each row of the page's tables."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 3 and re.match(r"\d+\.\d+\.\d+", cells[0]):
            yield [one.strip() for one in cells[0].split(",")], cells[1], cells[2]


def names_missing(text):
    """What a row names in code style and is not there; and whether it names anything that is."""
    missing, found = [], 0
    for name in re.findall(r"`([^`]+)`", text):
        if re.fullmatch(r"(Sources|Tests|docs|Scripts|Packaging)(/[\w.+-]+)*|[A-Z]+\.md|Package\.swift", name):
            there = Path(name).exists()
        elif re.fullmatch(r"\w+Tests|DescribedAnswers\.swift", name):
            stem = name.removesuffix(".swift")
            there = any(Path("Tests").rglob(f"{stem}.swift"))
        elif name.startswith("make "):
            there = re.search(rf"^{re.escape(name[5:])}( [\w-]+)*:", Path("Makefile").read_text(), re.M) is not None
        else:
            continue
        found += 1
        if not there:
            missing.append(name)
    return missing, found


def main():
    wanted, faults, said, verdicts = standard(), [], Counter(), Counter()
    for ids, verdict, text in rows():
        said.update(ids)
        verdicts.update({verdict: len(ids)})
        missing, found = names_missing(text)
        faults += [f"{', '.join(ids)}: {name} is not there" for name in missing]
        if verdict not in VERDICTS:
            faults.append(f"{', '.join(ids)}: {verdict!r} is not one of {', '.join(VERDICTS)}")
        if verdict == "met" and not found:
            faults.append(f"{', '.join(ids)}: met, and names no file, test or target")
    faults += [f"{one}: is not on the page" for one in wanted if not said[one]]
    faults += [f"{one}: is not a requirement of levels 1 and 2" for one in said if one not in wanted]
    faults += [f"{one}: is on the page {count} times" for one, count in said.items() if count > 1]
    head = " ".join(PAGE.read_text().split("## ")[0].split())
    verb = "is" if verdicts["not met"] == 1 else "are"
    counts = f"{verdicts['met']} are met, {verdicts['not applicable']} do not apply, {verdicts['not met']} {verb} not met"
    if counts not in head:
        faults.append(f"its beginning does not say that {counts}")
    for fault in faults:
        print(f"{PAGE}: {fault}")
    if faults:
        sys.exit(1)
    print(f"asvs-rule: {len(wanted)} requirements, " + ", ".join(f"{verdicts[one]} {one}" for one in VERDICTS))


if __name__ == "__main__":
    main()

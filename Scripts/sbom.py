# SPDX-License-Identifier: Apache-2.0
"""Lists the parts of a program, as SPDX 2.3 in JSON: its Swift packages, Swift, and the libraries that are loaded for it.

    python3 -B Scripts/sbom.py PROGRAM FILE [--resolved Package.resolved] [--checkouts .build-release/checkouts]

SOURCE_DATE_EPOCH is the time of its making: the same program on the same system gives the same bytes. Before the file is
written, the fields that SPDX requires are checked.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Nobody but us has this name; an address that leads somewhere is not asked for.
NAMESPACE = "https://kalends.invalid/spdx"
SWIFT_LICENSE = "Apache-2.0 WITH Swift-exception"


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def reference(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def license_of(folder):
    """Returns the SPDX expression of a checkout's license, as far as its text is one that is known here."""
    for path in sorted(folder.glob("LICENSE*")):
        text = " ".join(path.read_text(errors="replace").split())
        if "Apache License Version 2.0" in text:
            return SWIFT_LICENSE if "Runtime Library Exception" in text else "Apache-2.0"
        if "Permission is hereby granted, free of charge" in text and "THE SOFTWARE IS PROVIDED" in text.upper():
            return "MIT"
    return "NOASSERTION"


def package(kind, name, version, location, license="NOASSERTION", purl="", **more):
    made = {
        "SPDXID": reference(kind, name), "name": name, "versionInfo": version, "downloadLocation": location,
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": license,
        "copyrightText": "NOASSERTION", **more}
    if purl:
        made["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return made


def swift_packages(resolved, checkouts):
    """The packages that the sources name, and those that these bring along."""
    for pin in json.loads(resolved.read_text())["pins"]:
        place, state = pin["location"].removesuffix(".git"), pin["state"]
        name, version = place.rsplit("/", 1)[1], state.get("version") or state["revision"]
        yield package(
            "Swift", name, version, f"git+{place}.git@{state['revision']}", license_of(checkouts / name),
            "pkg:swift/" + place.split("://", 1)[1] + "@" + version, sourceInfo=f"revision {state['revision']}")


def owner(path):
    """Returns the Debian package of a file, or nothing; since /lib is a link, the package may name another path."""
    real = str(Path(path).resolve())
    for name in (path, real, real.removeprefix("/usr"), "/usr" + path):
        found = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0].split(",")[0]
    return None


def system_packages(program):
    """The Debian packages of the libraries that are loaded, each with its libraries."""
    libraries = {}
    for line in said("ldd", str(program)).splitlines():
        if path := re.search(r"(?:=> |^\s*)(/\S+) \(", line):
            libraries.setdefault(owner(path[1]) or "", []).append(Path(path[1]).name)
    if unknown := libraries.pop("", []):
        sys.exit(f"sbom: no Debian package has {', '.join(unknown)}")
    distribution = re.search(r'^ID="?(\w+)', Path("/etc/os-release").read_text(), re.M)[1]
    for name, files in sorted(libraries.items()):
        fields = said("dpkg-query", "--show", "--showformat=${Package}\t${Version}\t${Architecture}", name).split("\t")
        yield package(
            "System", fields[0], fields[1], "NOASSERTION", purl="pkg:deb/{}/{}@{}?arch={}".format(
                distribution, fields[0], fields[1].replace(":", "%3A").replace("+", "%2B"), fields[2]),
            sourceInfo="libraries: " + ", ".join(sorted(files)))


def document(program, resolved, checkouts):
    version = said(str(program), "--version").strip()
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    time = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)
    own = package("Program", "kalends", version, "NOASSERTION", "Apache-2.0", primaryPackagePurpose="APPLICATION",
                  checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
    swift = package("Toolchain", "swift", (ROOT / ".swift-version").read_text().strip(), "https://www.swift.org/install/",
                    SWIFT_LICENSE, sourceInfo="its libraries are part of the program")
    parts = [*swift_packages(resolved, checkouts), swift, *system_packages(program)]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"kalends-{version}",
        "documentNamespace": f"{NAMESPACE}/kalends-{version}-{digest[:32]}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: Scripts/sbom.py"]},
        "packages": [own, *parts],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
            *({"spdxElementId": own["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": part["SPDXID"]}
              for part in parts)]}


def faults(made):
    """What SPDX 2.3 requires of a document, of its packages and of their relationships, and is not so."""
    for name in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
        if not made.get(name):
            yield f"the document has no {name}"
    ids = [part.get("SPDXID", "") for part in made["packages"]] + [made.get("SPDXID")]
    yield from (f"{one} stands twice" for one in set(ids) if ids.count(one) > 1)
    for part in made["packages"]:
        if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", part.get("SPDXID", "")):
            yield f"{part.get('name')} has the id {part.get('SPDXID')}"
        for name in ("name", "versionInfo", "downloadLocation", "licenseDeclared"):
            if not part.get(name):
                yield f"{part.get('SPDXID')} has no {name}"
        if part.get("filesAnalyzed") is not False:
            yield f"{part.get('SPDXID')} says that its files were analyzed"
    for one in made["relationships"]:
        yield from (f"{end} is related and not there" for end in (one["spdxElementId"], one["relatedSpdxElement"])
                    if end not in ids)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--resolved", type=Path, default=ROOT / "Package.resolved")
    parser.add_argument("--checkouts", type=Path, default=ROOT / ".build-release/checkouts")
    options = parser.parse_args()
    if not options.resolved.exists():
        sys.exit(f"sbom: {options.resolved} is not there; a build writes it")
    made = document(options.program.resolve(), options.resolved, options.checkouts)
    if found := list(faults(made)):
        sys.exit("sbom: " + "\n".join(found))
    options.file.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n")
    unknown = [part["name"] for part in made["packages"] if part["SPDXID"].startswith("SPDXRef-Swift")
               and part["licenseDeclared"] == "NOASSERTION"]
    unread = f"; no license is read of {', '.join(unknown)}" if unknown else ""
    print(f"sbom: {len(made['packages']) - 1} packages{unread}")


main()

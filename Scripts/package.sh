#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian package: Scripts/package.sh PROGRAM FOLDER [VERSION]
# PROGRAM needs nothing of Swift on the machine that it runs on; all else in the package is made by it or lies in
# Packaging. VERSION is that of the program unless it is given.
set -euo pipefail

program=$(readlink -f "$1")
mkdir -p "$2"
out=$(readlink -f "$2")
version=${3:-$("$program" --version)}
root=$(cd "$(dirname "$0")/.." && pwd)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

if ldd "$program" | grep -q libswift; then
    echo "$program needs Swift's libraries; make package builds one that does not." >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strip -o "$work/stripped" "$program"
if [ "$(stat --format %s "$work/stripped")" -ge 100000000 ]; then
    echo "$program has 100 MB and more without symbols; see CEmptyICU, and docs/dependencies.md." >&2
    exit 1
fi
# The program's own answers go into the package: they must not depend on who makes it.
while read -r name; do unset "$name"; done < <(compgen -e | grep '^KALENDS_' || true)

source=$work/kalends
stage=$source/stage
mkdir -p "$source" "$stage"/{bin,sbin,bash,zsh,fish,man,doc,monitoring}
cp -r "$root/Packaging/debian" "$source/debian"
install -m 0755 "$program" "$stage/bin/kalends"
install -m 0755 "$root/Packaging/kalends-admin" "$stage/sbin/kalends-admin"
"$program" settings --template --database /var/lib/kalends/kalends.sqlite > "$stage/kalends.conf"
# Completions are read by the shell, not run: the first line would name a program.
"$program" --generate-completion-script bash | sed '1{/^#!/d}' > "$stage/bash/kalends"
"$program" --generate-completion-script zsh > "$stage/zsh/_kalends"
"$program" --generate-completion-script fish > "$stage/fish/kalends.fish"
python3 -B "$root/Packaging/manual.py" "$program" "$stage/man"
cp "$root/Packaging/kalends-admin.8" "$stage/man/"
# The pages lie as in the sources, so that their links lead to each other.
cp -r "$root"/{README,SECURITY,CONTRIBUTING}.md "$root/docs" "$stage/doc/"
mkdir -p "$stage/doc/Samples"
cp -r "$root"/Samples/{first-hour,exports} "$stage/doc/Samples/"
# Under its own name, as under "changes", it would be put in the place of the package's changelog.
cp "$root/CHANGELOG.md" "$stage/doc/release-notes.md"
find "$stage/doc" -name '*.md' -exec sed -i 's|CHANGELOG\.md)|release-notes.md)|g' {} +
cp -r "$root/Packaging/prometheus" "$root/Packaging/grafana" "$stage/monitoring/"

{
    echo "kalends ($version) unstable; urgency=medium"
    echo
    echo "  * See /usr/share/doc/kalends/release-notes.md."
    echo
    echo " -- The Kalends maintainers <maintainers@kalends.invalid>  $(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")"
} > "$source/debian/changelog"

if ! (cd "$source" && dpkg-buildpackage --build=binary --no-sign > "$work/log" 2>&1); then
    cat "$work/log" >&2
    exit 1
fi
cp "$work/kalends_${version}"_*.deb "$out/"
ls "$out/kalends_${version}"_*.deb

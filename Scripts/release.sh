#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes everything of a release: Scripts/release.sh PROGRAM FOLDER
# The Debian package, a tarball, the container's image, the list of the program's parts, and the sums of these; then
# it installs the package in a bare Debian. SKIP_INSTALL=1 leaves that out, SKIP_IMAGE=1 the image. BEFORE=OLD.deb is the
# package that is upgraded there. RESOLVED and CHECKOUTS are other places of Package.resolved and of the packages' sources.
set -euo pipefail

program=$(readlink -f "$1")
mkdir -p "$2"
out=$(readlink -f "$2")
root=$(cd "$(dirname "$0")/.." && pwd)
version=$("$program" --version)
arch=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "release: $*" >&2
    exit 1
}

# What is missing is said before anything is made.
ready_to_install() {
    [ "$(id -u)" -eq 0 ] || fail "the package is installed in a bare Debian by root only; SKIP_INSTALL=1 leaves that out"
    local tool
    for tool in debootstrap systemd-nspawn nsenter; do
        command -v "$tool" > /dev/null || fail "$tool is not there (apt-get install debootstrap systemd-container)," \
            "and the package is installed in a bare Debian by it; SKIP_INSTALL=1 leaves that out"
    done
    # A root that an earlier run made needs the network too, for the libraries that the package depends on.
    python3 -c "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=20)" \
        http://deb.debian.org/debian/dists/bookworm/Release 2> /dev/null ||
        fail "deb.debian.org is not reached, and a bare Debian is made of it; SKIP_INSTALL=1 leaves that out"
}

# The package's files without what belongs to systemd and to an installation in /usr.
tarball() {
    local name=kalends-$version-linux-$arch
    local from=$work/package to=$work/$name
    dpkg-deb --extract "$deb" "$from"
    mkdir -p "$to/bin" "$to/share/man"
    cp "$from/usr/bin/kalends" "$to/bin/"
    cp -r "$from/usr/share/man/." "$to/share/man/"
    rm -r "$to/share/man/man8"
    cp -r "$from"/usr/share/{bash-completion,zsh,fish} "$to/share/"
    cp -r "$root/Packaging/prometheus" "$root/Packaging/grafana" "$to/share/"
    cp -r "$root"/{LICENSE,README.md,CHANGELOG.md,CONTRIBUTING.md,SECURITY.md,docs} "$to/"
    mkdir -p "$to/Samples"
    cp -r "$root"/Samples/{first-hour,exports} "$to/Samples/"
    env -i "$to/bin/kalends" settings --template > "$to/kalends.conf"
    tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' \
        --mtime="@$SOURCE_DATE_EPOCH" --format=gnu "$name" | gzip --no-name --best > "$out/$name.tar.gz"
    made+=("$name.tar.gz")
}

# The last stage of the Containerfile, with the program in the place of the stage that builds it.
image() {
    local tool="" one file=kalends-$version-image-$arch.tar
    for one in podman docker; do
        if [ -z "$tool" ] && "$one" info > "$work/$one.log" 2>&1; then tool=$one; fi
    done
    if [ -n "${SKIP_IMAGE:-}" ] || [ -z "$tool" ]; then
        echo "release: the container's image was left out: neither podman nor docker works here, or SKIP_IMAGE is set" >&2
        return
    fi
    mkdir -p "$work/build/program"
    cp "$work/package/usr/bin/kalends" "$work/build/program/kalends"
    local build=("$tool" build)
    [ "$tool" = podman ] || build=(docker buildx build --load)
    "${build[@]}" --build-context "build=$work/build" --file "$root/Packaging/container/Containerfile" \
        --tag "kalends:$version" --tag kalends:latest ${BASE:+--build-arg "BASE=$BASE"} "$root" > "$work/image.log" 2>&1 || {
        cat "$work/image.log" >&2
        fail "$tool does not build the container's image; SKIP_IMAGE=1 leaves it out"
    }
    # Podman adds to a file that is there.
    rm -f "$out/$file"
    "$tool" save --output "$out/$file" "kalends:$version" kalends:latest
    made+=("$file")
}

document=$root/Tests/API/released-openapi.json
python3 -B "$root/Tests/API/compatible.py" --keep "$work/openapi.json" "$program" > /dev/null
cmp --silent "$work/openapi.json" "$document" || fail "$document is not what the program says:" \
    "python3 -B Tests/API/compatible.py --keep $document $program puts this version's in its place"
grep -q "^## $version " "$root/CHANGELOG.md" || fail "CHANGELOG.md has no section for $version"
! grep -q "^## $version (Unreleased)" "$root/CHANGELOG.md" || echo "release: CHANGELOG.md has no date for $version" >&2
[ -n "${SKIP_INSTALL:-}" ] || ready_to_install

"$root/Scripts/package.sh" "$program" "$out"
deb=$out/kalends_${version}_$arch.deb
made=("${deb##*/}")
tarball
image
sbom=kalends-$version-$arch.spdx.json
python3 -B "$root/Scripts/sbom.py" "$program" "$out/$sbom" ${RESOLVED:+--resolved "$RESOLVED"} \
    ${CHECKOUTS:+--checkouts "$CHECKOUTS"}
made+=("$sbom")
(cd "$out" && sha256sum "${made[@]}" | tee SHA256SUMS)

if [ -n "${SKIP_INSTALL:-}" ]; then
    echo "release: the package was installed nowhere, as SKIP_INSTALL is set" >&2
    exit 0
fi
before=${BEFORE:-}
if [ -z "$before" ]; then
    "$root/Scripts/package.sh" "$program" "$work/before" "$version~before"
    before=$work/before/kalends_$version~before_$arch.deb
fi
cd "$root"
python3 -B Tests/Packages/package.py "$before" "$deb"

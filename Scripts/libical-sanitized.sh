#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the libical of this machine's Debian again, from its own source, under the sanitizers of addresses and of undefined
# behaviour.
#
#   libical-sanitized.sh FOLDER
#
# FOLDER/lib has the library afterwards; a program that was linked with an address sanitizer of the same compiler takes it
# with LD_LIBRARY_PATH. Ends with 69 where the source cannot be had, and changes nothing of the machine's list of sources.
set -euo pipefail

folder=${1:?"libical-sanitized.sh FOLDER"}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
version=$(dpkg-query --show --showformat '${source:Upstream-Version}' libical3 2> /dev/null || true)
if [ -z "$version" ]; then echo "This machine has no package libical3 whose source could be had." >&2 && exit 69; fi
if [ -e "$folder/$version" ]; then exit 0; fi

compiler=${CLANG:-$(dirname "$(readlink -f "$(command -v "${SWIFTC:-swiftc}")")")/clang}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The machine's own sources, asked for source packages in lists of their own.
mkdir -p "$work/lists/partial" "$work/parts"
for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    [ -e "$list" ] || continue
    sed -e 's/^Types: deb$/Types: deb-src/' -e 's/^deb /deb-src /' "$list" > "$work/parts/$(basename "$list" .sources).${list##*.}"
done
options=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts" -o "Dir::State::Lists=$work/lists"
    -o APT::Sandbox::User=root)
if ! (cd "$work" && apt-get update "${options[@]}" && apt-get source "${options[@]}" --download-only --tar-only libical3) \
    > "$work/log" 2>&1; then
    tail -2 "$work/log" >&2
    echo "The source of libical cannot be had here." >&2
    exit 69
fi
mkdir "$work/source"
tar --extract --file "$(ls "$work"/*.orig.tar.*)" --directory "$work/source" --strip-components 1

# libical calls functions through pointers of other types when it frees lists, which does no harm.
flags="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=function"
{
    cmake -S "$work/source" -B "$work/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags" \
        -DCMAKE_BUILD_TYPE=None -DSTATIC_ONLY=off -DSHARED_ONLY=on -DWITH_CXX_BINDINGS=off -DICAL_GLIB=off \
        -DICAL_BUILD_DOCS=off -DLIBICAL_BUILD_TESTING=off &&
        cmake --build "$work/build" --target ical --parallel 2
} > "$folder/build.log" 2>&1 || { tail -20 "$folder/build.log" >&2; exit 1; }
mkdir -p "$folder/lib"
cp --no-dereference "$work"/build/lib/libical.so* "$folder/lib/"
touch "$folder/$version"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the named Debian packages that are missing; asks for nothing when none is.
set -eu

missing=""
for name in "$@"; do
    case "$(dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null || true)" in
    installed) ;;
    *) missing="$missing $name" ;;
    esac
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "These packages are needed, by their Debian names:$missing" >&2
    exit 1
fi
root=""
if [ "$(id -u)" -ne 0 ]; then
    root="sudo"
    command -v sudo >/dev/null 2>&1 || { echo "Install as root:$missing" >&2; exit 1; }
fi
echo "Installing:$missing" >&2
# PostgreSQL's package would start a server of its own; the tests run theirs (Scripts/postgresql.sh).
case " $missing " in
*" postgresql"*)
    if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
        $root mkdir -p /etc/postgresql-common
        echo "create_main_cluster = false" | $root tee /etc/postgresql-common/createcluster.conf >/dev/null
    fi
    ;;
esac
# The lists may be old or absent on a fresh machine.
$root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing >/dev/null

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command, such as the tests, with a PostgreSQL of its own, which is removed when the command ends:
#     Scripts/postgresql.sh COMMAND...
# The command finds the address in KALENDS_TEST_POSTGRESQL. The server listens on a socket in a folder of its own, never on
# the network, and its files are in memory where the system has a place for that. A server refuses the variable as a
# setting that it does not know, and so takes the address in another way:
#     Scripts/postgresql.sh sh -c \
#         'exec env -u KALENDS_TEST_POSTGRESQL kalends serve --database "$KALENDS_TEST_POSTGRESQL"'
set -eu

programs=""
for folder in /usr/lib/postgresql/*/bin; do
    [ -x "$folder/initdb" ] && programs=$folder
done
if [ -z "$programs" ]; then
    echo "There is no PostgreSQL here (Debian: apt-get install postgresql): its tests are left out." >&2
    exec "$@"
fi

place=${TMPDIR:-/tmp}
# Hundreds of databases of tests take some GiB at most; a container's memory may have room for none.
if [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -gt 4194304 ]; then place=/dev/shm; fi
home=$(mktemp -d "$place/kalends-postgresql.XXXXXX")
# The server refuses to run as root.
as=""
if [ "$(id -u)" -eq 0 ]; then
    chown postgres "$home"
    as="runuser -u postgres --"
fi
stop() {
    (cd / && $as "$programs/pg_ctl" stop --pgdata="$home/data" --mode=immediate --silent) >/dev/null 2>&1 || true
    rm -rf "$home"
}
trap stop EXIT
trap 'exit 130' INT TERM

cd_back=$(pwd)
cd /
$as "$programs/initdb" --pgdata="$home/data" --username=kalends --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
cat >>"$home/data/postgresql.conf" <<SETTINGS
listen_addresses = ''
unix_socket_directories = '$home'
unix_socket_permissions = 0777
max_connections = 400
shared_buffers = 256MB
SETTINGS
$as "$programs/pg_ctl" start --pgdata="$home/data" --log="$home/log" --silent --wait >/dev/null
chmod 755 "$home"
cd "$cd_back"
KALENDS_TEST_POSTGRESQL="host=$home user=kalends dbname=postgres"
export KALENDS_TEST_POSTGRESQL
"$@"

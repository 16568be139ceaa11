#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the server with the demo, and tells what to do next with a command of its own: a secret address is never in the
# server's output.
set -u

kalends=.build/debug/kalends
"$kalends" serve --demo --port "$1" --log-level notice &
server=$!
"$kalends" welcome --wait 60 &
welcome=$!
trap 'kill -TERM "$server" 2>/dev/null' INT TERM

# Whichever ends first: a server that cannot start has told why, and nothing is to be waited for.
wait -n "$server" "$welcome"
if ! kill -0 "$server" 2>/dev/null; then
    kill "$welcome" 2>/dev/null
fi
# A signal interrupts wait; the server is then stopping, and its end is waited for.
while kill -0 "$server" 2>/dev/null; do
    wait "$server"
done
wait "$server"

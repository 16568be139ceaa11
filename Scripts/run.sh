#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the server with the demo, and tells what to do next with a command of its own: a secret address is never in the
# server's output.
set -eu

kalends=.build/release/kalends
"$kalends" serve --demo --port "$1" --log-level notice &
server=$!
trap 'kill -TERM "$server" 2>/dev/null || true' INT TERM
"$kalends" welcome --wait 60 || { kill -TERM "$server" 2>/dev/null || true; }
# wait returns early when a signal arrives; the second one waits for the graceful stop.
wait "$server" || true
wait "$server" 2>/dev/null || true

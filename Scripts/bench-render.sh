#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the server itself takes to make a feed from the database: all of it after a start, and after one change, by its
# own metrics, which count reading, rendering and joining but not the network.
set -eu

kalends=${PROGRAM:-.build-release/release/kalends}
events=${EVENTS:-10000}
changes=${CHANGES:-20}
work=$(mktemp -d)
cleanup() {
    [ -n "${server:-}" ] && kill -TERM "$server" 2>/dev/null && wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
port=18090
metrics=18091
start() {
    "$kalends" serve --database "$work/k.sqlite" --port $port --metrics-port $metrics --log-level error &
    server=$!
    curl -sf --retry 100 --retry-delay 0 --retry-connrefused -o /dev/null "http://127.0.0.1:$port/healthz"
}
spent() {
    curl -sf --retry 20 --retry-delay 0 --retry-connrefused "http://127.0.0.1:$metrics/metrics" |
        awk -v from="$1" '$1 == "kalends_feed_rendering_seconds_total{from=\"" from "\"}" { s = $2 }
            $1 == "kalends_feed_renderings_total{from=\"" from "\"}" { n = $2 } END { if (n) printf "%.3f", s * 1000 / n }'
}
start
key=$("$kalends" key create --name bench --database "$work/k.sqlite")
auth="Authorization: Bearer $key"
json="Content-Type: application/json"
api="http://127.0.0.1:$port/v1/circles/bench"
curl -sf -o /dev/null -X PUT -H "$auth" -H "$json" -d '{"name":"Bench","timeZone":"Europe/Berlin"}' "$api"
curl -sf -o /dev/null -X PUT -H "$auth" -H "$json" -d '{"displayName":"Ann","role":"owner"}' "$api/members/ann"
now=$(date -u +%s)
awk -v n="$events" -v now="$now" 'BEGIN { for (i = 0; i < n; i++) {
    t = strftime("%Y-%m-%dT%H:%M:00Z", now + (i * 3000) % (300 * 86400), 1)
    printf "{\"op\":\"put\",\"collection\":\"tasks\",\"id\":\"task-%d\",\"value\":{\"title\":\"Give medicine number %d, with food\",\"dueAt\":\"%s\",\"reminders\":[15],\"notes\":\"One tablet after breakfast; call if it is refused.\"}}\n", i, i, t } }' \
    > "$work/batch.ndjson"
curl -sf -o /dev/null -X POST -H "$auth" -H "Content-Type: application/x-ndjson" --data-binary @"$work/batch.ndjson" "$api/batch"
url=$(curl -sf -X POST -H "$auth" -H "$json" -d '{"userId":"ann"}' "$api/feeds" | sed 's/.*"url":"\([^"]*\)".*/\1/' | sed 's/localhost/127.0.0.1/')
printf '%s events in the database; milliseconds a rendering:\n%-8s %10s %12s %8s\n' "$events" round whole "one change" ratio
for round in 1 2 3; do
    kill -TERM "$server" && wait "$server" 2>/dev/null || true
    start
    curl -sf -o /dev/null "$url"
    for i in $(seq "$changes"); do
        curl -sf -o /dev/null -X PUT -H "$auth" -H "$json" \
            -d "{\"title\":\"Changed $round $i\",\"dueAt\":\"$(date -u +%Y-%m-%dT%H:%M:00Z)\"}" "$api/tasks/task-$((i * 37))"
        curl -sf -o /dev/null "$url"
    done
    whole=$(spent whole)
    change=$(spent changes)
    printf '%-8s %10s %12s %8s\n' "$round" "$whole" "$change" "$(echo "$whole / $change" | bc -l | cut -c1-6)"
done

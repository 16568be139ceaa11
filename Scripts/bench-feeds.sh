#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests a second for a feed of 200 events: an unchanged poll (304) and a full read (200), every access counted
# durably, in turn with nginx that serves the same bytes uncounted.
set -eu

kalends=.build/release/kalends
work=$(mktemp -d)
port=18080
nginx_port=18081
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-5}
cleanup() {
    [ -f "$work/nginx.pid" ] && kill "$(cat "$work/nginx.pid")" 2>/dev/null || true
    [ -n "${server:-}" ] && kill -TERM "$server" 2>/dev/null && wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

"$kalends" serve --database "$work/k.sqlite" --port $port --log-level warning &
server=$!
curl -sf --retry 100 --retry-delay 0 --retry-connrefused -o /dev/null "http://127.0.0.1:$port/healthz"
key=$("$kalends" key create --name bench --database "$work/k.sqlite")
api="http://127.0.0.1:$port/v1/circles/bench"
auth="Authorization: Bearer $key"
json="Content-Type: application/json"
curl -sf -o /dev/null -X PUT -H "$auth" -H "$json" -d '{"name":"Bench","timeZone":"Europe/Berlin"}' "$api"
curl -sf -o /dev/null -X PUT -H "$auth" -H "$json" -d '{"displayName":"Ann","role":"owner"}' "$api/members/ann"
day=$(date -u +%Y-%m-%d)
for i in $(seq 200); do
    printf '{"op":"put","collection":"tasks","id":"task-%s","value":{"title":"Give medicine number %s, with food","dueAt":"%sT%02d:%02d:00Z","reminders":[15],"notes":"One tablet after breakfast; call if it is refused."}}\n' \
        "$i" "$i" "$day" $((i % 24)) $((i % 60))
done > "$work/batch.ndjson"
curl -sf -o /dev/null -X POST -H "$auth" -H "Content-Type: application/x-ndjson" --data-binary @"$work/batch.ndjson" "$api/batch"
url=$(curl -sf -X POST -H "$auth" -H "$json" -d '{"userId":"ann"}' "$api/feeds" | sed 's/.*"url":"\([^"]*\)".*/\1/' | sed 's/localhost/127.0.0.1/')
sleep 1.1
mkdir -p "$work/www"
curl -sf "$url" -o "$work/www/feed.ics" -D "$work/head"
etag=$(sed -n 's/^[Ee][Tt]ag: \(.*\)\r$/\1/p' "$work/head")

cat > "$work/nginx.conf" <<CONF
pid $work/nginx.pid;
error_log $work/nginx.log;
worker_processes 2;
events { worker_connections 1024; }
http {
    access_log off;
    keepalive_requests 1000000000;
    types { text/calendar ics; }
    server { listen 127.0.0.1:$nginx_port; root $work/www; }
}
CONF
nginx -c "$work/nginx.conf" -p "$work" 2>/dev/null
nginx_etag=$(curl -sI "http://127.0.0.1:$nginx_port/feed.ics" | sed -n 's/^[Ee][Tt]ag: \(.*\)\r$/\1/p')

measure() { wrk -t1 -c32 -d"${seconds}s" "$@" | sed -n 's/^Requests\/sec: *//p'; }
echo "$(wc -c < "$work/www/feed.ics") bytes, 200 events, wrk with 32 connections, $seconds s each, requests a second:"
printf '%-8s %12s %12s %8s %12s %12s %8s\n' round kalends-304 nginx-304 ratio kalends-200 nginx-200 ratio
for round in $(seq "$rounds"); do
    a=$(measure -H "If-None-Match: $etag" "$url")
    b=$(measure -H "If-None-Match: $nginx_etag" "http://127.0.0.1:$nginx_port/feed.ics")
    c=$(measure "$url")
    d=$(measure "http://127.0.0.1:$nginx_port/feed.ics")
    printf '%-8s %12.0f %12.0f %8.3f %12.0f %12.0f %8.3f\n' "$round" "$a" "$b" "$(echo "$a / $b" | bc -l)" "$c" "$d" "$(echo "$c / $d" | bc -l)"
done

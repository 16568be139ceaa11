#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests a second for a feed of 200 events: an unchanged poll (304) and a full read (200), every access counted
# durably, in turn with others that serve the same bytes uncounted: a bare Hummingbird route, nginx with two workers,
# and Radicale, which publishes the same events.
#
# ROUNDS (3) and SECONDS_EACH (5) say how long. Each round is printed, and the median of the rounds at the end, with the
# least and the most of the ratios to the others in the same round. KALENDS_ACCESS_DURABILITY is the server's setting.
set -eu

kalends=${PROGRAM:-.build-release/release/kalends}
bench=${BENCH:-.build-release/release/kalends-bench}
work=$(mktemp -d)
# nginx started by root reads as another user.
chmod 711 "$work"
port=18080
nginx_port=18081
bare_port=18082
radicale_port=18083
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-5}
cleanup() {
    [ -f "$work/nginx.pid" ] && kill "$(cat "$work/nginx.pid")" 2>/dev/null || true
    for process in ${server:-} ${bare:-} ${radicale:-}; do
        kill -TERM "$process" 2>/dev/null && wait "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap cleanup EXIT

wait_for() { curl -sf --retry 100 --retry-delay 0 --retry-connrefused -o /dev/null "$1"; }
etag_of() { curl -s -o /dev/null -D - "$1" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: \(.*\)$/\1/p'; }

# At the default settings but for the durability, with a line of the log for each request; nginx writes one too.
"$kalends" serve --database "$work/k.sqlite" --port $port 2> "$work/kalends.log" &
server=$!
wait_for "http://127.0.0.1:$port/healthz"
key=$("$kalends" key create --name bench --database "$work/k.sqlite")
api="http://127.0.0.1:$port/v1/circles/bench"
auth="Authorization: Bearer $key"
json="Content-Type: application/json"
curl -sf -o /dev/null -X PUT -H "$auth" -H "$json" -d '{"name":"Bench","timeZone":"Europe/Berlin"}' "$api"
curl -sf -o /dev/null -X PUT -H "$auth" -H "$json" -d '{"displayName":"Ann","role":"owner"}' "$api/members/ann"
day=$(date -u +%Y-%m-%d)
for i in $(seq 200); do
    printf '{"op":"put","collection":"tasks","id":"task-%s","value":{"title":"Give medicine number %s, with food","dueAt":"%sT%02d:%02d:00Z","notes":"Call if it is refused."}}\n' \
        "$i" "$i" "$day" $((i % 24)) $((i % 60))
done > "$work/batch.ndjson"
curl -sf -o /dev/null -X POST -H "$auth" -H "Content-Type: application/x-ndjson" --data-binary @"$work/batch.ndjson" "$api/batch"
url=$(curl -sf -X POST -H "$auth" -H "$json" -d '{"userId":"ann"}' "$api/feeds" | sed 's/.*"url":"\([^"]*\)".*/\1/' | sed 's/localhost/127.0.0.1/')
# Past the second of the last change, so that the validators stay as they are.
sleep 1.1
mkdir -p "$work/www" "$work/radicale"
chmod 755 "$work/www"
curl -sf "$url" -o "$work/www/feed.ics"
chmod 644 "$work/www/feed.ics"

cat > "$work/nginx.conf" <<CONF
pid $work/nginx.pid;
error_log $work/nginx.log;
worker_processes 2;
events { worker_connections 1024; }
http {
    access_log $work/access.log combined buffer=64k flush=1s;
    keepalive_requests 1000000000;
    types { text/calendar ics; }
    server { listen 127.0.0.1:$nginx_port; root $work/www; }
}
CONF
nginx -c "$work/nginx.conf" -p "$work" 2>/dev/null
"$bench" bare --port $bare_port --file "$work/www/feed.ics" &
bare=$!
"${RADICALE:-radicale}" --server-hosts "127.0.0.1:$radicale_port" --auth-type none --rights-type authenticated \
    --storage-filesystem-folder "$work/radicale" --logging-level error 2>/dev/null &
radicale=$!
wait_for "http://127.0.0.1:$bare_port/feed.ics"
sleep 2
# Radicale takes the whole calendar as a collection of its own.
radicale_url="http://127.0.0.1:$radicale_port/ann/feed/"
sed '/^METHOD/d' "$work/www/feed.ics" |
    curl -sf -o /dev/null -u ann:x -X PUT -H 'Content-Type: text/calendar' --data-binary @- "$radicale_url"
basic="Authorization: Basic $(printf 'ann:x' | base64)"

nginx_url="http://127.0.0.1:$nginx_port/feed.ics"
bare_url="http://127.0.0.1:$bare_port/feed.ics"
etag=$(etag_of "$url")
nginx_etag=$(etag_of "$nginx_url")
bare_etag=$(etag_of "$bare_url")
radicale_etag=$(curl -s -o /dev/null -D - -H "$basic" "$radicale_url" | tr -d '\r' | sed -n 's/^ETag: \(.*\)$/\1/p')

# The processor time of a process and its children, in seconds.
ticks=$(getconf CLK_TCK)
cpu() {
    total=0
    for process in "$@"; do
        [ -r "/proc/$process/stat" ] || continue
        # The name in parentheses may hold spaces: what follows it is counted.
        set -- $(sed 's/.*) //' "/proc/$process/stat")
        total=$((total + ${12} + ${13}))
    done
    echo "$total"
}
# measure NAME ANSWER PROCESSES WRK-ARGUMENTS…: appends "requests-a-second microseconds-of-processor-each" to
# $work/NAME-ANSWER, and prints it.
measure() {
    name=$1
    answer=$2
    processes=$3
    shift 3
    before=$(cpu $processes)
    wrk -t1 -c32 -d"${seconds}s" "$@" > "$work/wrk"
    after=$(cpu $processes)
    if grep -q 'Non-2xx' "$work/wrk"; then
        echo "$name: $(grep 'Non-2xx' "$work/wrk")" >&2
        exit 1
    fi
    requests=$(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' "$work/wrk")
    rate=$(sed -n 's/^Requests\/sec: *//p' "$work/wrk")
    each=$(echo "scale=2; ($after - $before) * 1000000 / $ticks / $requests" | bc)
    echo "$rate $each" >> "$work/$name-$answer"
    printf '%-6s %-10s %6s %14.0f %12.1f\n' "$round" "$name" "$answer" "$rate" "$each"
}
workers=$(pgrep -P "$(cat "$work/nginx.pid")" | tr '\n' ' ')
echo "$(wc -c < "$work/www/feed.ics") bytes, 200 events, wrk with 32 connections, $rounds rounds of $seconds s, in turn"
echo "accessDurability=${KALENDS_ACCESS_DURABILITY:-power}"
printf '%-6s %-10s %6s %14s %12s\n' round server answer requests/s 'CPU µs each'
for round in $(seq "$rounds"); do
    measure kalends 304 "$server" -H "If-None-Match: $etag" "$url"
    measure bare 304 "$bare" -H "If-None-Match: $bare_etag" "$bare_url"
    measure nginx 304 "$workers" -H "If-None-Match: $nginx_etag" "$nginx_url"
    measure kalends 200 "$server" "$url"
    measure bare 200 "$bare" "$bare_url"
    measure nginx 200 "$workers" "$nginx_url"
    # Radicale takes a second for what the others do thousands of: one round is enough, of 5 s and more.
    if [ "$round" = 1 ]; then
        usual=$seconds
        seconds=$((usual < 5 ? 5 : usual))
        measure radicale 304 "$radicale" --timeout 60s -H "$basic" -H "If-None-Match: $radicale_etag" "$radicale_url"
        measure radicale 200 "$radicale" --timeout 60s -H "$basic" "$radicale_url"
        seconds=$usual
    fi
done

# The middle of the numbers of a column, the lower one of two.
median() { sort -n | awk '{ line[NR] = $1 } END { print line[int((NR + 1) / 2)] }'; }
printf '%-10s %6s %14s %12s %14s\n' medians answer requests/s 'CPU µs each' 'kalends to it'
for answer in 304 200; do
    for name in kalends bare nginx radicale; do
        paste -d' ' "$work/kalends-$answer" "$work/$name-$answer" | awk 'NF == 4 { print $1 / $3 }' | sort -n > "$work/ratios"
        printf '%-10s %6s %14.0f %12.1f %8.2f (%.2f to %.2f)\n' "$name" "$answer" \
            "$(cut -d' ' -f1 "$work/$name-$answer" | median)" "$(cut -d' ' -f2 "$work/$name-$answer" | median)" \
            "$(median < "$work/ratios")" "$(sed -n 1p "$work/ratios")" "$(sed -n '$p' "$work/ratios")"
    done
done

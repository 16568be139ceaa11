#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches ical.js, one more reader to compare with, where Node.js and its registry can be reached.
set -eu

[ -d "$1/node_modules/ical.js" ] && exit 0
command -v npm >/dev/null 2>&1 || { echo "Without npm the test that needs ical.js is skipped." >&2; exit 0; }
npm install --silent --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 --prefix "$1" ical.js@2 >/dev/null 2>&1 ||
    echo "ical.js cannot be fetched; the test that needs it is skipped." >&2

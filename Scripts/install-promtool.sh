#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts Prometheus' own tool into a folder; its Debian package would start a server.
set -eu

folder="$1/prometheus"
[ ! -x "$folder/usr/bin/promtool" ] || exit 0
root=""
[ "$(id -u)" -eq 0 ] || root="sudo"
mkdir -p "$folder"
cd "$folder"
# The lists may be old or absent on a fresh machine.
apt-get download -qq prometheus 2>/dev/null || { $root apt-get update -qq && apt-get download -qq prometheus; }
dpkg-deb -x prometheus_*.deb .
rm prometheus_*.deb

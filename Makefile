# SPDX-License-Identifier: Apache-2.0

SWIFT ?= swift
PORT ?= 8080
TOOLS := .tools
PYTHON := $(TOOLS)/python/bin/python
# Files of other projects, for the tests that read them: handed to those only, because the server refuses variables that are no
# settings of its own.
KALENDS_CORPORA ?=
unexport KALENDS_CORPORA
TESTS := KALENDS_CORPORA="$(KALENDS_CORPORA)" KALENDS_PYTHON=$(CURDIR)/$(PYTHON) SWIFT=$(SWIFT)
# The program and its tests are built once, in one folder: by the optimizer, like what is installed, so that the suite takes
# half the time and what breaks only in optimized code is found, but with assertions, and with what tests look into.
FLAGS := -c release -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug
BUILT := .build/release
KALENDS := $(BUILT)/kalends
# What is installed and what is measured has neither, and has Swift's own libraries inside: it starts sooner, and needs nothing of
# Swift on the machine.
RELEASE := -c release --static-swift-stdlib --scratch-path .build-release
RELEASED := .build-release/release/kalends
BENCH := .build-release/release/kalends-bench

SYSTEM_PACKAGES := libical-dev libsqlite3-dev libpq-dev zlib1g-dev tzdata
TEST_PACKAGES := $(SYSTEM_PACKAGES) python3-venv vdirsyncer khal curl postgresql chromium chromium-driver nodejs node-typescript
CLIENT_PACKAGES := $(SYSTEM_PACKAGES) python3-venv vdirsyncer khal thunderbird xvfb evolution-data-server \
	gir1.2-ecal-2.0 python3-gi dbus
CALDAV_PACKAGES := cyrus-imapd cyrus-caldav sasl2-bin davical postgresql php-cgi php-pgsql
NODES_PACKAGES := $(SYSTEM_PACKAGES) postgresql haproxy faketime nftables iproute2
SANITIZED_PACKAGES := cmake libicu-dev
BENCH_PACKAGES := $(SYSTEM_PACKAGES) nginx-light wrk curl bc php-cli php-sabre-vobject radicale vdirsyncer procps valgrind binutils

.PHONY: run try-connections build test test-corpora test-busy test-release test-clients test-faults test-kill test-postgresql \
	test-failover test-move test-restores test-nodes test-nodes-long test-upgrade test-disk-full test-power-cut \
	test-powercut test-clock test-slow test-proxies test-revocation test-sync-kill test-pages test-growth test-long-writes test-bombs test-mixed test-caldav test-connections-scale test-hostile-files test-timing bench-rules proof bench-caldav test-shares test-providers \
	bench-phones bench-pages fuzz sanitize check format bench bench-check bench-hazards bench-million bench-nodes \
	bench-move package test-package test-container test-alerts clean

# Inputs that `make fuzz` tries, and for what: calendar, readers, mutate or document (Scripts/fuzz.sh).
RUNS ?= 1000000
TARGET ?= calendar

# A running server with the demo in it; Ctrl-C stops it.
run: build
	@Scripts/run.sh $(PORT)

# A running server with the demo, beside Google and Graph as emulators and a real Radicale: connect, choose, sync, move and
# resolve by hand, with the lines that it prints; Ctrl-C stops all of it.
try-connections: build $(TOOLS)/python/.done
	@Scripts/install-packages.sh curl
	@python3 -B Scripts/try-connections.py $(KALENDS) --port $(PORT) --python $(PYTHON)

build: $(KALENDS)

# Built when a source is newer than it: a look at file times, where the package manager takes many seconds to see that
# nothing is to be done.
$(KALENDS): Package.swift $(shell find Sources -type f)
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build $(FLAGS) --product kalends
	@touch $@

$(RELEASED): Package.swift $(shell find Sources -type f)
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends
	@touch $@

# Everything that can be shown without another machine, with real clients and other people's readers.
test: $(TOOLS)/python/.done $(TOOLS)/browser/.done
	@Scripts/install-packages.sh $(TEST_PACKAGES)
	@Scripts/install-promtool.sh $(TOOLS) || echo "promtool cannot be had here: the tests that ask it are left out" >&2
	@$(SWIFT) build --build-tests $(FLAGS)
	@Scripts/install-icaljs.sh $(TOOLS)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(PROGRAM_TESTS)
	@python3 -B Tests/Benchmarks/figures.py
	@$(TESTS) Scripts/test.sh $(FLAGS)

# What reads files of other projects, which KALENDS_CORPORA=FOLDER names, or holds to them; `make test` leaves it out without.
test-corpora: $(TOOLS)/python/.done
	@[ -n "$(KALENDS_CORPORA)" ] || { echo "KALENDS_CORPORA names no folder." >&2; exit 64; }
	@Scripts/install-packages.sh $(TEST_PACKAGES)
	@$(SWIFT) build --build-tests $(FLAGS)
	@$(TESTS) Scripts/test.sh $(FLAGS) --filter $(CORPORA_TESTS)

CORPORA_TESTS := 'ICalBridgeTests|PhoneTextsTests|Corpus|CheckPageTests|TraceTests|ReplayTests|GraphZoneTests'

# What drives the built programs from outside, each by itself, two at a time; the longest is first.
PROGRAM_TESTS := try-api try-pages try-companion try-walk try-first-hour try-clients try-kill
.PHONY: $(PROGRAM_TESTS)

try-api:
	@KALENDS=$(BUILT)/kalends $(PYTHON) -B Tests/API/run.py --examples 10

try-pages:
	@rm -rf $(TOOLS)/pages
	@PAGES_OUT=$(CURDIR)/$(TOOLS)/pages $(SWIFT) test --skip-build $(FLAGS) --filter RenderingTests
	@$(TOOLS)/browser/bin/python -B Tests/PagesTests/Browser/walk.py $(TOOLS)/pages --quick

try-companion:
	@KALENDS=$(BUILT)/kalends COMPANION=$(BUILT)/kalends-companion $(PYTHON) -B Tests/Clients/companion.py

try-walk:
	@python3 -B Scripts/try-connections.py $(BUILT)/kalends --port 18087 --python $(PYTHON) --walk

try-first-hour:
	@KALENDS=$(BUILT)/kalends FIRST_HOUR=$(BUILT)/FirstHour python3 -B Tests/Clients/first_hour.py

try-clients:
	@KALENDS=$(BUILT)/kalends $(PYTHON) -B Tests/Clients/run.py vdirsyncer khal

try-kill:
	@KALENDS=$(BUILT)/kalends python3 -B Tests/Faults/kill.py --rounds 2 --any-start

# The suite of `make test` many times in a row, beside three processes that never wait; ROUNDS=10.
test-busy: $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(TEST_PACKAGES)
	@$(SWIFT) build --build-tests $(FLAGS)
	@$(TESTS) Scripts/test-busy.sh $(or $(ROUNDS),10) $(FLAGS)

# What `make run` gives, for some minutes: the program without the assertions and the testability of the tests' build.
test-release: build $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(TEST_PACKAGES)
	@KALENDS=$(KALENDS) $(PYTHON) -B Tests/Clients/run.py vdirsyncer khal
	@KALENDS=$(KALENDS) $(PYTHON) -B Tests/API/run.py --examples 25
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/kill.py --rounds 3
	@python3 -B Tests/Faults/revocation.py $(KALENDS) --feeds 300 --reads 200000
	@python3 -B Scripts/try-connections.py $(KALENDS) --port 18087 --python $(PYTHON) --walk

# Thunderbird, Evolution's data server, vdirsyncer and khal subscribe to a feed, and must hold it to the second.
test-clients: build $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(CLIENT_PACKAGES)
	@KALENDS=$(KALENDS) $(PYTHON) -B Tests/Clients/run.py

# Calendars in step with real CalDAV servers, each function and each fault: Radicale and Xandikos, as in `make test`, and
# Cyrus and DAViCal. Their packages start a mail server and a database where the system starts what is installed: better in
# a container.
test-caldav: $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES) $(CALDAV_PACKAGES)
	@$(SWIFT) build --build-tests $(FLAGS)
	@KALENDS_PYTHON=$(CURDIR)/$(PYTHON) KALENDS_CALDAV_SERVERS="radicale xandikos cyrus davical" \
		$(SWIFT) test --skip-build $(FLAGS) --filter CalDAV

# 100, 1,000 and 10,000 connections at 15 minutes, with a provider that takes 50 ms a request: how late runs are, memory,
# processor, and how all of it grows.
test-connections-scale: build
	@python3 -B Tests/Faults/connections.py $(KALENDS)

# Inputs that learn from the branches of a reader, with the sanitizers of addresses and of undefined
# behaviour; goes on where the last call ended.
fuzz:
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES) $(SANITIZED_PACKAGES)
	@$(TESTS) Scripts/fuzz.sh $(TARGET) $(RUNS)

# Every suite under the sanitizers of addresses, of undefined behaviour and of threads; SANITIZERS="address BaseTests" runs
# one suite under one of them.
sanitize: $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(TEST_PACKAGES) $(SANITIZED_PACKAGES)
	@$(TESTS) Scripts/sanitize.sh $(SANITIZERS)

# The pages in Chromium and in Firefox ESR: every page in every state as the tests write it, what the scripts add, each page's
# main job at a server with the demo, by mouse and keyboard, with scripts and without, and three tasks as a stranger does them.
test-pages: $(TOOLS)/browser/.done
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES) chromium chromium-driver firefox-esr
	@$(SWIFT) build --build-tests $(FLAGS)
	@rm -rf $(TOOLS)/pages
	@PAGES_OUT=$(CURDIR)/$(TOOLS)/pages $(SWIFT) test --skip-build $(FLAGS) --filter RenderingTests
	@$(TOOLS)/browser/bin/python -B Tests/PagesTests/Browser/walk.py $(TOOLS)/pages
	@$(TOOLS)/browser/bin/python -B Tests/PagesTests/Browser/behave.py $(TOOLS)/pages
	@$(TOOLS)/browser/bin/python -B Tests/PagesTests/Browser/live.py $(BUILT)/kalends
	@$(TOOLS)/browser/bin/python -B Tests/PagesTests/Browser/tasks.py $(BUILT)/kalends
	@$(TOOLS)/browser/bin/python -B Tests/PagesTests/Browser/firefox.py $(TOOLS)/pages $(BUILT)/kalends

# Each page at 1,000 items and 50 feeds: time, bytes, requests, processor, layout shift, and memory after 10,000 views; VIEWS=10000.
bench-pages: $(RELEASED) $(TOOLS)/browser/.done $(TOOLS)/python/.done
	@Scripts/install-packages.sh chromium chromium-driver
	@$(TOOLS)/browser/bin/python -B Tests/PagesTests/Browser/figures.py $(RELEASED) --radicale $(PYTHON) --views $(or $(VIEWS),10000)

# Thousands of clients that are slow on purpose, beside readers who poll as usual.
test-slow: build
	@python3 -B Tests/Faults/slow_clients.py $(KALENDS)

# The README's examples for Caddy and nginx, in front of a server: networks told apart, large files, unchanged polls.
test-proxies: build
	@Scripts/install-packages.sh caddy nginx-light curl openssl
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/proxies.py

# What must hold whatever happens to the machine: nothing acknowledged lost, nothing counted twice, back within seconds.
test-faults: test-kill test-postgresql test-failover test-move test-restores test-nodes test-disk-full test-power-cut test-clock \
	test-slow test-revocation test-long-writes test-bombs test-sync-kill test-hostile-files test-shares test-providers

# Every text of every route is grown: twice as much may take at most 2.2 times as long.
test-growth: build
	@KALENDS=$(KALENDS) python3 -B Tests/API/growth.py

# kill -9 at random instants under full load; ROUNDS=50.
test-kill: build
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/kill.py --rounds $(or $(ROUNDS),50)

# PostgreSQL as the database crashes, ends its sessions and stands still under full load, and the server is killed; ROUNDS=20.
test-postgresql: build
	@Scripts/install-packages.sh postgresql
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/postgresql.py --rounds $(or $(ROUNDS),20)

# A standby is promoted under the load of two servers, and of one; PostgreSQL crashes amid imports and batches; TLS with a
# checked certificate, password files and PgBouncer; ROUNDS=10.
test-failover: build
	@Scripts/install-packages.sh postgresql pgbouncer openssl
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/failover.py --rounds $(or $(ROUNDS),10)
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/failover.py --rounds $(or $(ROUNDS),10) --servers 1
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/postgresql_imports.py --rounds $(or $(ROUNDS),10)
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/postgresql_ways.py

# Moves to PostgreSQL and back are killed at random instants, and PostgreSQL crashes amid them; ROUNDS=5.
test-move: build
	@Scripts/install-packages.sh postgresql
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/move.py --rounds $(or $(ROUNDS),5)

# Backups of a server under load are restored elsewhere, on both engines: each is the database at one commit; ROUNDS=20,
# LARGE=FILE is a database whose backup and restoring is timed.
test-restores: build
	@Scripts/install-packages.sh postgresql
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/restores.py --rounds $(or $(ROUNDS),20) $(and $(LARGE),--large $(LARGE))

# Three servers on one PostgreSQL, killed, stopped and cut off under load, with clocks that jump; SECONDS_OF_FAULTS=90. Then each
# promise is broken on purpose, and the run has to find it. For root, in a network of namespaces.
test-nodes: build
	@Scripts/install-packages.sh $(NODES_PACKAGES)
	@python3 -B Tests/Faults/history.py
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/nodes.py --seconds $(or $(SECONDS_OF_FAULTS),90)
	@for bug in old-answer wrong-circle fold-again lost-fold no-lease no-calendar-lease same-epoch skipped kept-role; do \
		KALENDS=$(KALENDS) python3 -B Tests/Faults/nodes.py --seconds 45 --plant $$bug || exit 1; done

# Two servers on one PostgreSQL are replaced by another version one after the other, and back, under load; BEFORE=PROGRAM is
# the program of the version before.
test-upgrade: build
	@Scripts/install-packages.sh postgresql
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/upgrade.py $(or $(BEFORE),$(KALENDS)) --rounds $(or $(ROUNDS),4)

# `test-nodes` for ten minutes, with as many polls as the machine can do, up to 1,500 a second.
test-nodes-long: build
	@Scripts/install-packages.sh $(NODES_PACKAGES)
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/nodes.py --seconds $(or $(SECONDS_OF_FAULTS),600) --rate 1500

# A full disk, and a full journal on it; wants root for a small tmpfs.
test-disk-full: build
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/disk_full.py --rounds $(or $(ROUNDS),20)

# The power of a disk is cut, with ext4 and with XFS; wants root for a loop device.
test-power-cut test-powercut: build
	@Scripts/install-packages.sh e2fsprogs xfsprogs
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/power_cut.py --rounds $(or $(ROUNDS),20)
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/power_cut.py --rounds $(or $(ROUNDS),20) --filesystem xfs

# The clock jumps by an hour and by ten years each way.
test-clock: build
	@Scripts/install-packages.sh faketime
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/clock.py

# A thousand feeds end amid a million reads: no content is given afterwards.
test-revocation: build
	@python3 -B Tests/Faults/revocation.py $(KALENDS)

# Imports, undos, followed calendars, renames and deletions of 100,000 and more beside somebody who writes every 20 ms;
# then kill -9 in the middle of commits and undos.
test-long-writes: build
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/long_writes.py

# Small requests that make very much work, such as the deletion of thousands of days of a series, beside an ordinary reader and
# an ordinary writer; then SIGTERM in the middle.
test-bombs: build
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/bombs.py

# Uploads, bodies and other servers that drip, and phones that send much at once, beside others who list, read and change.
test-shares: build
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/shares.py

# Hostile calendar servers that viewers name: endless listings, huge answers, small elements, hosts that drip; meanwhile an
# ordinary reader, a writer and other people's calendars are served.
test-providers: build
	@python3 -B Tests/Faults/providers.py $(KALENDS)

# kill -9 in the middle of runs that keep calendars in step with the emulators of Google and Outlook and with Radicale, while
# persons edit on both sides; then with PostgreSQL, which crashes too: HISTORIES=200.
test-sync-kill: build $(TOOLS)/python/.done
	@Scripts/install-packages.sh postgresql
	@KALENDS=$(KALENDS) $(PYTHON) -B Tests/Faults/sync_kill.py --histories $(or $(HISTORIES),200)
	@KALENDS=$(KALENDS) $(PYTHON) -B Tests/Faults/sync_kill.py --histories $(or $(HISTORIES),100) --postgresql

# Look-ups of tokens, keys, sessions and passwords by dudect's t-test, TIMING=1000000 measurements of each kind.
test-timing:
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build --build-tests $(FLAGS)
	@KALENDS_TIMING=$(or $(TIMING),1000000) $(SWIFT) test --skip-build $(FLAGS) --filter TimingTests

# 50,000 random rules: the worst and the 99.9th percentile of the time that each takes.
bench-rules:
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends-bench
	@$(BENCH) rules

# Every promise with the command that shows it: runs them all, for hours, and writes docs/proof.md.
proof:
	@python3 -B Scripts/proof.py run all

# Files of every hostile kind as backups, databases, keys, journals, locks, sockets and configuration.
test-hostile-files: build
	@KALENDS=$(KALENDS) python3 -B Tests/Faults/hostile_files.py

# A hundred hostile clients of every kind at once, beside an ordinary reader; with root, in a network of its own.
test-mixed: build
	@Scripts/install-packages.sh iproute2
	@python3 -B Tests/Faults/mixed.py $(KALENDS)

# The format, lint, a build without a warning (warnings are errors), no text of a stranger compared but by its bytes, and
# nothing stored for a caller but by the one act; docs/specifications.md and docs/asvs.md name only what there is.
check:
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Samples/first-hour
	@$(SWIFT) build --build-tests $(FLAGS)
	@python3 -B Scripts/text-rule.py .build release
	@python3 -B Scripts/house-rule.py
	@python3 -B Scripts/specification-rule.py
	@python3 -B Scripts/asvs-rule.py

format:
	@$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks Samples/first-hour

# Polls beside nginx that serves the same bytes, reading, writing and expanding beside libical and others, imports and calendars
# in step; writes docs/performance.md. PARTS="polls read" does some of it.
bench: $(RELEASED) $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(BENCH_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends-bench
	@python3 -B Scripts/bench.py run $(PARTS) --python $(PYTHON)

# The same, compared with the ratios and the counts of instructions that the repository keeps; fails where one is worse.
bench-check: $(RELEASED) $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(BENCH_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends-bench
	@python3 -B Scripts/bench.py check $(PARTS) --python $(PYTHON)

# Inputs that make readers slow: twice as much may take at most 2.2 times as long.
bench-hazards:
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends-bench
	@$(BENCH) hazards

# The engine that keeps calendars in step beside vdirsyncer, with one Radicale.
bench-caldav: $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES) vdirsyncer
	@$(SWIFT) build $(RELEASE) --product kalends-bench
	@python3 -B Scripts/bench.py run caldav --python $(PYTHON)

# What phones bring and take along: 5,000 events at once, 100,000 page by page, and questions without news.
bench-phones: $(RELEASED)
	@python3 -B Scripts/bench-phones.py $(RELEASED)

# Polls at a million feeds beside a hundred, memory, the start after a kill, and a circle of 100,000 items.
bench-million: $(RELEASED)
	@Scripts/install-packages.sh $(BENCH_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends-bench
	@python3 -B Scripts/bench.py run million --python $(PYTHON)

# One, two and three servers on one PostgreSQL beside one on SQLite: polls, reads, changes, memory, and how soon a revocation is
# answered with up to eight servers.
bench-nodes: $(RELEASED)
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES) wrk postgresql
	@python3 -B Scripts/bench-nodes.py $(RELEASED)

# A million feeds, or FEEDS, are moved from SQLite to PostgreSQL and back, with a start and polls on PostgreSQL between.
bench-move: $(RELEASED)
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES) wrk postgresql
	@$(SWIFT) build $(RELEASE) --product kalends-bench
	@python3 -B Scripts/bench-move.py $(RELEASED) $(BENCH) --count $(or $(FEEDS),1000000)

# A Debian package in .build-package/.
PACKAGE := .build-package
VERSION = $(shell $(RELEASED) --version)

package: $(RELEASED)
	@Scripts/install-packages.sh debhelper dpkg-dev
	@Scripts/package.sh $(RELEASED) $(PACKAGE)

# The package in a bare Debian with a systemd of its own: installed, served from, upgraded under load, removed, purged. Wants
# root. OLD=FILE is the package of the version before; otherwise that is the same program under a lower version.
test-package: package
	@Scripts/install-packages.sh debootstrap systemd-container
	@[ -n "$(OLD)" ] || Scripts/package.sh $(RELEASED) $(PACKAGE) $(VERSION)~before
	@python3 -B Tests/Packages/package.py $(or $(OLD),$(PACKAGE)/kalends_$(VERSION)~before_*.deb) $(PACKAGE)/kalends_$(VERSION)_*.deb

# The container's image with the package's program, run as compose.yaml says, and beside PostgreSQL. Wants root.
test-container: package
	@Scripts/install-packages.sh podman podman-compose crun netavark aardvark-dns iptables debootstrap postgresql
	@Scripts/postgresql.sh python3 -B Tests/Packages/container.py $(RELEASED)

# The alerts, and the metrics that they ask for, by Prometheus' own tool; its package would start a server.
test-alerts:
	@Scripts/install-promtool.sh $(TOOLS)
	@cd Packaging/prometheus && $(CURDIR)/$(TOOLS)/prometheus/usr/bin/promtool check rules kalends.rules.yml
	@cd Packaging/prometheus && $(CURDIR)/$(TOOLS)/prometheus/usr/bin/promtool test rules kalends.rules.test.yml

clean:
	@rm -rf .build .build-* $(TOOLS)

$(TOOLS)/browser/.done: Tests/PagesTests/Browser/requirements.txt
	@Scripts/install-packages.sh python3-venv
	@python3 -m venv $(TOOLS)/browser
	@$(TOOLS)/browser/bin/pip install --quiet --disable-pip-version-check --requirement Tests/PagesTests/Browser/requirements.txt
	@touch $@

$(TOOLS)/python/.done: Tests/requirements.txt
	@Scripts/install-packages.sh python3-venv
	@python3 -m venv $(TOOLS)/python
	@$(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check --requirement Tests/requirements.txt
	@touch $@

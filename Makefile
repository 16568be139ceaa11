# SPDX-License-Identifier: Apache-2.0

SWIFT ?= swift
PORT ?= 8080
TOOLS := .tools
PYTHON := $(TOOLS)/python/bin/python
# Files of other projects, for the tests that read them: handed to those only, because the server refuses variables that are no
# settings of its own.
KALENDS_CORPORA ?=
unexport KALENDS_CORPORA
# The tests start Python hundreds of times, and a machine's own `python3` may be a script that first looks for one.
TESTS := KALENDS_CORPORA="$(KALENDS_CORPORA)" KALENDS_PYTHON=$(CURDIR)/$(PYTHON) SWIFT=$(SWIFT) \
  PATH="$(CURDIR)/$(TOOLS)/python/bin:$$PATH"
# The program and its tests are built once, in one folder, as `swift build` and `swift test` do by themselves: the optimizer
# would take three times as long before the first feed.
KALENDS := .build/debug/kalends
# What is installed, measured and attacked is optimized, and has Swift's own libraries inside: it needs nothing of Swift on the
# machine.
# Without the table of symbols for libraries that a program might open (it opens none), the linker leaves out what nobody calls.
RELEASE := -c release --static-swift-stdlib -Xlinker --no-export-dynamic --scratch-path .build-release
# The toolchain's own linker keeps one of functions with the same code, and packs the list of addresses that are corrected at
# the start, which glibc reads since 2.36.
ifeq ($(shell test -x "$$(dirname "$$(readlink -f "$$(command -v $(SWIFT))")")/ld.lld" && getconf GNU_LIBC_VERSION | \
  awk '{ split($$2, v, "."); print (v[1] * 100 + v[2] >= 236) }'),1)
RELEASE += -Xswiftc -use-ld=lld -Xlinker --icf=all -Xlinker -z -Xlinker pack-relative-relocs
endif
RELEASED := .build-release/release/kalends

# The companion is a package of its own, which compiles no server.
COMPANION := --package-path Companion --scratch-path .build-companion

SYSTEM_PACKAGES := libical-dev libsqlite3-dev libpq-dev zlib1g-dev tzdata
TEST_PACKAGES := $(SYSTEM_PACKAGES) python3-venv vdirsyncer khal curl postgresql chromium chromium-driver nodejs node-typescript
SANITIZED_PACKAGES := cmake libicu-dev
BENCH_PACKAGES := $(SYSTEM_PACKAGES) nginx-light wrk curl bc php-cli php-sabre-vobject radicale vdirsyncer procps valgrind binutils
SWIFT_FILES := Package.swift Sources Tests Benchmarks Samples/first-hour Companion/Package.swift Companion/Sources Companion/Tests Companion/App

.PHONY: help run build optimized release test tests own-tests companion-tests check format bench benchmarks fuzz package newer readers clean

help: ## Lists these targets.
	@sed -n 's/^\([a-z]*\):.*## /  make \1#/p' Makefile | column -t -s '#'

run: build ## A running server with the demo in it; Ctrl-C stops it. PORT=8080
	@Scripts/run.sh $(PORT)

build: $(KALENDS) ## The program for `make run`, not optimized, in .build.

optimized: $(RELEASED) ## The program as it is installed and measured, in .build-release.

# Built when a source is newer than it: a look at file times, where the package manager takes many seconds to see that
# nothing is to be done.
$(KALENDS): Package.swift $(shell find Sources Samples/exports Samples/demo.json -type f)
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build --product kalends
	@touch $@

$(RELEASED): Package.swift $(shell find Sources Samples/exports Samples/demo.json -type f)
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends
	@touch $@

# The tests, and the programs that they start. The companion is built at the same time: each has times with work for one processor.
tests:
	@Scripts/install-packages.sh $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory --jobs 2 own-tests companion-tests

own-tests:
	@$(SWIFT) build --build-tests

companion-tests:
	@$(SWIFT) build $(COMPANION) --build-tests

# Other people's readers that may be out of reach, which takes a while to notice.
readers:
	@Scripts/install-promtool.sh $(TOOLS) || echo "promtool cannot be had here: the tests that ask it are left out" >&2
	@Scripts/install-icaljs.sh $(TOOLS)

benchmarks: $(RELEASED)
	@Scripts/install-packages.sh $(BENCH_PACKAGES)
	@$(SWIFT) build $(RELEASE) --product kalends-bench

test: ## All tests, with real clients and other people's readers.
	@Scripts/install-packages.sh $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory --jobs 5 own-tests companion-tests readers $(TOOLS)/python/.done $(TOOLS)/browser/.done
	@Tests/Harness --built programs
	@python3 -B Tests/Benchmarks/figures.py
	@$(TESTS) Scripts/test.sh

check: ## The format, lint, a build without warnings, the rules of the sources, what the docs name, and the released API.
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_FILES)
	@$(MAKE) --no-print-directory --jobs 2 own-tests companion-tests
	@SWIFTC=$(SWIFT)c Scripts/check-app.sh .build-companion/debug
	@python3 -B Scripts/house-rule.py
	@python3 -B Scripts/docs-rule.py
	@python3 -B Tests/API/compatible.py --self-test
	@[ ! -x $(KALENDS) ] || python3 -B Tests/API/compatible.py Tests/API/released-openapi.json $(KALENDS)

format: ## Formats the Swift files.
	@$(SWIFT) format --in-place --parallel --recursive $(SWIFT_FILES)

# A ratio or a count of instructions that is worse than the kept one fails. KEEP=1 keeps what is measured.
bench: benchmarks $(TOOLS)/python/.done ## Measures against nginx, libical and others; KEEP=1, PARTS="polls read"
	@python3 -B Scripts/bench.py $(if $(KEEP),run,check) $(PARTS) --python $(PYTHON)

# Inputs that `make fuzz` tries, and for what: calendar, readers, mutate or document (Scripts/fuzz.sh).
RUNS ?= 1000000
TARGET ?= calendar

fuzz: ## Inputs that learn from the branches of a reader; RUNS=1000000 TARGET=calendar
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES) $(SANITIZED_PACKAGES)
	@$(TESTS) Scripts/fuzz.sh $(TARGET) $(RUNS)

# In .build-package.
package: $(RELEASED) ## A Debian package.
	@Scripts/install-packages.sh debhelper dpkg-dev
	@Scripts/package.sh $(RELEASED) .build-package

# In .build-package, for who installs it elsewhere. SKIP_INSTALL=1 leaves out the bare Debian.
release: $(RELEASED) ## Everything of a release, and the package in a bare Debian.
	@Scripts/install-packages.sh debhelper dpkg-dev $(if $(SKIP_INSTALL),,debootstrap systemd-container)
	@Scripts/release.sh $(RELEASED) .build-package

newer: ## What newer versions the Swift packages have. TRY=--try builds and tests a copy with them.
	@python3 -B Scripts/newer.py $(TRY)

clean: ## Removes everything that was built or fetched.
	@rm -rf .build .build-* Companion/.build $(TOOLS)

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

# A variable of this file, for Tests/Harness.
say-%:
	@echo '$($*)'

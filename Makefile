# SPDX-License-Identifier: Apache-2.0

SWIFT ?= swift
PORT ?= 8080
TOOLS := .tools
KALENDS := .build/release/kalends
PYTHON := $(TOOLS)/python/bin/python

SYSTEM_PACKAGES := libical-dev libsqlite3-dev zlib1g-dev tzdata
TEST_PACKAGES := $(SYSTEM_PACKAGES) python3-venv vdirsyncer khal curl
BENCH_PACKAGES := $(SYSTEM_PACKAGES) nginx-light wrk curl bc

.PHONY: run build test check format bench clean

# A running server with the demo in it; Ctrl-C stops it.
run: build
	@Scripts/run.sh $(PORT)

build: $(KALENDS)

# Built when a source is newer than it: a look at file times, where the package manager takes many seconds to see that
# nothing is to be done.
$(KALENDS): Package.swift $(shell find Sources -type f)
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) build -c release --product kalends
	@touch $@

# Everything that can be shown without another machine, with real clients and other people's readers.
test: $(TOOLS)/python/.done
	@Scripts/install-packages.sh $(TEST_PACKAGES)
	@$(SWIFT) build --build-tests
	@KALENDS_PYTHON=$(CURDIR)/$(PYTHON) $(SWIFT) test --skip-build

# Formatting, lint, and a build without a warning (warnings are errors).
check:
	@Scripts/install-packages.sh $(SYSTEM_PACKAGES)
	@$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests
	@$(SWIFT) build --build-tests

format:
	@$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests

# Requests a second beside nginx that serves the same bytes.
bench: build
	@Scripts/install-packages.sh $(BENCH_PACKAGES)
	@Scripts/bench-feeds.sh

clean:
	@rm -rf .build $(TOOLS)

$(TOOLS)/python/.done: Tests/requirements.txt
	@Scripts/install-packages.sh python3-venv
	@python3 -m venv $(TOOLS)/python
	@$(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check --requirement Tests/requirements.txt
	@touch $@

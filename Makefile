# Ebb's tasks. `make` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

FUZZTIME ?= 60s
BENCH ?= .
EBB_BENCH_TIME ?= 1m
EBB_BENCH_DSN ?=
EBB_BENCH_RUNS ?= 1000000
EBB_CRASH_KILLS ?= 5000
EBB_CRASH_IMAGES ?= 400
EBB_SOAK ?= 100000
EBB_SOAK_POSTGRES ?= 10m
EBB_STORM ?= 30m

.PHONY: help
help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## build bin/ebb, one static binary
	CGO_ENABLED=0 go build -trimpath -o bin/ebb ./cmd/ebb

.PHONY: test
test: ## run all tests of all modules
	go test work

.PHONY: race
race: ## run all tests under the race detector, without the long ones
	go test -race -short work

.PHONY: lint
lint: ## run golangci-lint over all modules, built first if need be
	bash .ci/lint

.PHONY: fmt
fmt: ## format the code and mend what the linters can mend
	bash .ci/lint --fix

.PHONY: fuzz
fuzz: ## fuzz each Fuzz target in turn for FUZZTIME (60s)
	@git grep -Eo '^func Fuzz\w+' -- '*_test.go' | sort -u | while IFS=: read -r file target; do \
		target=$${target#func }; \
		echo "== $$(dirname "$$file") $$target"; \
		go test "./$$(dirname "$$file")" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME); \
	done

.PHONY: bench
bench: ## run the benchmarks that match BENCH (all)
	go test -run '^$$' -bench '$(BENCH)' -benchmem work

.PHONY: aws-bench
aws-bench: ## measure the APIs of AWS, each request for EBB_BENCH_TIME (1m), on SQLite or on the PostgreSQL database EBB_BENCH_DSN
	cd bench/serve && go run . -time $(EBB_BENCH_TIME) -dsn '$(EBB_BENCH_DSN)' -only '^aws/'

.PHONY: console-bench
console-bench: ## measure the console with EBB_BENCH_RUNS (1000000) runs, with 200 viewers, and in Chromium, likewise
	cd bench/serve && go run . -time $(EBB_BENCH_TIME) -dsn '$(EBB_BENCH_DSN)' -runs $(EBB_BENCH_RUNS) -only '^console/'
	cd server/console/interop && go test -count=1 -run '^(TestEditorSpeed|TestFigures)$$' -args -figures

.PHONY: golden
golden: ## rewrite all golden files and generated pages from what the code gives now; read the diff
	go test $$(git grep -lE 'flag\.Bool\("update"' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|') -update

.PHONY: docs
docs: ## rewrite the generated pages of docs/reference
	go test ./states -update

.PHONY: screenshots
screenshots: ## take the pictures of README.md and of docs/how-to/use-the-console.md with Chromium, from a test of the console
	cd server/console/interop && go test -count=1 -run '^TestScreenshots$$' . -pictures ../../../docs/images

.PHONY: soak
soak: ## run EBB_SOAK (100000) random flows, EBB_CRASH_KILLS (5000) kills of flows in Go, ASL and SM4C, and EBB_CRASH_IMAGES (400) images of broken disks, for as long as it takes
	EBB_SOAK=$(EBB_SOAK) EBB_CRASH_KILLS=$(EBB_CRASH_KILLS) EBB_CRASH_IMAGES=$(EBB_CRASH_IMAGES) go test -v -count 1 -timeout 0 -run 'Soak|Crash|Torn|BitRot|Truncated|Fsync|DiskFull' work

.PHONY: soak-postgres
soak-postgres: ## let four conductors share 10000 runs on PostgreSQL for EBB_SOAK_POSTGRES (10m), with one killed or stopped every few seconds; a PostgreSQL that is down for half a minute
	EBB_SOAK_POSTGRES=$(EBB_SOAK_POSTGRES) go test ./cmd/ebb -run TestSoakPostgres -v -count 1 -timeout 2h
	EBB_LONG_OUTAGE=1 go test ./conductor -run TestPostgresRestarted -v -count 1

.PHONY: storm
storm: ## send runs results, signals and commands by all doors, with kill -9 between, for EBB_STORM (30m) on SQLite and on PostgreSQL
	EBB_STORM=$(EBB_STORM) go test ./cmd/ebb -run 'TestStorm$$' -v -count 1 -timeout 0

.PHONY: fencing
fencing: ## race for fences over 100000 checkpoints on each store: no write of a former owner, none lost
	EBB_LONG_RACE=1 go test ./storage/... -run '/Fencing$$' -v -count 1 -timeout 2h

.PHONY: ci
ci: ## do all that a change must pass
	CI=true bash .ci/run

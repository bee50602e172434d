SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

GO       ?= go
BIN      := $(CURDIR)/bin
PODIUM   := $(BIN)/podium
BENCH    := $(BIN)/podium-bench
LINT     := $(BIN)/golangci-lint
TIMEOUT  ?= 20m

# What ships, what is tested and what lint reads is compiled in one way, so that it is compiled once, and found again by
# another clone. The race detector alone asks for C.
ifndef WITH_C
export WITH_C := $(shell $(GO) env CGO_ENABLED)
endif
export CGO_ENABLED := 0
export GOFLAGS := $(filter-out -trimpath -pgo=%,$(shell $(GO) env GOFLAGS)) -trimpath -pgo=off

# What ships is compiled by where its time goes (make profile-build), which tests do not need.
PROFILED := -pgo=$(CURDIR)/cmd/podium/default.pgo

# Their tests mostly wait, for processes and clocks.
WAITING  := ./cmd/podium

# Where goroutines share memory. The race detector makes code several times
# slower and needs a C compiler; RACE_FAST is where they share the most.
RACE      := ./bus/... ./supervisor/... ./agents/... ./ingest/... ./cmd/...
RACE_FAST := ./bus ./bus/memory ./supervisor

# What asks how large something becomes takes minutes under the detector, and the heap there is another one. What one
# goroutine does very often shows the detector nothing that it does not see once. make race leaves out nothing.
LARGE     := HeapOfOpenSessions|ManyMailsWithLongSubjects|AQueueCostsWhatItHolds|ALargeResultIsAnswered|AJoinOfLargeResultsIsBounded
OFTEN     := LeaseHoldsAlways|ARunOfALongConversation|TakeoverInOrder|VerifyFindsAnyByte|SnapshotsFollowTheirWeight|ALongQueueIsSmall|ARequestThatComesAgain
RACE_SKIP := ^Test($(LARGE)|$(OFTEN))

# What takes long and says little of most changes: how large something becomes, what many kills or many words do, programs that are wrong on purpose.
LONG      := LargeMailsStream_I17|DiskFills|FullLedgerIsSaid|KillWhileAgreed_O31|NewAgentsPass|WrongAgentsAreFound|ProfilePrograms|ScriptsSurviveAnyWords|ConsumersAreApart_G40|BatchCannotBeGuessed|ReadersWhoGoAwayLeaveNothing|BodiesOfStrangersAreBounded
LONG_IN   := ./cmd/podium ./cmd/podium/service ./bus/embedded

# What make profiles plays takes minutes: check plays an example of each profile.
PLAYED    := ^Test(Profile|Assistant|Practice|Loop|Pattern|Tactical|Parts)
EXAMPLES  := AssistantByMail_O21_O26 PracticeExample_G08_G09 PatternProfile LoopWorkedExample_C01_C05_C15 TacticalMerges_M37

# Collecting garbage is a third of what lint and tests do. There is memory for less of it, up to a limit that stops lint from
# taking what a small machine has not.
COLLECT_LESS := GOGC=400 GOMEMLIMIT=3GiB

# What the race detector reports is printed last, behind the output of all tests.
RACE_TEST = reports=$$(mktemp -d); trap 'head -qn 80 "$$reports"/* 2>/dev/null || :; rm -rf "$$reports"' EXIT; \
	GORACE="log_path=$$reports/race" CGO_ENABLED=1 $(GO) test -race

N        ?= 20000
SEED     ?= 1
ROUNDS   ?= 20
PAIRS    ?= 20
BEFORE   ?= HEAD~1
MAILS    ?= 10000
MESSAGES ?= 500
TASKS    ?= 1000
FAULTS   ?= 1000
FUZZTIME ?= 20s
ARGS     ?=

##@ Use it

.PHONY: demo
demo: build ## Show a mail and a chat message being worked on, with no network and no key
	@$(PODIUM) demo $(ARGS)

.PHONY: up
up: build ## Run the service with podium.yaml (ARGS="-c other.yaml")
	@$(PODIUM) up $(ARGS)

.PHONY: build
build: ## Build bin/podium, one static binary
	@$(GO) build $(PROFILED) -o $(PODIUM) ./cmd/podium

.PHONY: cross
cross: ## Build for linux, darwin and windows on amd64 and arm64, into bin/cross
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		suffix=; [[ $$os == windows ]] && suffix=.exe; \
		echo "podium-$$os-$$arch$$suffix"; \
		GOOS=$$os GOARCH=$$arch $(GO) build $(PROFILED) -o $(BIN)/cross/podium-$$os-$$arch$$suffix ./cmd/podium; \
	done; done

##@ Work on it

.PHONY: test
test: dovecot chromium radicale chemistry validators languages ## Run every test; Dovecot, Chromium, Radicale, xtb, RDKit, pytest, flake8, Node.js, PyNaCl and jq are installed when they are missing
	@$(GO) test -timeout $(TIMEOUT) ./...

# Parts of check, which lints: lint looks for all that vet does before tests.
.PHONY: test-waiting test-working
test-waiting:
	@others=$$($(GO) test -vet=off -list '$(PLAYED)' $(WAITING) | grep ^Test | grep -vxF "$$(printf 'Test%s\n' $(EXAMPLES))" | paste -sd '|'); \
		$(GO) test -vet=off -skip "^($$others|Test($(LONG)))\$$" -timeout $(TIMEOUT) $(WAITING)
test-working:
	@$(COLLECT_LESS) $(GO) test -vet=off -skip '^Test($(LONG))$$' -timeout $(TIMEOUT) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(WAITING))")

.PHONY: test-long
test-long: dovecot chromium radicale chemistry validators languages ## Run the tests that take long, which check leaves out
	@$(COLLECT_LESS) $(GO) test -vet=off -run '^Test($(LONG))$$' -timeout $(TIMEOUT) $(LONG_IN)

.PHONY: race
race: dovecot chromium radicale chemistry validators languages ## Run the tests of everything concurrent under the race detector
	@$(RACE_TEST) -timeout 30m $(RACE)

.PHONY: race-agents
race-agents: dovecot chromium radicale chemistry validators languages ## Run the tests of agents and adapters under the race detector
	@$(RACE_TEST) -vet=off -timeout 30m ./agents/... ./ingest/...

.PHONY: race-fast
race-fast: ## Run the tests of the bus and the supervisor under the race detector, but for those of which it sees nothing
	@if [[ $(WITH_C) == 1 ]] && command -v $$($(GO) env CC) >/dev/null; then \
		export $(COLLECT_LESS); $(RACE_TEST) -vet=off -skip '$(RACE_SKIP)' -timeout $(TIMEOUT) $(RACE_FAST); \
	else \
		echo "No C compiler: the race detector is left out."; \
	fi

.PHONY: lint
lint: $(LINT) ## Check architecture, correctness and form
	@$(COLLECT_LESS) $(LINT) run ./...

.PHONY: fmt
fmt: $(LINT) ## Format every file
	@$(LINT) fmt ./...

.PHONY: generate
generate: ## Write generated files anew
	@$(GO) generate ./...

.PHONY: verify
verify: ## Fail when a generated file is not what its source says
	@before=$$(git diff | git hash-object --stdin); \
		$(MAKE) --no-print-directory generate; \
		test "$$before" = "$$(git diff | git hash-object --stdin)" || \
		{ git diff --stat; echo "verify: a generated file was not what its source says; it is now"; exit 1; }

# Two parts at a time, in this order: beside the tests that wait there is always work. What they print is kept apart, and
# none keeps the others from being heard. Everything is compiled first, so that no two of them compile the same.
PARTS := test-waiting lint test-working

.PHONY: check
check: tools ## What every change has to pass
	@$(COLLECT_LESS) $(GO) list -export -test ./... >/dev/null
	@$(MAKE) -k -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) $(PARTS)
	@$(MAKE) verify
	@echo "check: passed"

.PHONY: tools
tools: dovecot chromium radicale chemistry validators languages $(LINT) ## Install what tests and lint need

.PHONY: dovecot chromium radicale chemistry validators isync machine languages
dovecot chromium radicale chemistry validators isync machine languages:
	@tools/debian $@

$(LINT): tools/golangci-lint/go.mod tools/golangci-lint/go.sum
	@echo "Building golangci-lint, once."
	@$(GO) -C tools/golangci-lint build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

##@ Put it to the proof

.PHONY: profiles
profiles: dovecot chromium radicale build ## Play the scenarios of every profile on real programs, which are installed when they are missing: R, Node.js and npm's too
	@tools/debian profiles
	@mkdir -p $(BIN)/.profiles && cp tools/profiles/package*.json $(BIN)/.profiles && cd $(BIN)/.profiles && npm ci --no-audit --no-fund --ignore-scripts --silent
	@$(GO) test -tags profiles -count=1 -timeout 15m -run '$(PLAYED)' ./cmd/podium

.PHONY: at-once
at-once: profiles ## Give the systems of deploy/profiles, all in one process, MESSAGES messages at once (10 min for 500)
	@$(GO) test -tags profiles -count=1 -timeout 90m -v -run '^TestProfilesAtOnce$$' ./cmd/podium -five.messages=$(MESSAGES)

.PHONY: steady
steady: dovecot chromium radicale chemistry validators languages ## Run tests that kill or wait again and again, on the quiet machine and beside six busy loops, and print a line for each (hours; ARGS="-only agents/file -busy 0")
	@$(GO) run ./tools/steady $(ARGS)

.PHONY: removals
removals: SEED = 18
removals: ## Take 20 features out that are drawn by SEED, one at a time, and see a test of each fail (10 min)
	@$(GO) run ./tools/removals -seed $(SEED)

.PHONY: build-bench
build-bench:
	@$(GO) build $(PROFILED) -o $(BENCH) ./cmd/podium-bench

.PHONY: bench
bench: build-bench ## Measure speed, memory and recovery, beside bare JetStream (6 min)
	@for workload in single w1 w2 w3 growth; do \
		for durability in fsync interval; do $(BENCH) $$workload --durability $$durability $(ARGS); echo; done; \
	done
	@$(BENCH) route $(ARGS)

.PHONY: profile-build
profile-build: ## Measure where time goes, for the compiler to know: cmd/podium/default.pgo, once in a while (1 min)
	@rm -rf $(BIN)/where && mkdir -p $(BIN)/where && $(GO) build -pgo=off -o $(BENCH) ./cmd/podium-bench
	@$(BENCH) w1 --rounds 1 --round 20s --durability interval --profile $(BIN)/where
	@$(GO) tool pprof -proto $(BIN)/where/*.pprof > cmd/podium/default.pgo

# In commits of before, what measures is a verb of podium.
.PHONY: compare
compare: build-bench ## Measure the commit BEFORE and now in PAIRS turns: w1 (also behind the gate), w2 and w3 (45 min)
	@rm -rf $(BIN)/before $(BIN)/before.tree && git worktree prune && git worktree add --quiet --detach $(BIN)/before.tree $(BEFORE)
	@cd $(BIN)/before.tree && program=podium-bench && { [[ -d cmd/$$program ]] || program=podium; } && \
		{ profile=$$PWD/cmd/podium/default.pgo; [[ -f $$profile ]] || profile=off; } && \
		$(GO) build -pgo=$$profile -o $(BIN)/before/$$program ./cmd/$$program
	@git worktree remove --force $(BIN)/before.tree
	@before=$(BIN)/before/podium-bench; [[ -x $$before ]] || before="$(BIN)/before/podium bench"; \
	for workload in "w1 fsync" "w1 interval" "w2 interval" "w3 interval"; do \
		read -r name durability <<<"$$workload"; \
		measure="$$name --rounds 1 --round 4s -o json --durability $$durability"; \
		gate=(); [[ $$name != w1 ]] || gate=("$(BENCH) $$measure --external"); \
		echo "$$workload"; \
		$(GO) run ./tools/compare -rounds $(PAIRS) "$$before $$measure" "$(BENCH) $$measure" "$${gate[@]}"; \
	done

.PHONY: bench-mail
bench-mail: dovecot isync ## Measure the mail adapter beside mbsync, and webhooks (2 min)
	@$(GO) test -run '^$$' -bench '^BenchmarkMailbox' -benchtime 20x -timeout 30m ./cmd/podium
	@$(GO) test -run '^$$' -bench '^BenchmarkWebhook' -timeout 30m ./...

.PHONY: chaos
chaos: build ## Kill the service at random moments while messages flow, ROUNDS times
	@$(GO) test -count=1 -timeout 60m -v -run '^TestKill' ./cmd/podium -chaos.rounds=$(ROUNDS)

.PHONY: chaos-approvals
chaos-approvals: dovecot build ## Kill the service between what people are asked to agree to and what comes of it, ROUNDS times
	@$(GO) test -count=1 -timeout 60m -v -run '^TestKillWhileAgreed_O31$$' ./cmd/podium -chaos.rounds=$(ROUNDS)

.PHONY: chaos-mail
chaos-mail: dovecot build ## Deliver MAILS mails while FAULTS faults fall upon mailbox, connections and ledger (30 min)
	@$(GO) test -count=1 -timeout 60m -v -run '^TestNothingIsLostAtAnyCut' ./ingest/imap -chaos.mails=$(MAILS) -chaos.cuts=$(FAULTS)
	@$(GO) test -count=1 -timeout 60m -v -run '^TestMailboxMissesNothing' ./cmd/podium -mail.messages=$(MAILS) -mail.faults=$(FAULTS)

.PHONY: crowd
crowd: build ## Have TASKS tasks done by a program, an endpoint and a model, eight at a time, and look what is left
	@$(GO) test -count=1 -timeout 30m -v -run '^TestCrowd$$' ./cmd/podium -crowd.tasks=$(TASKS)

.PHONY: check-agents
check-agents: build ## Hold each of the wrong agents to every check (5 min)
	@$(GO) test -count=1 -timeout 30m -v -run '^TestWrongAgentsAreFound$$' ./cmd/podium -every-check

.PHONY: soak
soak: build ## Beset the service at half its rate with dropped readers, a flooding agent and garbage (15 min)
	@$(GO) test -count=1 -timeout 60m -v -run '^TestSoak$$' ./cmd/podium -soak.time=10m -soak.quiet=40s -soak.pairs=5

.PHONY: powercut
powercut: dovecot machine build ## Cut the power of a virtual machine in which the service works, in ROUNDS rounds (a minute or two each)
	@tools/machine/build $(PODIUM) $(BIN)/machine
	@$(GO) test -tags powercut -count=1 -timeout 240m -v -run '^TestPowerCut$$' ./cmd/podium -powercut.machine=$(BIN)/machine -powercut.rounds=$(ROUNDS) $(ARGS)

.PHONY: sim
sim: ## Simulate N seeds from SEED on with every fault at once; KIND=people has people asked in all of them, and so on: see supervisor/sim/kinds.go
	@$(GO) test -count=1 -timeout 0 -v -run '^TestSimulation$$' ./supervisor/sim -sim.n=$(N) -sim.seed=$(SEED) -sim.kind=$(KIND)

.PHONY: mutations
mutations: ## Show that the simulation catches the bug of each fault point (check: every twelfth)
	@$(GO) test -count=1 -timeout 30m -run '^TestFaults' ./supervisor/sim -sim.every-fault

.PHONY: fuzz
fuzz: ## Fuzz every decoder for FUZZTIME
	@grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r package; do \
		grep -hoE '^func Fuzz[A-Za-z0-9_]*' $$package/*_test.go | cut -c6- | while read -r target; do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$package </dev/null; \
		done; \
	done

.PHONY: clean
clean: ## Remove what was built
	@rm -rf $(BIN)

.PHONY: help
help: ## Show this
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Belfry's commands. `make` lists them. Those that need a store start it themselves; see docs/development.md.

SHELL := /bin/bash
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/belfry
SERVICES := $(shell cat pkg/service/names/names.txt)
MODULES = $(shell go list -m -f '{{.Dir}}') $(CURDIR)/deploy/local/engine

.DEFAULT_GOAL := help
.PHONY: help run test test-fast lint lint-fix gen gen-check build images package release cluster-test fresh stores \
	standalone fuzz bench endure rollout roundtrip generators clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

run: ## start the stores, all services and a demo school on http://127.0.0.1:8080
	@.ci/setup run
	@go build -o .local/bin/local ./deploy/local && exec .local/bin/local

test: setup-tests ## run every test that needs no cluster, with the race detector (TESTFLAGS for go test)
	@.ci/test $(TESTFLAGS)

test-fast: setup-tests ## run every test without the race detector
	@RACE= .ci/test $(TESTFLAGS)

lint: ## check scripts, and style, common faults and dead code in every module
	@.ci/setup lint && .ci/lint

lint-fix: ## format, and mend what the linters can
	@.ci/setup lint && .ci/lint --fix

gen: ## write what is generated: documents, and the Go client's types
	@.ci/generate

gen-check: ## fail when a generated document is not up to date
	@.ci/generate && git diff --exit-code -- client docs pkg

build: ## build the services and belfryctl into bin
	@mkdir -p bin
	@for s in $(SERVICES); do \
		CGO_ENABLED=0 go build -trimpath -o bin/$$s ./services/$$s/cmd/$$s || exit 1; \
	done
	@CGO_ENABLED=0 go build -trimpath -o bin/belfryctl ./cmd/belfryctl

images: setup ## build the container images into .local/images, without Docker (REGISTRY, VERSION, SIGN_KEY)
	@go run ./deploy/images -registry '$(REGISTRY)' -version '$(VERSION)' -sign-key '$(SIGN_KEY)'

package: ## package the chart into .local/chart (VERSION, REGISTRY; KEY and KEYRING sign it)
	@.ci/package

release: setup ## make the release VERSION: images, chart, belfryctl, SBOMs, checksums (REGISTRY, SIGN_KEY, KEY)
	@.ci/release

cluster-test: setup ## prove the chart on a real Kubernetes here (root; half an hour the first time; RECORD=FILE)
	@test/cluster/cluster check $(RECORD)

fresh: ## prove make run and make test on a minimal Debian 12 made on this machine (root, an hour)
	@test/fresh/fresh check

stores: setup ## run the stores for tests run by hand, until Ctrl-C
	@go build -o .local/bin/stores ./deploy/local/stores/cmd/stores && exec .local/bin/stores

standalone: ## compile each module and its tests on its own, as somebody who lifts one out would
	@for m in $(MODULES); do echo "$$m"; (cd $$m && GOWORK=off go vet ./...) || exit 1; done

fuzz: ## run each fuzz target for FUZZTIME (default 1m)
	@.ci/fuzz

bench: ## measure each call on a school of 1,000 pupils and five years (ARGS="-runs 5 -against FILE.json", …)
	@.ci/setup bench && go run ./test/bench $(ARGS)

endure: setup ## write for ENDURE (default 30m) while parts are killed, paused and cut off, then compare (ARGS)
	@go run ./test/faults -duration $(or $(ENDURE),30m) $(ARGS)

rollout: setup ## exchange two releases for ROLLOUT (default 10m) while both write, then compare (ARGS)
	@go run ./test/faults -older previous -duration $(or $(ROLLOUT),10m) $(ARGS)

roundtrip: setup-tests ## export a school of PUPILS and YEARS (1000, 5) and import it again; MEMORY is the bound in MiB
	@go run ./deploy/local/stores/cmd/stores \
		go test ./test/endtoend -run TestDataOut_AnExport -count=1 -timeout 3h -v -args \
		-pupils $(or $(PUPILS),1000) -years $(or $(YEARS),5) -memory $(or $(MEMORY),100)

generators: setup ## try the interface's document with openapi-typescript, Spectral and Redocly (needs node and npm)
	@go run ./test/generators

clean: ## remove all data of this checkout
	@[ ! -e .local/stores/claim ] || flock -n .local/stores/claim true || \
		{ echo "clean: the stores of this checkout run; end them first" >&2; exit 1; }
	@rm -rf .local bin

.PHONY: setup setup-tests
setup:
	@.ci/setup
setup-tests:
	@.ci/setup tests

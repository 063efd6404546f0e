# Every step of `make test` is a target of its own, so that one can be repeated alone.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

export PATH := $(CURDIR)/.tools/bin:$(PATH)
# Tests and demo talk to servers on this machine only.
export CARGO_TERM_COLOR ?= auto

WASM := --target wasm32-unknown-unknown
CLIPPY := cargo clippy --locked --all-targets

# $(call done,name): the closing line of a step.
done = @echo "ok: $(1)"

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- setting up

.PHONY: prerequisites prerequisites-test
prerequisites:
	@scripts/check-prerequisites.sh
	@if command -v rustup > /dev/null; then rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown; fi

prerequisites-test:
	@scripts/check-prerequisites.sh test

node_modules/.package-lock.json: package.json package-lock.json | prerequisites
	npm ci
	@touch $@

www/node_modules/.package-lock.json: www/package.json www/package-lock.json | prerequisites
	npm ci --prefix www
	@touch $@

# Its dependency token2text is a link to pkg/.
collector/node_modules/.package-lock.json: collector/package.json collector/package-lock.json | prerequisites
	npm ci --prefix collector
	@touch $@

tests/collector/node_modules/.package-lock.json: tests/collector/package.json tests/collector/package-lock.json | prerequisites
	npm ci --prefix tests/collector
	@touch $@

tests/packaging/node_modules/.package-lock.json: tests/packaging/package.json tests/packaging/package-lock.json | prerequisites
	npm ci --prefix tests/packaging
	@touch $@

tests/viewer/node_modules/.package-lock.json: tests/viewer/package.json tests/viewer/package-lock.json | prerequisites
	npm ci --prefix tests/viewer
	@touch $@

.PHONY: tools-build tools-test tools-packaging tools-viewer tools-collector
tools-build: | prerequisites
	@scripts/install-tools.sh wasm-bindgen

tools-test: | prerequisites
	@scripts/install-tools.sh wasm-bindgen wasm-pack chromium

tools-packaging: tests/packaging/node_modules/.package-lock.json | prerequisites
	@scripts/install-tools.sh chromium firefox

tools-viewer: tests/viewer/node_modules/.package-lock.json | prerequisites
	@scripts/install-tools.sh chromium firefox

tools-collector: collector/node_modules/.package-lock.json tests/collector/node_modules/.package-lock.json | prerequisites
	@scripts/install-tools.sh nginx nats-server

# The environments of Python that tests need, by their names in scripts/venv.sh.
OF_INTEGRATION := integration trackio otel
OF_COLLECTOR := $(OF_INTEGRATION) collector write prometheus
OF_VIEWER := integration trackio
# $(call environments,names): makes them.
environments = @for name in $(1); do scripts/venv.sh $$name > /dev/null; done

# ---- building

# IS_BUILT: pkg/ is as the sources say already, as within `make test`.
.PHONY: build
build: prerequisites tools-build node_modules/.package-lock.json www/node_modules/.package-lock.json ## build the npm package into pkg/
	$(if $(IS_BUILT),,node scripts/build.js)
	$(call done,build: the package is in pkg/)

.PHONY: pack-collector
pack-collector: build collector/node_modules/.package-lock.json ## pack the collector into target/
	node scripts/pack-collector.js
	$(call done,pack-collector)

.PHONY: demo
demo: build collector/node_modules/.package-lock.json ## recorded rollouts come into sight on the page of a collector, in the viewer, in MLflow, in Trackio; verl's through the relay (DEMO_EXIT=1 ends by itself)
	@node scripts/demo.js

benches/node_modules/.package-lock.json: benches/package.json benches/package-lock.json | prerequisites
	npm ci --prefix benches
	@touch $@

.PHONY: bench
bench: build tools-test benches/node_modules/.package-lock.json ## decoding and loading beside every peer, into benches/RESULTS.md (BENCH="--runs 5", --quick); enriching beside JSON.parse
	@node scripts/fetch-tokenizer.js qwen3
	node benches/decode.mjs $(BENCH)
	node benches/bodies.mjs $(filter --quick,$(BENCH))
	node benches/drift.mjs $(filter --quick,$(BENCH))

.PHONY: bench-collector
bench-collector: build collector/node_modules/.package-lock.json ## the collector: a relay beside no relay, the receiver beside rotel, the store beside SQLite; two behind nginx, and around a queue
	@node scripts/fetch-tokenizer.js qwen3
	@scripts/venv.sh otel > /dev/null
	@scripts/install-tools.sh nginx nats-server
	node benches/collector.mjs
	node benches/gateway.mjs

.PHONY: bench-viewer
bench-viewer: build tools-test ## the viewer in Chromium: opening 50 MB beside JSON.parse, what holds the page up, what it fetches; into benches/RESULTS.md
	node benches/viewer.mjs $(BENCH)

.PHONY: fetch-tokenizers
fetch-tokenizers: | prerequisites-test ## fetch the real tokenizers that tests compare with
	python3 scripts/fetch-tokenizers.py

# ---- testing

# Two at a time: optimising WebAssembly and installing keep one core busy, and tests with servers wait a lot.
.PHONY: test
test: prerequisites prerequisites-test ## everything below, setting up what it needs
	@$(MAKE) -j2 --output-sync=line test-rust prepared
	@$(MAKE) size
	@$(MAKE) IS_BUILT=yes types
	@$(MAKE) -j2 --output-sync=line IS_BUILT=yes test-package test-collector
	@$(MAKE) -j2 --output-sync=line IS_BUILT=yes test-viewer test-wasm
	@echo "ok: everything"

# The package, and what its tests need.
.PHONY: prepared
prepared:
	@$(MAKE) build
	@$(MAKE) environments

.PHONY: environments
environments: tools-test tools-packaging tools-viewer tools-collector ## what the tests of the package need besides it: tools, clients, servers
	$(call environments,$(OF_COLLECTOR))

.PHONY: test-rust
test-rust: ## formatting, clippy, native tests, documentation, the crate's package
	@$(MAKE) fmt-check
	@$(MAKE) clippy
	@$(MAKE) test-native
	@$(MAKE) test-native-slim
	@$(MAKE) doc
	@$(MAKE) package-crate

.PHONY: test-package
test-package: ## the package by itself, in every runtime, with real servers
	@$(MAKE) test-js
	@$(MAKE) test-packaging
	@$(MAKE) test-integration

.PHONY: test-wasm
test-wasm: ## the WebAssembly tests, in Node and in Chromium
	@$(MAKE) test-wasm-node
	@$(MAKE) test-wasm-chrome

.PHONY: fmt-check
fmt-check: ## the Rust sources are formatted
	cargo fmt --check
	$(call done,formatting)

.PHONY: clippy
clippy: prerequisites ## no warnings, natively and for WebAssembly, for each module
	$(CLIPPY) -- -D warnings
	$(CLIPPY) --no-default-features -- -D warnings
	$(CLIPPY) $(WASM) -- -D warnings
	$(CLIPPY) $(WASM) --no-default-features -- -D warnings
	$(CLIPPY) $(WASM) --no-default-features --features reader -- -D warnings
	$(CLIPPY) $(WASM) --no-default-features --features spans -- -D warnings
	$(call done,clippy)

.PHONY: lint
lint: fmt-check clippy types ## formatting, clippy and types

.PHONY: test-native
test-native: fetch-tokenizers ## native tests with the general engine
	cargo test --locked
	$(call done,native tests)

.PHONY: test-native-slim
test-native-slim: fetch-tokenizers ## native tests without it
	cargo test --locked --no-default-features
	$(call done,native tests without the general engine)

.PHONY: doc
doc: ## the Rust documentation has no warnings
	RUSTDOCFLAGS=-Dwarnings cargo doc --locked --no-deps
	$(call done,documentation)

.PHONY: package-crate
package-crate: ## the crate can be packaged
	cargo package --locked --allow-dirty
	$(call done,crate package)

.PHONY: test-wasm-node
test-wasm-node: tools-test ## the WebAssembly tests in Node
	scripts/test-wasm.sh node
	$(call done,WebAssembly tests in Node)

.PHONY: test-wasm-chrome
test-wasm-chrome: tools-test ## the same tests in headless Chromium
	scripts/test-wasm.sh chrome
	$(call done,WebAssembly tests in Chromium)

.PHONY: size
size: ## the WebAssembly that every page loads is small, and what the viewer's page fetches
	node scripts/build.js --check-size
	$(call done,size)

.PHONY: types
types: build collector/node_modules/.package-lock.json tests/collector/node_modules/.package-lock.json tests/packaging/node_modules/.package-lock.json tests/viewer/node_modules/.package-lock.json ## the JavaScript agrees with its types
	npx --no-install tsc -p tsconfig.json
	npx --no-install tsc -p tsconfig.tools.json
	npx --no-install tsc -p www/tsconfig.json
	npx --no-install tsc -p www/tsconfig.test.json
	npx --no-install tsc -p collector/tsconfig.json
	$(call done,types)

.PHONY: test-js
test-js: build tools-test fetch-tokenizers ## tests of the package, the command line and the viewer
	npm test --silent --prefix www
	node --test tests/js
	$(call done,JavaScript tests)

.PHONY: test-packaging
test-packaging: build tools-packaging ## the packed package in every runtime, bundler and browser; README's table
	node tests/packaging/run.js
	node scripts/compatibility-table.js
	$(call done,packaging tests)

.PHONY: test-integration
test-integration: build tools-test fetch-tokenizers ## exporters and readers against real servers, one after the other
	$(call environments,$(OF_INTEGRATION))
	node tests/integration/run.js
	$(call done,integration tests)

.PHONY: test-collector
test-collector: build tools-test tools-collector fetch-tokenizers ## the collector with real clients and real servers
	$(call environments,$(OF_COLLECTOR))
	node tests/collector/run.js
	$(call done,collector tests)

.PHONY: test-viewer
test-viewer: build tools-viewer collector/node_modules/.package-lock.json fetch-tokenizers ## the viewer in Chromium and Firefox, in frameworks, and beside real servers
	$(call environments,$(OF_VIEWER))
	node tests/viewer/run.js
	$(call done,viewer tests)

.PHONY: test-phoenix
test-phoenix: build fetch-tokenizers ## the preset for Phoenix against its server, which takes a minute to install; not in `make test`
	@scripts/venv.sh phoenix > /dev/null
	node tests/phoenix/run.js
	$(call done,Phoenix tests)

.PHONY: soak
soak: build fetch-tokenizers collector/node_modules/.package-lock.json ## the collector with a store for SOAK_SECONDS (600), its backend ill now and then, then killed SOAK_KILLS (100) times; not in `make test`
	node tests/soak/run.js
	$(call done,soak)

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_SECONDS (120); needs a nightly compiler and cargo-fuzz
	scripts/fuzz.sh
	$(call done,fuzzing)

# ---- housekeeping

.PHONY: fmt
fmt: ## format the Rust sources
	cargo fmt

.PHONY: clean
clean: ## remove everything that was built; tools and fetched files stay
	rm -rf target pkg www/dist

# The targets that a person types have a description behind ##: make help.
# Every target installs what it needs and may be run first; the second run
# finds everything and is quick.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Native code runs a model ten times faster than code for every x86-64. The
# same flags in every target, so that llama.cpp is compiled once. -w: the
# warnings of upstream's C++ are not ours.
export CGO_CFLAGS   := -O3 -march=native -g0 -w
export CGO_CXXFLAGS := -O3 -march=native -g0 -w

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
MODULE      := github.com/branchbook/branchbook
MODEL       := smollm2-135m
PREFIX      ?= $(HOME)/.local

VENV   := .venv
PYTHON := $(VENV)/bin/python
# What runs in the venv finds its python, pip and jupyter first.
IN_VENV := VIRTUAL_ENV="$(CURDIR)/$(VENV)" PATH="$(CURDIR)/$(VENV)/bin:$$PATH"

say = @printf '\n== %s\n' "$(1)"

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- what users run

.PHONY: demo
demo: env kernel model $(VENV)/.demo ## build, get the default model, run notebooks/first-light.ipynb on it and render it
	$(call say,Running notebooks/first-light.ipynb in Jupyter: a few minutes)
	@mkdir -p demo
	@$(IN_VENV) jupyter nbconvert --log-level WARN --to notebook --execute notebooks/first-light.ipynb \
	    --ExecutePreprocessor.timeout=900 --output-dir demo || \
	    { echo "The notebook failed: the error above names the cell. make lab opens it." >&2; exit 1; }
	@$(IN_VENV) jupyter nbconvert --log-level WARN --to html demo/first-light.ipynb --output-dir demo
	@printf '\nThe notebook:  %s\nAs a page:     %s\nTry your own:  make lab\n' "$(CURDIR)/demo/first-light.ipynb" "$(CURDIR)/demo/first-light.html"

.PHONY: lab
lab: env kernel model $(VENV)/.lab ## open the notebooks in JupyterLab
	$(call say,Opening JupyterLab on notebooks/: Ctrl-C here ends it)
	@$(IN_VENV) jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --ServerApp.root_dir=notebooks

.PHONY: build
build: env bin/branchbook ## build bin/branchbook for this machine's processor

.PHONY: install
install: build ## copy branchbook to PREFIX/bin (default ~/.local) and offer its kernel to Jupyter there
	$(call say,Installing to $(PREFIX))
	@install -D bin/branchbook "$(PREFIX)/bin/branchbook"
	@"$(PREFIX)/bin/branchbook" install --prefix "$(PREFIX)"

.PHONY: clean
clean: ## remove what make made here; models and Go's cache stay
	rm -rf bin demo $(VENV)

# ---- what developers run

.PHONY: test
test: check test-pure test-native test-engines test-race test-baseline test-frontends ## run everything that CI runs
	$(call say,All tests passed)

# The tables of internal/symbols name what is deprecated too, for cells.
.PHONY: check
check: env $(VENV)/.test ## check format, vet, staticcheck, go.mod, Dockerfiles
	$(call say,Checking the sources)
	@files="$$(gofmt -s -l $$(grep -rL --include='*.go' '^// Code generated ' cmd kernel lib))"; \
	    if [ -n "$$files" ]; then printf 'Not formatted:\n%s\nRun: gofmt -s -w cmd kernel lib\n' "$$files" >&2; exit 1; fi
	go mod tidy -diff
	go vet ./...
	go run $(STATICCHECK) $$(go list ./... | grep -v '/internal/symbols$$')
	$(VENV)/bin/hadolint Dockerfile
	cmp Dockerfile binder/Dockerfile

.PHONY: test-pure
test-pure: env browser
	$(call say,Testing what needs no C compiler)
	CGO_ENABLED=0 BRANCHBOOK_REQUIRE=1 go test ./lib/samplers/... ./lib/plot/... ./lib/llm/catalog ./kernel/notebook ./kernel/internal/cell/...

.PHONY: test-native
test-native: env browser model $(VENV)/.demo
	$(call say,Testing everything in Go)
	$(IN_VENV) BRANCHBOOK_REQUIRE=1 go test -timeout 20m ./...

# The engine that is not the default one: only these tests run cells in a worker.
.PHONY: test-engines
test-engines: env model
	$(call say,Testing cells on the engine yaegi)
	$(IN_VENV) BRANCHBOOK_ENGINE=yaegi BRANCHBOOK_REQUIRE=1 go test -timeout 20m ./kernel ./cmd/branchbook

# The race detector would need its own build of llama.cpp: packages that link
# it are left out. checkptr comes with it and objects to addresses near nil, from
# which the engine vm loads to panic as Go does.
.PHONY: test-race
test-race: env
	$(call say,Testing for data races)
	go test -race -timeout 20m -gcflags='$(MODULE)/kernel/internal/engine/vm=-d=checkptr=0' $$(scripts/without.sh $(MODULE)/lib/llm/internal/llama ./kernel/... ./lib/...)

.PHONY: test-baseline
test-baseline: env
	$(call say,Building as a plain go build does)
	env -u CGO_CFLAGS -u CGO_CXXFLAGS go build ./...

# yaegi does not know the line of a nil dereference.
.PHONY: test-frontends
test-frontends: env kernel model browser $(VENV)/.test
	$(call say,Testing in Jupyter and in a browser)
	$(IN_VENV) BRANCHBOOK_REQUIRE=1 python -m pytest -q test
	$(IN_VENV) BRANCHBOOK_ENGINE=yaegi BRANCHBOOK_REQUIRE=1 python -m pytest -q test/test_cells.py test/test_first_light.py test/test_tools.py -k 'not [nil]'

.PHONY: conformance
conformance: env ## run the Go project's own tests of the language as cells, and the yardsticks in $BRANCHBOOK_YARDSTICKS
	$(call say,Running programs of the Go distribution as cells)
	BRANCHBOOK_REQUIRE=1 BRANCHBOOK_CONFORMANCE=all go test -count 1 -timeout 30m -v -run '^(TestConformance|TestRemaining)$$' ./kernel/internal/engine/... | grep -v '^ *\(=== \|--- PASS\)'
	@if [ -n "$$BRANCHBOOK_YARDSTICKS" ]; then $(MAKE) yardsticks; fi

# The folder holds conformance.sh OUT CMD..., which says what it needs.
.PHONY: yardsticks
yardsticks: bin/branchbook
	$(call say,Running the yardsticks)
	@out="$$(mktemp -d)"; trap 'rm -rf "$$out"' EXIT; "$$BRANCHBOOK_YARDSTICKS/conformance.sh" "$$out" "$(CURDIR)/bin/branchbook" run

# PROGRAMS: how many; SEED: the first one's number. SOAK: how long a kernel gets
# random requests. RUNS: how often papermill runs a notebook.
PROGRAMS ?= 20000
SEED     ?= 1
SOAK     ?= 10m
RUNS     ?= 200
.PHONY: soak
soak: soak-programs soak-kernel soak-papermill ## compare PROGRAMS generated programs with compiled Go; try the kernel for SOAK, and in RUNS runs of papermill

# On vm: what differs on yaegi is counted in its differential_test.go. A process
# keeps the types of all programs that it has run, so each runs a part.
.PHONY: soak-programs
soak-programs: env
	$(call say,Generating $(PROGRAMS) programs and running them as cells)
	@test="$$(mktemp)"; trap 'rm -f "$$test"' EXIT; go test -c -o "$$test" ./kernel/internal/engine/vm; cd kernel/internal/engine/vm; bad=0; \
	    for ((ran = 0; ran < $(PROGRAMS); ran += 400)); do \
	        echo "seed $$(($(SEED) + ran)):"; \
	        BRANCHBOOK_REQUIRE=1 BRANCHBOOK_SEED=$$(($(SEED) + ran)) BRANCHBOOK_PROGRAMS=$$(($(PROGRAMS) - ran < 400 ? $(PROGRAMS) - ran : 400)) \
	            "$$test" -test.run '^TestDifferential$$' -test.timeout 0 -test.v || bad=1; \
	    done; exit $$bad
	BRANCHBOOK_PROGRAMS=$(PROGRAMS) go test -count 1 -timeout 0 -v -run '^TestMemory' ./kernel/internal/engine/...

.PHONY: soak-kernel
soak-kernel: env
	$(call say,Sending a kernel random requests for $(SOAK))
	BRANCHBOOK_REQUIRE=1 BRANCHBOOK_SOAK=$(SOAK) go test -count 1 -timeout 0 -v -run '^(TestSoak|TestAFlood.*)$$' ./kernel

.PHONY: soak-papermill
soak-papermill: kernel $(VENV)/.test
	$(call say,Running a notebook with papermill $(RUNS) times)
	$(IN_VENV) python test/soak_papermill.py $(RUNS)

.PHONY: bench
bench: env kernel model $(VENV)/.bench ## run the benchmarks, and measure Jupyter's Go kernels side by side
	$(call say,Running benchmarks)
	go test -run '^$$' -bench . -benchmem ./lib/... ./kernel/...
	$(call say,Measuring kernels: minutes)
	@$(IN_VENV) python bench/kernels.py --write bench/README.md

.PHONY: generate
generate: env ## write the generated files again
	go generate ./...

.PHONY: pins
pins: ## renew requirements/constraints.txt
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	    /usr/bin/python3 -m venv "$$dir"; "$$dir/bin/pip" install -q -r requirements/test.txt; \
	    { sed -n '/^#/p' requirements/constraints.txt; "$$dir/bin/pip" freeze --exclude pip --exclude setuptools; } > "$$dir/pins"; \
	    cp "$$dir/pins" requirements/constraints.txt

# ---- the parts

.PHONY: env
env: ## install what the machine lacks: compiler, libzmq, Python's venv
	@scripts/need.sh build

.PHONY: browser
browser:
	@scripts/need.sh browser

# The go command knows best whether the binary is up to date.
.PHONY: bin/branchbook
bin/branchbook:
	$(call say,Building bin/branchbook: minutes the first time and seconds later)
	@go build -o $@ ./cmd/branchbook

.PHONY: kernel
kernel: bin/branchbook $(VENV)/.demo
	$(call say,Offering the kernel to the Jupyter of $(VENV))
	@$(IN_VENV) bin/branchbook install --prefix $(VENV)

.PHONY: model
model: bin/branchbook $(PYTHON)
	$(call say,Getting the model $(MODEL))
	@$(IN_VENV) bin/branchbook models get $(MODEL)

$(PYTHON): | env
	$(call say,Making a Python environment in $(VENV))
	@python3 -m venv $(VENV)

# .demo, .lab, .test: the requirements of that name are installed.
$(VENV)/.%: requirements/%.txt requirements/constraints.txt | $(PYTHON)
	$(call say,Installing the Python packages of $<)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r $< -c requirements/constraints.txt
	@touch $@

# One verb, one target. Everything runs on a machine that has Python 3.11 or newer and make.

PYTHON3 ?= python3
PYTHON := .venv/bin/python
export PYTHONDONTWRITEBYTECODE := 1
export SAM_CLI_TELEMETRY := 0
export __SAM_CLI_APP_DIR := $(CURDIR)/.tools/sam
PORT ?= 4566
export PORT

.DEFAULT_GOAL := help

help: ## the list of these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: environments ## the whole road on this machine: a task, its agent, its signed notifications (PORT=4566)
	@$(PYTHON) -m demo

up: python ## bring up the local stack and leave it up; addresses in .local/stack.json (PORT=4566, AGENT=agent.module:Class, AUTH=jwt|iam|none|cognito)
	@$(PYTHON3) -m local up

token: ## print an access token of the local issuer: make -s token OWNER=alice (TENANT=acme, SCOPE=…, EXPIRES=seconds)
	@$(MAKE) -s environments >&2
	@$(PYTHON) -m local.token

down: python ## stop the local stack
	@$(PYTHON3) -m local down

logs: environments ## the functions' log lines, readable; goes on until Ctrl-C in a terminal
	@$(PYTHON) -m local.logs

invoke: python ## one function in a container, against the local stack: FUNCTION=ApiFunction EVENT=events/… (needs Docker)
	@$(PYTHON3) -m local.invoke

ops: environments ## what an operator needs, see docs/operations.md: make -s ops ARGS="tasks" (STACK=… for a deployed one)
	@$(PYTHON) -m local.ops

erase: environments ## remove all that is stored of a task or an owner: TASK=… or OWNER=… (TENANT=…, STACK=… for a deployed one, DRY_RUN=1)
	@$(PYTHON) -m local.ops erase

rotate-keys: environments ## make new keys for webhooks, or finish what an earlier call began (STACK=… for a deployed one, ONLY=signing|sealing, DRY_RUN=1, JSON=1)
	@$(PYTHON) -m local.ops rotate-keys

test: environments ## every check and every test
	@$(PYTHON) -m local.checks

faults: environments ## the fault matrix and the suite against SSRF, with the figures of docs/reliability.md
	@$(PYTHON) -m pytest -q -r fE tests/faults tests/ssrf

conformance: environments ## the official A2A conformance kit against a stack of its own: TCK=path of a checkout
	@PYTHONPATH=tests:layers/herald/python $(PYTHON) -m conformance

bench-lists: environments ## what a page of a list costs, with 10, 1,000 and 100,000 tasks
	@$(PYTHON) -m bench.lists

bench-quick: environments ## what a request, a notification and a cold import cost, beside their marks
	@$(PYTHON) -m bench.quick

soak: environments ## the load of a quarter of an hour, receivers that fail, and a settlement: MINUTES=15 RATE=200 WEBHOOKS=2 FAIL=10 (percent) DRAIN=20
	@$(PYTHON) -m bench.soak

soak-dead: environments ## what 50 dead or hanging webhooks among 1,000 cost the others: TASKS=100 WEBHOOKS=10 RATE=30 EVERY=20
	@$(PYTHON) -m bench.soak.dead

lock: environments ## write the lock files anew from pyproject.toml and local/*.in (needs uv)
	@$(PYTHON) -m local.lock

clean: python ## stop the local stack and remove everything that was made here
	@$(PYTHON3) -m local down
	rm -rf .local .tools .venv .aws-sam dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

environments: python
	@$(PYTHON3) -m local environment ours

python:
	@$(PYTHON3) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed: $(PYTHON3) isn't. Name another one: make PYTHON3=/path/to/python3.13" >&2; exit 1; }

.PHONY: help demo up token down logs invoke ops erase rotate-keys test faults conformance bench-lists bench-quick soak soak-dead lock clean environments python

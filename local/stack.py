"""The local stack: build, deploy to the emulator, and say where everything is."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local import environments, process
from local.environments import AWS, EMULATOR, ROOT
from local.terminal import LocalError, say, step

STACK = "herald-local"
REGION = "us-east-1"
STAGE = "local"
SOURCES = ["template.yaml", "samconfig.toml", "layers", "functions", "statemachines"]

CONFIG = ["--config-file", str(ROOT / "samconfig.toml"), "--config-env", "local"]
SAM_ENVIRONMENT = {"AWS_DEFAULT_REGION": REGION, "SAM_CLI_TELEMETRY": "0", "COLUMNS": "160"}

ISSUER_PATH = "/_issuer"
AUDIENCE = "herald-local"
SCOPE = "herald/call"
TENANT_CLAIM = "tenant"

# What differs from a deployment on AWS: receivers on this machine, and no waiting for retries.
PARAMETERS = {
    "Stage": STAGE,
    "WebhookAllow": "127.0.0.1:*,localhost:*",
    "WorkerRetrySeconds": "1",
    "WorkerAttempts": "2",
    "LogRetention": "1",
    # Every receiver on this machine is an origin of its own, by its port; and tests call as fast as they can.
    "OriginsPerOwner": "1000",
    "ThrottleRate": "10000",
    "ThrottleBurst": "5000",
}


@dataclass(frozen=True)
class Place:
    """Where a local stack keeps its state; two places are two stacks that know nothing of each other."""

    folder: Path
    port: int

    @property
    def record(self) -> Path:
        return self.folder / "emulator.json"

    @property
    def log(self) -> Path:
        return self.folder / "emulator.log"

    @property
    def build(self) -> Path:
        return self.folder / "build"

    @property
    def container_build(self) -> Path:
        return self.folder / "container-build"

    @property
    def variables(self) -> Path:
        """What `sam local invoke` tells each function."""
        return self.folder / "invoke.json"

    @property
    def deployed(self) -> Path:
        return self.folder / "deployed.stamp"

    @property
    def answer(self) -> Path:
        return self.folder / "stack.json"

    @property
    def issuer_key(self) -> Path:
        """The private key of the local issuer of access tokens."""
        return self.folder / process.ISSUER_KEY


@dataclass(frozen=True)
class Variant:
    """How a stack differs from that of `make up`.

    Attributes:
        auth: how callers show who they are, one of AUTH.
        parameters: the template's, beside or instead of PARAMETERS.
        agent_overlay: a folder whose files are laid over the agent layer's python/ once it is built.
        environment: what an emulator that must be started is given beside its usual environment; its functions see it.
    """

    auth: str = "jwt"
    parameters: Mapping[str, str] = field(default_factory=dict)
    agent_overlay: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


# Named, for a parameter that isn't keeps the value of the last deployment.
NO_TOKENS = dict.fromkeys(("Issuer", "Audience", "RequiredScopes", "TenantClaim", "TokenUrl"), "")

AUTH: dict[str, Callable[[str], dict[str, str]]] = {
    "jwt": lambda url: {
        **NO_TOKENS,
        "AuthMode": "jwt",
        "Issuer": url + ISSUER_PATH,
        "Audience": AUDIENCE,
        "RequiredScopes": SCOPE,
        "TenantClaim": TENANT_CLAIM,
    },
    "cognito": lambda url: {**NO_TOKENS, "AuthMode": "jwt", "TokenUrl": f"{url}/oauth2/token"},
    "iam": lambda _: {**NO_TOKENS, "AuthMode": "iam"},
    "none": lambda _: {**NO_TOKENS, "AuthMode": "none"},
}
"""How callers show who they are -> the template's parameters, in an emulator of this address."""


def place_from(environment: Mapping[str, str]) -> Place:
    """The place that PORT and LOCAL_DIR name; 4566 and .local by default."""
    port = environment.get("PORT") or "4566"
    if not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise LocalError(f"PORT={port} isn't a port. Give a number from 1 to 65535.")
    return Place(ROOT / (environment.get("LOCAL_DIR") or ".local"), int(port))


def variant_from(environment: Mapping[str, str]) -> Variant:
    """The variant that AGENT and AUTH name: the template's agent, and tokens of the local issuer, by default."""
    auth = environment.get("AUTH") or "jwt"
    if auth not in AUTH:
        raise LocalError(f"AUTH={auth} is none of {', '.join(AUTH)}.")
    agent = environment.get("AGENT")
    if agent and not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", agent):
        raise LocalError(f"AGENT={agent} isn't module:Class. Name it like AGENT=agent.greeter:Greeter.")
    return Variant(auth, {"Agent": agent} if agent else {})


def up(place: Place, variant: Variant | None = None) -> dict[str, str]:
    """Bring the stack to what the sources say, starting the emulator if needed; where everything is.

    An emulator that was started here is stopped again if the rest fails or is interrupted.

    Raises:
        LocalError: a step failed; the message says which and what to do.
    """
    variant = variant or Variant()
    with _alone(place):
        environments.ensure(AWS)
        environments.ensure(EMULATOR)
        before = process.running(place.record)
        emulator = _emulator(place, before, variant)
        try:
            return _bring(place, emulator, variant)
        except BaseException:  # Ctrl-C, too
            if emulator != before:
                _stop(place)
            raise


def _bring(place: Place, emulator: process.Emulator, variant: Variant) -> dict[str, str]:
    """Build and deploy what isn't built and deployed yet; where everything is."""
    sources = _fingerprint(variant)
    _build(place, sources, variant)
    parameters = {**PARAMETERS, **_parameters(emulator), **AUTH[variant.auth](emulator.url), **variant.parameters}
    deployment = json.dumps([sources, parameters, emulator.started])
    if not place.answer.exists() or _read(place.deployed) != deployment:
        _deploy(place, emulator, STACK, parameters)
        place.answer.write_text(json.dumps(_where(emulator, STACK), indent=2) + "\n", encoding="utf-8")
        place.deployed.write_text(deployment, encoding="utf-8")
    answer: dict[str, str] = json.loads(place.answer.read_text(encoding="utf-8"))
    return answer


def beside(place: Place, name: str, parameters: Mapping[str, str]) -> dict[str, str]:
    """Deploy what was built in a place once more, as another stack in its emulator; where everything of it is.

    Raises:
        LocalError: no stack is up in this place, or the deployment failed.
    """
    with _alone(place):
        emulator = process.running(place.record)
        if emulator is None:
            raise LocalError(f"No local stack is up in {place.folder}.")
        _deploy(place, emulator, name, {**PARAMETERS, **_parameters(emulator), **parameters})
        return _where(emulator, name)


def down(place: Place) -> bool:
    """Stop the emulator and everything in it; False if there was nothing to stop."""
    with _alone(place):
        return _stop(place)


def _stop(place: Place) -> bool:
    stopped = process.stop(place.record)
    place.answer.unlink(missing_ok=True)
    place.deployed.unlink(missing_ok=True)
    return stopped


def architecture() -> str:
    """This machine's, as the template names it."""
    return "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"


def build_for_containers(place: Place) -> None:
    """Build the layers for the template's runtime on this machine's architecture, for `sam local invoke`.

    That architecture becomes the built template's default, so that the command needs no parameter.
    """
    with _alone(place):
        _sam_build(place.container_build, _fingerprint(Variant()), {"ARCHITECTURE": architecture()})
        template = place.container_build / "template.yaml"
        text = template.read_text(encoding="utf-8")
        template.write_text(text.replace("Default: arm64", f"Default: {architecture()}"), encoding="utf-8")


def _parameters(emulator: process.Emulator) -> dict[str, str]:
    """The parameters that depend on this machine and on the emulator's port."""
    return {
        "Architecture": architecture(),
        "EndpointUrl": emulator.url,
        "PublicUrl": f"{emulator.url}/_aws/execute-api/{{apiId}}/{{stage}}",
    }


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    """One command at a time in a place."""
    place.folder.mkdir(parents=True, exist_ok=True)
    with (place.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            with step("Waiting for another make in this folder"):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _emulator(place: Place, running: process.Emulator | None, variant: Variant) -> process.Emulator:
    if running is not None and running.port == place.port:
        return running
    process.refuse_a_taken_port(place.record, place.port)  # before the addresses of one that runs are taken away
    place.answer.unlink(missing_ok=True)
    with step(f"Starting the emulator on port {place.port}"):
        return process.start(EMULATOR.python, ROOT, place.record, place.log, place.port, variant.environment)


def _fingerprint(variant: Variant) -> str:
    """One text for all that a build is made of."""
    whole = hashlib.sha256(EMULATOR.lock.read_bytes())
    overlay = [variant.agent_overlay] if variant.agent_overlay else []
    for path in [*(ROOT / source for source in SOURCES), *overlay]:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                whole.update(f"\n{file.relative_to(ROOT)}\n".encode())
                whole.update(file.read_bytes())
    return whole.hexdigest()


def _build(place: Place, sources: str, variant: Variant) -> None:
    # The emulator runs functions with its own Python, so the layers are built for that one.
    built = _sam_build(place.build, sources, {"HOST_PYTHON": str(EMULATOR.python)})
    if built and variant.agent_overlay:
        layer, ignored = place.build / "AgentLayer" / "python", shutil.ignore_patterns("__pycache__")
        shutil.copytree(variant.agent_overlay, layer, dirs_exist_ok=True, ignore=ignored)


def _sam_build(folder: Path, sources: str, environment: dict[str, str]) -> bool:
    """Build into a folder; False if it already holds what these sources give."""
    stamp = folder / "herald.stamp"
    if _read(stamp) == sources:
        return False
    for cached in (ROOT / "functions").rglob("__pycache__"):
        shutil.rmtree(cached, ignore_errors=True)  # functions are packed as they lie there
    with step("Building (sam build)"):
        cache = {"LAYER_CACHE": str(ROOT / ".tools" / "layers")}
        _sam(["build", "--build-dir", str(folder)], environment | cache)
    stamp.write_text(sources, encoding="utf-8")
    return True


def _deploy(place: Place, emulator: process.Emulator, name: str, parameters: Mapping[str, str]) -> None:
    with step("Deploying (sam deploy)"):
        overrides = [f"{name}={value}" if value else f'{name}=""' for name, value in parameters.items()]
        template = str(place.build / "template.yaml")
        command = ["deploy", "--stack-name", name, "--template-file", template, "--parameter-overrides", *overrides]
        _sam(command, _credentials(emulator))


def _where(emulator: process.Emulator, name: str) -> dict[str, str]:
    described = _sam(["list", "stack-outputs", "--stack-name", name, "--output", "json"], _credentials(emulator))
    outputs = {row["OutputKey"]: row["OutputValue"] for row in json.loads(described)}
    base = f"{emulator.url}/_aws/execute-api/{outputs['ApiId']}/{STAGE}"
    return {
        "baseUrl": base,
        "cardUrl": f"{base}/.well-known/agent-card.json",
        "jwksUrl": f"{base}/.well-known/jwks.json",
        "endpointUrl": emulator.url,
        "region": REGION,
        "table": outputs["TableName"],
        "bucket": outputs["BucketName"],
        "deliveryQueueUrl": outputs["DeliveryQueueUrl"],
        "stateMachineArn": outputs["StateMachineArn"],
        "stackName": name,
        # Of a stack that takes access tokens, and of one with a user pool of its own.
        **{_member(key): outputs[key] for key in ("Issuer", "TokenUrl", "UserPoolId", "ClientId") if key in outputs},
    }


def _member(output: str) -> str:
    """tokenUrl for TokenUrl."""
    return output[0].lower() + output[1:]


def _credentials(emulator: process.Emulator) -> dict[str, str]:
    return {"AWS_ENDPOINT_URL": emulator.url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def _sam(command: list[str], environment: dict[str, str]) -> str:
    """Run sam with the local section of samconfig.toml; what it said, if it went well."""
    done = subprocess.run(
        [AWS.program("sam"), *command, *CONFIG],
        cwd=ROOT,
        env=_without_aws(dict(os.environ)) | SAM_ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LocalError(f"sam {command[0]} failed:\n" + "\n".join(_telling(done.stdout) + _telling(done.stderr)))
    for line in done.stderr.splitlines():
        if "WARNING" in line:
            say(f"    {line}")
    return done.stdout


def _telling(output: str) -> list[str]:
    """The last lines of what sam said, without those that only show that it got on."""
    lines = [line for line in output.splitlines() if line.strip() and "skipping upload" not in line]
    return lines[-15:]


def _without_aws(environment: dict[str, str]) -> dict[str, str]:
    """No profile, no session and no address of a real account gets near the local stack."""
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""

"""What the functions read from their environment: one frozen model per function, checked when the function starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

Required = Annotated[str, StringConstraints(min_length=1)]
_ORIGIN = r"https?://[A-Za-z0-9._\-\[\]:]+"
Arn = Annotated[str, StringConstraints(pattern=r"^arn:[^:]+:")]
KmsKey = Annotated[str, StringConstraints(pattern=r"^(arn:[^:]+:kms:\S+)?$")]  # "" for none


class SettingsError(Exception):
    """A deployment is wrong: names each variable and what it should hold."""


class Settings(BaseModel):
    """Reads the variables that its fields are named after.

    A field's description says what the variable holds; it is part of the error.
    """

    # Each function builds the one model that it reads.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """Settings from variables ``HERALD_<FIELD>``; an empty one counts as unset.

        Raises:
            SettingsError: names every variable that is missing or wrong.
        """
        told = {name: value for name in cls.model_fields if (value := environ.get(variable(name), ""))}
        try:
            return cls.model_validate(told)
        except ValidationError as error:
            names = dict.fromkeys(str(problem["loc"][0]) for problem in error.errors(include_url=False))
            raise SettingsError("\n".join(cls._complaint(name, environ) for name in names)) from None

    @classmethod
    def _complaint(cls, name: str, environ: Mapping[str, str]) -> str:
        value = environ.get(variable(name), "")
        state = f"is {value!r}" if value else "is not set"
        return f"{variable(name)} {state}; it should hold {cls.model_fields[name].description}"


def base_url(template: str, region: str, api_id: str, stage: str) -> str:
    """The public base address of the API, without a slash at its end.

    Args:
        template: as set by the operator; may hold {apiId}, {stage} and {region}. "" is the API's own address.
    """
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    text = template or f"https://{{apiId}}.execute-api.{{region}}.{suffix}/{{stage}}"
    for name, value in (("apiId", api_id), ("stage", stage), ("region", region)):
        text = text.replace(f"{{{name}}}", value)
    return text.rstrip("/")


def variable(name: str) -> str:
    """The variable of a field: ``HERALD_QUEUE_URL`` for ``queue_url``."""
    return f"HERALD_{name.upper()}"


class StackSettings(Settings):
    """Of each function that counts something."""

    stack: str = Field(default="herald", description="the name of the stack, by which its metrics are told")


class _Table(Settings):
    table: Required = Field(description="the name of the Tasks table")


class _Log(_Table):
    bucket: Required = Field(description="the name of the bucket for large bodies")


class _Queue(Settings):
    queue_url: str = Field(pattern=r"^https?://", description="the URL of the doorbell queue (SQS FIFO)")


class _StateMachine(Settings):
    state_machine_arn: Arn = Field(description="the ARN of the task worker's state machine")


class _Receivers(Settings):
    sealing_secret: Arn = Field(description="the ARN of the sealing secret")
    webhook_allow: str = Field(
        default="",
        description="a comma list of host, host:port, host:* and CIDR blocks that webhooks may point at, or nothing",
    )
    webhook_timeout: float = Field(
        default=15, ge=5, le=30, description="how long a receiver may take, seconds (5 to 30)"
    )


class _Signing(Settings):
    signing_secret: Arn = Field(description="the ARN of the signing secret")


class _Tokens(Settings):
    webhook_token_key: KmsKey = Field(
        default="",
        description="the ARN of the KMS key that signs Bearer tokens for receivers, or nothing for no such tokens",
    )


class _Public(Settings):
    public_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="the public base URL (it may hold {apiId}, {stage}, {region}), or nothing for API Gateway's",
    )


class _Turn(Settings):
    turn_seconds: int = Field(default=3600, ge=1, description="how long a turn may take, whole seconds (1 or more)")


class _Card(Settings):
    card_key: KmsKey = Field(
        default="",
        description="the ARN of the KMS key that signs the Agent Card, or nothing for a card without a signature",
    )


class _Cors(Settings):
    cors_origin: str = Field(
        default="",
        pattern=rf"^(\*|{_ORIGIN}( *, *{_ORIGIN})*)?$",
        description="* or a comma list of origins like https://app.example.com, or nothing",
    )


class ApiSettings(_Log, _StateMachine, _Receivers, _Card, _Cors, _Public, StackSettings):
    """Of the function ``api``."""

    webhook_tokens: Literal["on", "off"] = Field(
        default="off", description="on or off: whether receivers that ask for a Bearer token get one"
    )
    auth_mode: Literal["jwt", "iam", "none"] = Field(default="jwt", description="jwt, iam or none")
    idempotent_send: Literal["message", "key", "off"] = Field(default="message", description="message, key or off")
    blocking_seconds: float = Field(
        default=25, ge=0, le=25, description="how long a blocking SendMessage waits, seconds (0 to 25)"
    )
    max_task_days: int = Field(default=30, ge=1, description="days after which an open task is ended (1 or more)")
    retention_days: int = Field(
        default=30, ge=7, description="days for which a task is kept after it must have ended (7 or more)"
    )
    owner_shards: int = Field(default=1, ge=1, le=64, description="the number of parts of an owner's index (1 to 64)")
    webhooks_per_task: int = Field(
        default=10, ge=1, le=50, description="the number of webhooks that a task may have (1 to 50)"
    )
    open_tasks_per_owner: int = Field(
        default=1_000, ge=1, description="the number of open tasks that an owner may have (1 or more)"
    )
    origins_per_owner: int = Field(
        default=20, ge=1, le=1_000, description="the number of origins that an owner's webhooks may have (1 to 1000)"
    )
    card_max_age: int = Field(
        default=300, ge=0, le=86_400, description="how long caches may keep the Agent Card, seconds (0 to 86400)"
    )
    oidc_issuer: str = Field(
        default="", pattern=r"^(https?://\S+)?$", description="the URL of the issuer of access tokens, or nothing"
    )
    token_url: str = Field(
        default="", pattern=r"^(https?://\S+)?$", description="the URL where callers get access tokens, or nothing"
    )
    scopes: str = Field(default="", description="the scopes that every call needs, separated by spaces, or nothing")
    egress_addresses: str = Field(
        default="",
        pattern=r"^([0-9.]+(,[0-9.]+)*)?$",
        description="a comma list of the addresses that webhooks are sent from, or nothing where they aren't fixed",
    )


class AuthorizeSettings(StackSettings):
    """Of the function ``authorize``."""

    oidc_issuer: str = Field(
        pattern=r"^https?://[^\s#?]+$", description="the URL of the issuer of access tokens, as their iss has it"
    )
    audience: str = Field(
        default="",
        pattern=r"^([^\s,].*)?$",  # a list of nothing would let in what isn't meant for us
        description="a comma list of audiences, one of which a token must be meant for, or nothing",
    )
    scopes: str = Field(
        default="",
        pattern=r"^([!#-\[\]-~][!#-\[\]-~ ]*)?$",
        description="the scopes that every call needs, separated by spaces, or nothing",
    )
    tenant_claim: str = Field(default="", description="the claim that names the caller's tenant, or nothing")
    jwks_url: str = Field(
        default="", pattern=r"^(https?://\S+)?$", description="the URL of the issuer's keys, or nothing to discover it"
    )


class PublishKeysSettings(_Signing, _Tokens, _Card, _Cors):
    """Of the function ``publish_keys``."""


class StartWorkerSettings(_StateMachine):
    """Of the function ``start_worker``."""


class RunAgentSettings(_Log, _Turn, StackSettings):
    """Of the function ``run_agent``."""

    agent: str = Field(
        default="agent.financial_analysis:FinancialAnalysis",
        pattern=r"^[\w.]+:\w+$",
        description="the agent's module and class, like agent.my_agent:MyAgent",
    )


class RingWebhooksSettings(_Table, _Queue):
    """Of the function ``ring_webhooks``."""


class SendWebhooksSettings(_Log, _Queue, _Receivers, _Signing, _Tokens, _Public, StackSettings):
    """Of the function ``send_webhooks``."""

    api_id: str = Field(default="", description="the id of the REST API, for the address that tokens name")
    stage: str = Field(default="", description="the stage of the REST API, for the address that tokens name")


class SweepSettings(_Log, _Queue, _StateMachine, _Turn, StackSettings):
    """Of the function ``sweep``."""

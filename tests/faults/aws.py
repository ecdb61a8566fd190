"""AWS services that fail on the wire, below botocore: its retries see what they would see of a real service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

from botocore.endpoint import Endpoint
from botocore.exceptions import ReadTimeoutError

Send = Callable[[], Any]
Act = Callable[[Send], Any]  # gets the real sending; returns what botocore is to see


def throttled(_: Send) -> Any:
    error = {"Code": "ThrottlingException", "Message": "Rate exceeded"}
    response = SimpleNamespace(status_code=400, headers={}, content=b"{}")
    return (response, {"Error": error, "ResponseMetadata": {"HTTPStatusCode": 400}}), None


def silent(_: Send) -> Any:
    return None, ReadTimeoutError(endpoint_url="https://aws.example")


def unheard(send: Send) -> Any:
    send()
    return silent(send)


@dataclass
class Wire:
    """What becomes of the next requests of each operation."""

    plans: dict[str, list[Act]] = field(default_factory=dict)

    def plan(self, operation: str, *acts: Act) -> None:
        self.plans[operation] = list(acts)

    @contextmanager
    def between(self) -> Iterator[None]:
        """Get between botocore and the services; nobody waits before a retry."""
        real = Endpoint._do_get_response  # type: ignore[attr-defined]

        def get_response(endpoint: Endpoint, request: Any, operation_model: Any, context: Any) -> Any:
            def send() -> Any:
                return real(endpoint, request, operation_model, context)

            plan = self.plans.get(operation_model.name)
            return plan.pop(0)(send) if plan else send()

        with (
            mock.patch.object(Endpoint, "_do_get_response", get_response),
            mock.patch("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None)),
        ):
            yield

"""What both bindings do with a request once its operation is known: caller, version, extensions, parsing, running."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from herald.bindings import errors, gateway, trace
from herald.bindings.http import Request
from herald.operations.call import Call
from herald.operations.catalogue import Catalogue
from herald.ports import Ids, Unavailable
from herald.protocol import version
from herald.protocol.errors import A2AError, ExtensionSupportRequiredError, invalid
from herald.records import Caller

logger = logging.getLogger(__name__)

_TENANT = re.compile(r"[A-Za-z0-9._~-]{1,64}")


@dataclass(frozen=True, slots=True)
class Service:
    """The operations behind a binding.

    Attributes:
        required_extensions: URIs of the extensions that the Agent Card requires of clients.
    """

    catalogue: Catalogue
    ids: Ids
    auth: gateway.AuthMode = "iam"
    required_extensions: frozenset[str] = frozenset()

    def authenticate(self, request: Request) -> str:
        """The owner that a request acts for.

        Raises:
            UnauthenticatedError: there is none.
        """
        return gateway.owner(self.auth, request.context)

    def check_parameters(self, request: Request) -> None:
        """Check the service parameters: A2A-Version and A2A-Extensions (A2A specification section 3.2.6).

        Raises:
            VersionNotSupportedError: the request speaks another version.
            ExtensionSupportRequiredError: it lacks an extension that the card requires.
        """
        version.check(request.headers.get(version.VERSION_HEADER.lower()), request.query.get(version.VERSION_HEADER))
        if not self.required_extensions:
            return
        named = request.headers.get(version.EXTENSIONS_HEADER.lower(), "").split(",")
        missing = self.required_extensions - {uri.strip() for uri in named}
        if missing:
            raise ExtensionSupportRequiredError(
                f"This agent requires extensions. Send {version.EXTENSIONS_HEADER}: {', '.join(sorted(missing))}"
            )

    async def run(self, name: str, owner: str, params: Mapping[str, Any], request: Request) -> dict[str, Any] | None:
        """Run an operation.

        Args:
            params: the request of the operation as JSON, its tenant included.

        Raises:
            A2AError: whatever goes wrong, faults of ours included.
        """
        try:
            operation = self.catalogue[name]
            call = Call(Caller(_tenant(params), owner), trace.traceparent(request.headers, self.ids))
            return await operation.run(call, operation.request.parse(params) if operation.request else None)
        except A2AError:
            raise
        except Unavailable:
            logger.warning("a service didn't answer", extra={"operation": name}, exc_info=True)
            raise errors.unavailable() from None
        except Exception:
            logger.exception("an operation failed", extra={"operation": name})
            raise errors.internal(request.id) from None


def _tenant(params: Mapping[str, Any]) -> str:
    tenant = params.get("tenant") or ""
    if tenant and not (isinstance(tenant, str) and _TENANT.fullmatch(tenant)):
        raise invalid("tenant", "must be 1 to 64 of the characters A-Z a-z 0-9 . _ ~ -")
    return str(tenant)

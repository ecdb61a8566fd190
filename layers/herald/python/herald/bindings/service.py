"""What both bindings do with a request once its operation is known: caller, version, extensions, parsing, running."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from herald import correlation
from herald.bindings import errors, gateway, trace
from herald.bindings.http import Request
from herald.operations.call import Call
from herald.operations.catalogue import Catalogue
from herald.ports import Ids, Unavailable
from herald.protocol import version
from herald.protocol.errors import A2AError, ExtensionSupportRequiredError, invalid
from herald.protocol.protojson import Model
from herald.protocol.requests import task_named_by
from herald.records import Caller

logger = logging.getLogger(__name__)

NOBODY = ""  # no caller has this owner: none that is empty is ever authenticated

_OURS = re.compile(r"[a-z2-7]{26}")  # what a task's id looks like: other text that a client sends isn't logged
_TENANT = re.compile(r"[A-Za-z0-9._~-]{1,64}")


@dataclass(frozen=True, slots=True)
class Service:
    """The operations behind a binding.

    Attributes:
        required_extensions: URIs of the extensions that the Agent Card requires of clients.
        extensions: URIs of all extensions that it declares, in its order.
        base_url: the API's public address for a requestContext.
    """

    catalogue: Catalogue
    ids: Ids
    auth: gateway.AuthMode = "jwt"
    required_extensions: frozenset[str] = frozenset()
    extensions: tuple[str, ...] = ()
    base_url: Callable[[Mapping[str, Any]], str] = lambda _: ""

    def authenticate(self, request: Request) -> Caller:
        """Who a request acts for.

        Raises:
            UnauthenticatedError: nobody.
        """
        return gateway.caller(self.auth, request.context)

    def check_parameters(self, request: Request) -> None:
        """Check the service parameters: A2A-Version and A2A-Extensions (A2A specification section 3.2.6).

        Raises:
            VersionNotSupportedError: the request speaks another version.
            ExtensionSupportRequiredError: it lacks an extension that the card requires.
        """
        version.check(request.headers.get(version.VERSION_HEADER.lower()), request.query.get(version.VERSION_HEADER))
        if self.required_extensions and (missing := self.required_extensions.difference(self.in_use(request))):
            needed = ", ".join(sorted(missing))
            raise ExtensionSupportRequiredError(
                f"This agent requires extensions. Send {version.EXTENSIONS_HEADER}: {needed}",
                metadata={"requiredExtensions": needed},
            )

    def in_use(self, request: Request) -> tuple[str, ...]:
        """The declared extensions that a request asks for; the others that it names are ignored (section 4.6.3)."""
        named = request.headers.get(version.EXTENSIONS_HEADER.lower())
        if not named:
            return ()
        wanted = {uri.strip() for uri in named.split(",")}
        return tuple(uri for uri in self.extensions if uri in wanted)

    async def run(
        self, name: str, caller: Caller, params: Mapping[str, Any], request: Request
    ) -> dict[str, Any] | None:
        """Run an operation.

        Args:
            caller: as ``authenticate`` told it.
            params: the request of the operation as JSON, its tenant included.

        Raises:
            A2AError: whatever goes wrong, faults of ours included.
        """
        try:
            operation = self.catalogue[name]
            named = _tenant(params)
            parsed = operation.request.parse(params) if operation.request else None
            if parsed and _OURS.fullmatch(about := task_named_by(parsed)):
                correlation.note(about)
            caller = self._within(caller, named, parsed)
            call = Call(
                caller,
                request.traceparent or trace.traceparent(request.headers, self.ids),
                self.in_use(request),
                self.base_url(request.context),
            )
            return await operation.run(call, parsed)
        except A2AError:
            raise
        except Unavailable:
            logger.warning("a service didn't answer", extra={"operation": name}, exc_info=True)
            raise errors.unavailable() from None
        except Exception:
            logger.exception("an operation failed", extra={"operation": name})
            raise errors.internal(request.id) from None

    def _within(self, caller: Caller, named: str, request: Model | None) -> Caller:
        """The caller in the tenant that a request names.

        A tenant that isn't the caller's holds nothing for it, so a request about a task runs as nobody: it takes the
        very road of an id that never existed, and ends where that one ends.

        Raises:
            InvalidParamsError: the request is about the tenant itself, and it isn't the caller's.
        """
        if self.auth == "none":
            return Caller(named, caller.owner)
        if named in ("", caller.tenant):
            return caller
        if request and not task_named_by(request):
            raise invalid("tenant", "isn't one of yours: leave it out, or call with credentials of that tenant")
        return Caller(named, NOBODY)


def _tenant(params: Mapping[str, Any]) -> str:
    tenant = params.get("tenant") or ""
    if tenant and not (isinstance(tenant, str) and _TENANT.fullmatch(tenant)):
        raise invalid("tenant", "must be 1 to 64 of the characters A-Z a-z 0-9 . _ ~ -")
    return str(tenant)

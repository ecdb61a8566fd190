"""The Agent Card: who an agent is, what it can do, where and how to reach it (sections 4.4, 4.5 and 8)."""

import builtins
from typing import ClassVar

from pydantic import Field

from herald.protocol.protojson import FilledText, Flag, Many, Model, Some, Struct, Text

Scopes = dict[str, Text]  # of a scope: what it is for


class AgentInterface(Model):
    """A URL and the protocol binding that is spoken there."""

    url: FilledText
    protocol_binding: FilledText
    tenant: Text = ""
    protocol_version: FilledText


class AgentProvider(Model):
    """Who runs the agent."""

    url: FilledText
    organization: FilledText


class AgentExtension(Model):
    """A protocol extension that the agent supports, or requires."""

    uri: Text = ""
    description: Text = ""
    required: Flag = False
    params: Struct | None = None


class AgentCapabilities(Model):
    """What the agent supports beyond the core. None is unsaid, which isn't the same as False in a signed card."""

    streaming: Flag | None = None
    push_notifications: Flag | None = None
    extensions: Many[AgentExtension] = Field(default_factory=list)
    extended_agent_card: Flag | None = None


class APIKeySecurityScheme(Model):
    """A key in a header, a cookie or the query."""

    description: Text = ""
    location: FilledText
    name: FilledText


class HTTPAuthSecurityScheme(Model):
    """An HTTP Authorization scheme, like Bearer."""

    description: Text = ""
    scheme: FilledText
    bearer_format: Text = ""


class AuthorizationCodeOAuthFlow(Model):
    """OAuth 2.0, authorization code."""

    authorization_url: FilledText
    token_url: FilledText
    refresh_url: Text = ""
    scopes: Scopes
    pkce_required: Flag = False


class ClientCredentialsOAuthFlow(Model):
    """OAuth 2.0, client credentials."""

    token_url: FilledText
    refresh_url: Text = ""
    scopes: Scopes


class ImplicitOAuthFlow(Model):
    """OAuth 2.0, implicit; deprecated by the specification."""

    authorization_url: Text = ""
    refresh_url: Text = ""
    scopes: Scopes = Field(default_factory=dict)


class PasswordOAuthFlow(Model):
    """OAuth 2.0, password; deprecated by the specification."""

    token_url: Text = ""
    refresh_url: Text = ""
    scopes: Scopes = Field(default_factory=dict)


class DeviceCodeOAuthFlow(Model):
    """OAuth 2.0, device code (RFC 8628)."""

    device_authorization_url: FilledText
    token_url: FilledText
    refresh_url: Text = ""
    scopes: Scopes


class OAuthFlows(Model):
    """Exactly one flow."""

    oneof: ClassVar[tuple[str, ...]] = (
        "authorization_code",
        "client_credentials",
        "implicit",
        "password",
        "device_code",
    )

    authorization_code: AuthorizationCodeOAuthFlow | None = None
    client_credentials: ClientCredentialsOAuthFlow | None = None
    implicit: ImplicitOAuthFlow | None = None
    password: PasswordOAuthFlow | None = None
    device_code: DeviceCodeOAuthFlow | None = None


class OAuth2SecurityScheme(Model):
    """OAuth 2.0."""

    description: Text = ""
    flows: OAuthFlows
    oauth2_metadata_url: Text = ""


class OpenIdConnectSecurityScheme(Model):
    """OpenID Connect."""

    description: Text = ""
    open_id_connect_url: FilledText


class MutualTlsSecurityScheme(Model):
    """A client certificate."""

    description: Text = ""


class SecurityScheme(Model):
    """Exactly one way to authenticate."""

    oneof: ClassVar[tuple[str, ...]] = (
        "api_key_security_scheme",
        "http_auth_security_scheme",
        "oauth2_security_scheme",
        "open_id_connect_security_scheme",
        "mtls_security_scheme",
    )

    api_key_security_scheme: APIKeySecurityScheme | None = None
    http_auth_security_scheme: HTTPAuthSecurityScheme | None = None
    oauth2_security_scheme: OAuth2SecurityScheme | None = None
    open_id_connect_security_scheme: OpenIdConnectSecurityScheme | None = None
    mtls_security_scheme: MutualTlsSecurityScheme | None = None


class StringList(Model):
    """Some strings; in a security requirement, scopes."""

    list: Many[Text] = Field(default_factory=builtins.list)


class SecurityRequirement(Model):
    """Schemes that a client must satisfy together, each with the scopes it needs."""

    schemes: dict[str, StringList] = Field(default_factory=dict)


class AgentSkill(Model):
    """Something the agent is good at."""

    id: FilledText
    name: FilledText
    description: FilledText
    tags: Some[FilledText]
    examples: Many[Text] = Field(default_factory=list)
    input_modes: Many[Text] = Field(default_factory=list)
    output_modes: Many[Text] = Field(default_factory=list)
    security_requirements: Many[SecurityRequirement] = Field(default_factory=list)


class AgentCardSignature(Model):
    """A JSON Web Signature of the card (RFC 7515)."""

    protected: FilledText
    signature: FilledText
    header: Struct | None = None


class AgentCard(Model):
    """The card. ``parse`` refuses one that lacks what the specification calls REQUIRED, and names it."""

    name: FilledText
    description: FilledText
    supported_interfaces: Some[AgentInterface]
    provider: AgentProvider | None = None
    version: FilledText
    documentation_url: Text | None = None
    capabilities: AgentCapabilities
    security_schemes: dict[str, SecurityScheme] = Field(default_factory=dict)
    security_requirements: Many[SecurityRequirement] = Field(default_factory=list)
    default_input_modes: Some[FilledText]
    default_output_modes: Some[FilledText]
    skills: Some[AgentSkill]
    signatures: Many[AgentCardSignature] = Field(default_factory=list)
    icon_url: Text | None = None

"""Why a token isn't taken: one table of reasons, each with what the client is told.

A sentence says what is wrong with a token that its sender has anyhow. Of the signature it says no more than that it
isn't the issuer's, so that nobody learns how near a forged one came.
"""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """A reason: what the client is told, and whether the same token can never be taken later."""

    MALFORMED = ("The access token isn't a JWT that can be read.", True)
    ALGORITHM = ("The access token is signed with an algorithm that isn't taken here.", True)
    TYPE = ("The token isn't an access token.", True)
    SIGNATURE = ("The access token wasn't signed by its issuer.", True)
    UNKNOWN_KEY = ("The access token wasn't signed by its issuer.", False)
    ISSUER = ("The access token is of another issuer.", True)
    AUDIENCE = ("The access token is meant for another audience.", True)
    EXPIRED = ("The access token has expired: get a new one.", True)
    NOT_YET_VALID = ("The access token isn't valid yet.", False)
    SUBJECT = ("The access token names no subject.", True)
    TENANT = ("The access token names a tenant that can't be one.", True)

    def __init__(self, sentence: str, lasting: bool) -> None:
        self.sentence = sentence
        self.lasting = lasting


class Refused(Exception):
    """A token isn't taken."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason

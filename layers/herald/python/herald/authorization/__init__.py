"""Whose a bearer token is: its signature, its issuer's keys and its claims, checked. No AWS, no socket."""

"""Webhooks: cursor, message, signing, URL policy, retry, one attempt."""

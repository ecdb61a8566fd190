"""Webhooks: the cursor and what lies ahead of it, message, signing, URL policy, one attempt, redaction, retry."""

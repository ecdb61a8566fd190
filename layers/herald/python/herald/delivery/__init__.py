"""Webhooks: the cursor and what lies ahead of it, messages, signing, URL policy, one attempt, redaction, retry."""

"""The Tasks table: keys, items, the log, the webhooks."""

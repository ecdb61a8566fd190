"""Commands of an operator: python -m herald.ops."""

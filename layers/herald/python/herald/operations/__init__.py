"""One module per A2A operation (specification section 3.1)."""

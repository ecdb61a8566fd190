"""What sweep decides: what is due and what is to be done about it."""

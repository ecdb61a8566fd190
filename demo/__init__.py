"""`make demo`: one task on the local stack, seen by a client that hangs up and listens for signed notifications."""

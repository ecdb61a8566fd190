"""MiniStack, with what its pinned version gets wrong put right.

Each module mends one thing (bridge aside): its text says what AWS does, `tests/e2e/test_emulator.py` holds it, and it
can be dropped when that test passes without it. Runs in the emulator's own environment.
"""

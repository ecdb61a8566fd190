"""Runs an agent for one turn of a task."""

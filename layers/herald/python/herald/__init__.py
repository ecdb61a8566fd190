"""Herald hosts one A2A v1.0 agent on AWS without a server."""

__version__ = "0.1.0"

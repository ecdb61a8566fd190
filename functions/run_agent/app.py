"""Runs the agent for one turn of one task; see herald.entrypoints.run_agent."""

import os

from herald import bootstrap
from herald.entrypoints.run_agent import handler_for

meter = bootstrap.meter(os.environ)
handler = handler_for(bootstrap.run_agent(bootstrap.Platform(os.environ), meter), meter)

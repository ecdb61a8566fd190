"""Says whose a bearer token is; see herald.entrypoints.authorize."""

import os

from herald import bootstrap
from herald.entrypoints.authorize import handler_for

handler = handler_for(bootstrap.authorize(os.environ), bootstrap.meter(os.environ))

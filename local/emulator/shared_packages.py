"""A package is unpacked once, and all processes of all functions that use it share its folder.

MiniStack unpacks a function's code and layers anew for every process, on the lock that its own answers wait for: a
burst of calls, each of which needs a process, stands still for a minute. As on AWS, nothing may be written there. For
functions in Python only: into those of Node, MiniStack itself writes.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

from ministack.core import lambda_runtime

_unpacking = Lock()


class Package(zipfile.ZipFile):
    """A zip file that unpacks to a link."""

    def namelist(self) -> list[str]:
        """No names: MiniStack looks each of them up on the disk to see where it leads, which unpacking sees to."""
        return []

    def extractall(self, path: Any = None, *_: Any) -> None:
        """Make the empty folder a link to where this content is, or will be."""
        packed = Path(str(self.filename))
        digest = hashlib.sha256(packed.read_bytes()).hexdigest()
        folder = Path(tempfile.gettempdir(), f"package-{digest}")
        with _unpacking:
            if not folder.exists():
                started = folder.with_suffix(".part")
                with zipfile.ZipFile(packed) as whole:
                    whole.extractall(started)
                started.rename(folder)
        Path(path).rmdir()
        Path(path).symlink_to(folder)


def apply() -> None:
    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": Package})

"""Builds the wheel ``herald-webhooks`` (PEP 517) from herald/webhooks.py where it lies in the layer: no copy is kept.

The same file gives the same wheel, byte for byte.
"""

from __future__ import annotations

import base64
import hashlib
import tomllib
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODULE = HERE.parent.parent / "layers" / "herald" / "python" / "herald" / "webhooks.py"
TAG = "py3-none-any"
WHEEL = f"Wheel-Version: 1.0\nGenerator: herald\nRoot-Is-Purelib: true\nTag: {TAG}\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first day of zip


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Write the wheel; its file name."""
    del config_settings, metadata_directory
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    files = {
        "herald/webhooks.py": MODULE.read_bytes(),
        f"{stem}.dist-info/METADATA": _metadata(project).encode(),
        f"{stem}.dist-info/WHEEL": WHEEL.encode(),
    }
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    name = f"{stem}-{TAG}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            info = zipfile.ZipInfo(path, LONG_AGO)
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, content)
    return name


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """There is none: the module lies outside this folder."""
    del sdist_directory, config_settings
    raise RuntimeError("build a wheel: pip wheel --no-deps clients/python")


def _metadata(project: dict[str, Any]) -> str:
    head = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {dependency}" for dependency in project["dependencies"]),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + (HERE / str(project["readme"])).read_text()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

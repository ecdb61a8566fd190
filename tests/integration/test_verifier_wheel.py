"""The wheel that receivers install: built from the very file, and usable without anything of AWS."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import herald

ROOT = Path(__file__).parents[2]

RECEIVER = """
import base64, importlib.util, json, sys
for name in ("boto3", "botocore", "aws_lambda_powertools", "fastapi", "pydantic"):
    assert importlib.util.find_spec(name) is None, name
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from herald import webhooks
key = Ed25519PrivateKey.from_private_bytes(bytes(32))
body = b'{"task":{"id":"t"}}'
signature = base64.b64encode(key.sign(b"msg_k_000000000001.7." + body)).decode()
headers = {"webhook-id": "msg_k_000000000001", "webhook-timestamp": "7", "webhook-signature": "v1a," + signature}
found = webhooks.verify(body, headers, keys=[key.public_key()], now=7)
print(json.dumps([webhooks.__file__, found.number, found.task_id]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "-w", str(folder)]
    subprocess.run([*command, str(ROOT / "clients/python")], check=True, timeout=100)
    [found] = folder.iterdir()
    return found


def test_the_wheel_holds_the_layers_own_file_and_metadata_and_nothing_else(wheel: Path) -> None:
    assert wheel.name == f"herald_webhooks-{herald.__version__}-py3-none-any.whl"
    info = f"herald_webhooks-{herald.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        assert sorted(archive.namelist()) == sorted(
            ["herald/webhooks.py", f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD"]
        )
        assert archive.read("herald/webhooks.py") == (ROOT / "layers/herald/python/herald/webhooks.py").read_bytes()
        assert b"Requires-Dist: cryptography>=42" in archive.read(f"{info}/METADATA")


def test_an_installed_wheel_verifies_a_message_with_no_aws_package_in_reach(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True, timeout=100)
    packages = Path(sysconfig.get_paths()["platlib"])
    for found in [*packages.glob("cryptography"), *packages.glob("cffi"), *packages.glob("_cffi_backend*")]:
        (target / found.name).symlink_to(found)

    command = f"import sys; sys.path.insert(0, {str(target)!r}); exec({RECEIVER!r})"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", command], check=False, capture_output=True, text=True, timeout=100
    )

    assert run.stderr == ""
    assert json.loads(run.stdout) == [str(target / "herald/webhooks.py"), 1, "t"]


def test_building_leaves_nothing_in_the_repository(wheel: Path) -> None:
    names = {path.name for path in (ROOT / "clients/python").iterdir()} - {"__pycache__"}

    assert names == {"README.md", "backend.py", "pyproject.toml"}

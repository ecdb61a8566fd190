"""`make lock`: write the lock files anew, and the layer's requirements from ours.

Needs uv, which resolves for every Python at once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from local import environments
from local.environments import AWS, EMULATOR, OURS, ROOT
from local.terminal import LocalError, step

OLDEST = environments.VERSIONS[-1]
SOURCES = {
    OURS.lock: ["pyproject.toml", "--extra", "dev"],
    EMULATOR.lock: ["local/emulator.in"],
    AWS.lock: ["local/aws.in"],
}


def main() -> int:
    uv = shutil.which("uv")
    if uv is None:
        print("Locking needs uv: pip install uv.", file=sys.stderr)
        return 1
    form = ["--universal", "--python-version", OLDEST, "--generate-hashes", "--no-annotate", "--no-header", "--quiet"]
    try:
        for lock, source in SOURCES.items():
            with step(f"Locking {lock.relative_to(ROOT)}"):
                command = [uv, "pip", "compile", *source, *form, "--output-file", str(lock), *sys.argv[1:]]
                subprocess.run(command, cwd=ROOT, check=True)
        environments.ensure(OURS)
    except (LocalError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    subprocess.run([OURS.python, "layers/export_requirements.py"], cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The system's clock and random names."""

from __future__ import annotations

import base64
import os
import time


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class RandomIds:
    def token(self) -> str:
        return base64.b32encode(os.urandom(16)).decode().rstrip("=").lower()

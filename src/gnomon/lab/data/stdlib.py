"""The sources of Python's standard library: real text with long files, on every machine that runs gnomon."""

import hashlib
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import final

LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "__pycache__", "ensurepip"}
EVERY = 10  #: one file in ten is for tests


@final
@dataclass(frozen=True)
class SplitText:
    """Two parts of a text as bytes, and the SHA-256 of both."""

    train: bytes
    test: bytes

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.train + b"\0" + self.test).hexdigest()


def standard_library() -> SplitText:
    """All .py files of this Python's library in the order of their names, without tests; it differs by version."""
    root = Path(sysconfig.get_path("stdlib"))
    files = [file for file in sorted(root.rglob("*.py")) if not LEFT_OUT & set(file.relative_to(root).parts)]
    texts = [file.read_bytes() for file in files]
    train = b"\n".join(text for number, text in enumerate(texts) if number % EVERY != EVERY - 1)
    return SplitText(train, b"\n".join(texts[EVERY - 1 :: EVERY]))

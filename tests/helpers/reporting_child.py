"""A child process that writes what it found to a file, as JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def found_by(words: Sequence[str], file: Path) -> Any:
    """What `python WORDS` leaves in the file; fails with its errors, and with those of its ranks beside the file."""
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    failures = [failed.read_text() for failed in sorted(file.parent.glob("*.failed*"))]
    assert ended.returncode == 0, "\n".join([*failures, ended.stderr[-3000:]])
    return json.loads(file.read_text())

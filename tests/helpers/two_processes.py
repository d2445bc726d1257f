"""A program for torchrun: it does every check that needs several processes, and writes what was measured as JSON.

Started with the file to write. One launch does all checks, because each costs seconds. The first check that fails ends
all processes, with its name and error in the file.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from tests.helpers import process_copies, process_docs, process_heads, process_rows, process_torch

Check = Callable[[], dict[str, Any]]
CHECKS: dict[str, Check] = {
    **process_heads.checks(),
    **process_rows.checks(),
    **process_copies.checks(),
    **process_docs.checks(),
    **process_torch.checks(),
}
PATIENCE = timedelta(seconds=60)


def main(file: Path) -> None:
    """Do the checks in order; the first process writes."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=PATIENCE)
    measured: dict[str, Any] = {}
    for name, check in CHECKS.items():
        try:
            measured[name] = check()
        except Exception:  # noqa: BLE001  whatever it is, it is told, and ends all processes
            file.with_suffix(f".failed{dist.get_rank()}").write_text(f"{name}\n{traceback.format_exc()}")
            os._exit(1)  # the other process waits for this one in vain
    if dist.get_rank() == 0:
        file.write_text(json.dumps(measured))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

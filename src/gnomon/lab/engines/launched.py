"""What `torchrun` and `accelerate launch` tell the processes that they start."""

import os


def processes() -> int:
    """How many processes were started together with this one, itself among them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def leads() -> bool:
    """Whether this process is the one of them that writes and reports."""
    return int(os.environ.get("RANK", "0")) == 0

"""Random weights that depend on the seed of a run and on nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from gnomon.lab.experiments.context import Context


@contextmanager
def seeded(context: Context, *use: str | int) -> Iterator[None]:
    """torch's own generator draws what the seed says inside, and is as it was afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(context.generator("weights", *use).initial_seed())
        yield

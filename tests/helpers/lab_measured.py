"""Models of the lab to measure: fresh ones, and ones whose logits are known."""

from collections.abc import Mapping
from typing import Any, final

import torch
from torch import Tensor

from gnomon.lab.measures.base import Trained
from gnomon.lab.model import LabModel, ModelSpec
from gnomon.lab.tasks.base import IGNORED, Batch, Classes, NextToken, Split, Task
from gnomon.lab.training.history import History
from gnomon.lab.training.options import Placing

TOKENS = 400


@final
class Count(Task):
    """A text in which token n is n modulo the vocabulary; its answers are written token by token."""

    autoregressive = True
    sights = ("causal", "both")

    def __init__(self, vocabulary: int = 7, classes: int | None = None) -> None:
        self.vocabulary = vocabulary
        self.output = NextToken() if classes is None else Classes(classes)

    def slots(self, length: int) -> int:
        return length

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        return self._rows(torch.randint(TOKENS, (size,), generator=generator), length or 5)

    def segments(self, length: int, total: int) -> Batch:
        return self._rows(torch.arange(0, total, length), length)

    def endings(self, length: int, *, last: int, rows: int, longest: int) -> Batch:
        batch = self._rows(longest + 3 * torch.arange(rows) - length, length)
        batch.labels[:, : length - last] = IGNORED
        return batch

    def _rows(self, starts: Tensor, length: int) -> Batch:
        ids = (starts[:, None] + torch.arange(length + 1)) % self.vocabulary
        return Batch(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())


def fresh(
    encoding: str | Mapping[str, Any] = "nope",
    task: Task | None = None,
    *,
    seed: int = 0,
    max_length: int = 32,
    placing: Placing | None = None,
    history: History | None = None,
    **spec: Any,
) -> Trained:
    """A model with the weights of a seed, which nothing has trained."""
    task = Count() if task is None else task
    sizes: dict[str, Any] = {"dim": 16, "num_layers": 2, "num_heads": 2, **spec}
    given = {"encoding": encoding} if isinstance(encoding, str) else encoding
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LabModel(ModelSpec(encoding=given, **sizes), task, max_length=max_length).eval()
    return Trained(model, task, placing or Placing(), history or History())


def undecided(trained: Trained) -> Trained:
    """Every class gets the same logit."""
    torch.nn.init.zeros_(trained.model.stack.embedding.words.weight)
    return trained

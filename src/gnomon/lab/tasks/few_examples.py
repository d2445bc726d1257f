"""Another task with few rows to train on, as when labels are dear.

How much data a position encoding needs is asked so: the rows to train on are fixed, those of tests are drawn anew.
"""

from collections.abc import Mapping
from typing import Any, final

import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import Batch, Split, Task, build_task, registry
from gnomon.lab.tasks.options import require_whole


@registry.register("few_examples")
@final
class FewExamples(Task):
    """`examples` rows of one `length` of a generated task, {"task": name, **options}; another `subset` is another draw.

    Tests have the rows of the task itself, of any length; as they come, of the trained one.

    >>> task = FewExamples({"task": "fixed_offset"}, length=8, examples=3)
    >>> batch = task.batch("train", None, 64, torch.Generator().manual_seed(0))
    >>> len(batch.ids.unique(dim=0))
    3
    """

    def __init__(self, of: Mapping[str, Any], length: int, examples: int, subset: int = 0) -> None:
        if "task" not in of or of["task"] == "few_examples":
            raise GnomonError(f"few_examples takes `of`, another task as a dict with the key 'task', got {dict(of)}.")
        self.of = build_task(of["task"], {key: value for key, value in of.items() if key != "task"})
        self.length = require_whole("few_examples", "length", length, 1)
        generator = torch.Generator().manual_seed(require_whole("few_examples", "subset", subset, 0))
        self.rows = self.of.batch(
            "train", self.length, require_whole("few_examples", "examples", examples, 1), generator
        )
        self.output, self.vocabulary, self.sights = self.of.output, self.of.vocabulary, self.of.sights
        self.autoregressive, self.data = self.of.autoregressive, self.of.data

    @property
    def chance(self) -> float | None:
        return self.of.chance

    def slots(self, length: int) -> int:
        """0: of the trained length."""
        return self.of.slots(length or self.length)

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        if split == "test":
            return self.of.batch("test", length or self.length, size, generator)
        if length not in (None, self.length):
            raise GnomonError(f"These few examples are rows of length {self.length}, got {length}.")
        drawn = torch.randint(len(self.rows.ids), (size,), generator=generator)
        real = None if self.rows.real is None else self.rows.real[drawn]
        return Batch(self.rows.ids[drawn], self.rows.labels[drawn], real)

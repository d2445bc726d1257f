"""A measure: made from plain JSON values, takes a trained model, returns numbers along an axis."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.encodings.base import check_options
from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.model import LabModel
from gnomon.lab.tasks.base import Batch, Task
from gnomon.lab.training.history import History
from gnomon.lab.training.options import Placing
from gnomon.lab.training.placing import place
from gnomon.registry import Registry
from gnomon.report.lab.results import MeasureInfo, Series

registry: Registry[type["Measure"]] = Registry("measure", package="gnomon.lab.measures")


@final
@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model and how it was trained."""

    model: LabModel
    task: Task
    placing: Placing
    history: History

    @torch.no_grad()
    def logits(self, batch: Batch, generator: torch.Generator) -> Float[Tensor, "B S C"]:
        """Logits in float32 on the CPU, for rows placed as they are in tests."""
        device = next(self.model.parameters()).device
        positions = place(self.placing, batch, "test", generator)
        moved = batch.to(device)
        here = None if positions is None else positions.to(device)
        answer: Tensor = self.model(moved.ids, moved.real, here)
        return answer.float().cpu()

    def fits(self, slots: int) -> bool:
        """Whether the encoding has positions for rows of so many slots."""
        limit = self.model.max_length
        if self.placing.kind == "random":
            limit = min(limit or self.placing.limit, self.placing.limit)
        return limit is None or slots <= limit


class Measure(ABC):
    """A frozen dataclass over plain JSON values, registered under the name in its `info`."""

    info: ClassVar[MeasureInfo]

    @abstractmethod
    def take(self, trained: Trained, context: Context) -> Series:
        """Measure. The model is not changed; draws come from `context.generator("measure", name, ...)`."""


def build_measure(given: Mapping[str, Any]) -> Measure:
    """Build a measure from {"measure": name, **options}."""
    if "measure" not in given:
        raise GnomonError(f"A measure is a dict with the key 'measure', got {dict(given)}.")
    options = {key: value for key, value in given.items() if key != "measure"}
    cls = registry.get(given["measure"])
    check_options(cls, given["measure"], options)
    return cls(**options)

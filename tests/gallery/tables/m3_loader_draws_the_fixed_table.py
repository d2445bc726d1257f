"""A fixed table that was left out of the file comes back from `from_pretrained` as random numbers.

The loader takes the key that its file lacks for a new weight, and draws it. In transformers 5.24 this still happens to
a model of one's own that keeps the table as an nn.Embedding; as a buffer outside the state dict the table is safe.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import sinusoids


class SinusoidalPositions(nn.Embedding):
    """Row p is position p."""


def reloaded(folder: Path, *, buffer: bool) -> tuple[nn.Module, tuple[Tensor]]:
    from transformers import PretrainedConfig, PreTrainedModel

    class Config(PretrainedConfig):
        model_type = "fixed-table"

    class Model(PreTrainedModel):  # type: ignore[misc]
        config_class = Config
        _keys_to_ignore_on_save = ("sinusoidal_positions.weight",)
        _keys_to_ignore_on_load_missing = ("sinusoidal_positions.weight",)

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.words, self.out = nn.Embedding(40, 32), nn.Linear(32, 40)
            if buffer:
                self.register_buffer("sinusoidal_positions", sinusoids(64), persistent=False)
            else:
                self.sinusoidal_positions = SinusoidalPositions(64, 32, _weight=sinusoids(64))
            self.post_init()

        def _init_weights(self, module: nn.Module) -> None:
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if buffer and module is self:  # what from_pretrained makes on the meta device is empty
                self.get_buffer("sinusoidal_positions").copy_(sinusoids(64))

        def forward(self, input_ids: Tensor) -> Tensor:
            name = "sinusoidal_positions"
            table = self.get_buffer(name) if buffer else self.get_parameter(f"{name}.weight")
            logits: Tensor = self.out(self.words(input_ids) + table[: input_ids.shape[1]])
            return logits

    Model(Config()).save_pretrained(folder)
    return Model.from_pretrained(folder).eval(), (torch.arange(9).repeat(2, 1),)


def faulty(folder: Path) -> tuple[nn.Module, tuple[Tensor]]:
    return reloaded(folder, buffer=False)


def healthy(folder: Path) -> tuple[nn.Module, tuple[Tensor]]:
    return reloaded(folder, buffer=True)


ITEM = Fault(
    source="huggingface/transformers#31387",
    check="PE203",
    where="sinusoidal_positions",
    right=r"unrelated to their neighbours.*persistent=False",
    build=faulty,
    healthy=healthy,
    severity="warning",
)

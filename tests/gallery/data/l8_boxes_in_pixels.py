"""LayoutLM fails on some pages with an index error.

Cause: boxes are given in pixels of the page; the tables of coordinates have 1,024 rows and expect 0 to 1000.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault

PAGE = 2000  # pixels


def _layout() -> Any:
    import transformers

    torch.manual_seed(0)
    config = transformers.LayoutLMConfig(
        vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24
    )
    return transformers.LayoutLMModel(config).eval()


def faulty(folder: Path) -> Any:
    return _layout()


def healthy(folder: Path) -> Any:
    model = _layout()
    forward = type(model).forward

    class Scaled(type(model)):  # type: ignore[misc]
        """The same model, which scales boxes by the size of the page."""

        def forward(self, input_ids: Tensor, bbox: Tensor | None = None, **more: Any) -> Any:
            return forward(self, input_ids, bbox if bbox is None else bbox * 1000 // PAGE, **more)

    model.__class__ = Scaled
    return model


BOXES = torch.tensor([[[10, 20, 1300, 40], [5, 5, 900, 80], [0, 0, 0, 0]]])

ITEM = Fault(
    source="microsoft/unilm#771",
    check="PE511",
    where="x_position_embeddings",
    right=r"row 1300 of a table of 1024 rows.*0\.\.1000",
    build=faulty,
    healthy=healthy,
    evidence={"batches": [{"input_ids": torch.tensor([[5, 6, 7]]), "bbox": BOXES}]},
)

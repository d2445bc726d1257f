"""A language model gets worse as a text gets longer.

Cause: it was trained on rows of sixteen tokens; the table has rows for later positions, as they were drawn.
The healthy one has rows that repeat, as if each had been trained.
"""

from pathlib import Path

import torch

from tests.gallery.item import Fault
from tests.helpers.gallery_training import ROWS, TRAINED, LanguageModel, text, trained


def faulty(folder: Path) -> LanguageModel:
    return trained()


def healthy(folder: Path) -> LanguageModel:
    model = LanguageModel(rows=ROWS)
    state = dict(trained().state_dict())
    state["positions.weight"] = state["positions.weight"][torch.arange(ROWS) % TRAINED]
    model.load_state_dict(state)
    return model.eval()


ITEM = Fault(
    source="page: arXiv 2108.12409, section 2 (perplexity beyond the trained length)",
    check="PE510",
    where="positions from 16",
    right="keep inputs to about 16 tokens",
    build=faulty,
    healthy=healthy,
    evidence={"trained": True, "text": text(ROWS * 8, 2)},
    severity="warning",
)

"""Falcon with ALiBi gives another output when attention weights are asked for: the bias is added twice there.

The mask that every layer gets already holds the bias; the eager layer adds the bias once more. True of transformers
5.24: half the bias makes both paths agree.
"""

from pathlib import Path
from typing import Any

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import TwoPaths, falcon


def faulty(folder: Path) -> Any:
    return falcon(alibi=True)


def healthy(folder: Path) -> nn.Module:
    return TwoPaths()


ITEM = Fault(
    source="huggingface/transformers#29067",
    check="PE320",
    where="output_attentions=True",
    right="2 times as strong.*add the bias once",
    build=faulty,
    healthy=healthy,
)

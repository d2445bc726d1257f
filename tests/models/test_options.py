"""Sizes of a model."""

from typing import Any

import pytest

from gnomon.errors import ShapeError
from gnomon.models import ModelOptions


@pytest.mark.parametrize("name", ["vocabulary", "dim", "num_layers", "num_heads"])
def test_every_size_is_at_least_one(name: str) -> None:
    sizes: dict[str, Any] = {"vocabulary": 5, "dim": 8, "num_layers": 1, "num_heads": 2}
    assert ModelOptions(**sizes).dim == 8
    with pytest.raises(ShapeError, match=f"{name} of at least 1, got 0"):
        ModelOptions(**sizes | {name: 0})

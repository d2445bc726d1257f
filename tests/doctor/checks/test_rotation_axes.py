"""PE319: which pairs rows, columns and the planes of M-RoPE turn."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_images import Patches, image
from tests.helpers.healthy import FOREIGN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding


class Exchanged(Patches):
    def places(self, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        row, column = super().places(columns, rows)
        return row, column


class Shuffled(Patches):
    """The last patch is given the place of the first."""

    def places(self, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        row, column = super().places(rows, columns)
        return row.roll(1), column.roll(1)


def test_rows_and_columns_in_their_order_pass() -> None:
    result = examine("PE319", (Patches(), image()))
    assert result.status == "passed", (result.detail, result.findings)
    assert examine("PE319", tiny_model("dinov3_vit")).status == "passed"


def test_height_and_width_exchanged_are_told() -> None:
    finding = only_finding(examine("PE319", (Exchanged(), image())))
    assert finding.where == "blocks.*"
    assert "on 3 x 5 patches the angles are not those of rows and columns: they are those of 5 x 3" in finding.message


def test_patches_in_another_order_are_found() -> None:
    finding = only_finding(examine("PE319", (Shuffled(), image())))
    assert finding.message == "on 3 x 5 patches the angles are not those of rows and columns"


def test_a_square_example_cannot_tell() -> None:
    square = {"pixel_values": torch.randn(2, 3, 12, 12)}
    result = examine("PE319", (Exchanged(), square))
    assert result.status == "not-applicable"
    assert "the example is square" in result.detail


@pytest.mark.parametrize("family", ["qwen2_vl_text", "qwen2_5_vl_text", "qwen3_vl_text"])
def test_families_with_sections_pass(family: str) -> None:
    result = examine("PE319", tiny_model(family))
    assert result.status == "passed", (result.detail, result.findings)


def test_pairs_in_blocks_for_pairs_in_turn_are_found() -> None:
    model: Any = tiny_model("qwen3_vl_text")

    def in_blocks(freq: Tensor) -> Tensor:
        found = torch.cat([part[axis] for axis, part in enumerate(freq.split((2, 1, 1), dim=-1))], dim=-1)
        return torch.cat((found, found), dim=-1)

    model.rotary_emb.recomposition_frequencies = in_blocks
    finding = only_finding(examine("PE319", model))
    assert finding.measured == {"pair": 1, "axis": "time", "expected": "height"}
    assert finding.fix.startswith("pairs by axis: 0 1 2 0")


def test_one_coordinate_is_not_judged() -> None:
    for model in (Toy(), FOREIGN["llama"]()):
        assert examine("PE319", model).status == "not-applicable"

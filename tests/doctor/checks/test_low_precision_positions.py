"""PE301: ids or angles in half precision, as the forward stands and under autocast."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.gallery.export import export_02_axial_complex
from tests.helpers.healthy import FOREIGN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, llama


class HalfIds(nn.Module):
    """Llama's rotary embedding with the ids in bfloat16."""

    def __init__(self, frequencies: Tensor) -> None:
        super().__init__()
        self.frequencies = frequencies

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = (position_ids.bfloat16()[..., None] * self.frequencies.bfloat16()).float()
        wide = torch.cat((angles, angles), dim=-1)
        return wide.cos().to(x.dtype), wide.sin().to(x.dtype)


class Outer(HalfIds):
    """Angles by a matrix product: exact in float32, in bfloat16 under autocast."""

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = position_ids[..., None].float() @ self.frequencies[None, None, :]
        wide = torch.cat((angles, angles), dim=-1)
        return wide.cos(), wide.sin()


def with_rotary(kind: type[HalfIds]) -> Any:
    model = llama(max_position_embeddings=2048)
    model.model.rotary_emb = kind(model.model.rotary_emb.inv_freq.clone())
    return model


def test_bfloat16_ids_are_found_with_the_phase_error_and_the_number_of_distinct_positions() -> None:
    result = examine("PE301", with_rotary(HalfIds))
    assert (result.status, result.severity) == ("failed", "error")
    rotated = next(f for f in result.findings if f.where == "model.layers.0.self_attn")
    # bfloat16 has steps of 8 there: 2017 ... 2047 become 2016, 2024, 2032, 2040, 2048, each off by at most 4,
    # and 4 radians are -2.28: the largest error of the fastest pair is that of ids off by 3.
    assert rotated.measured["distinct"] == 5
    assert rotated.measured["phase error"] == pytest.approx(3.0, abs=1e-3)
    assert "5 of 31 neighbouring positions stay distinct" in rotated.message
    assert "at position 2047" in rotated.message
    assert "int64" in rotated.fix


def test_the_angles_themselves_are_found_by_the_module_that_forms_them() -> None:
    result = examine("PE301", with_rotary(HalfIds))
    angles = [f for f in result.findings if f.where == "model.rotary_emb"]
    assert angles
    assert all(f.measured["distinct"] < 31 for f in angles)


def test_a_matrix_product_of_angles_is_found_under_autocast_only() -> None:
    result = examine("PE301", with_rotary(Outer))
    assert result.status == "failed"
    assert all(f.message.startswith("under autocast(bfloat16)") for f in result.findings)
    assert {f.where for f in result.findings} >= {"model.rotary_emb", "model.layers.0.self_attn"}


def test_sinusoids_computed_from_bfloat16_ids_are_found_without_position_ids() -> None:
    class Sinusoids(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(40, 32)

        def forward(self, tokens: Tensor) -> Tensor:
            ids = torch.arange(tokens.shape[1]).bfloat16()
            angles = ids[:, None].float() * 10000.0 ** (-torch.arange(16) / 16)
            x: Tensor = self.words(tokens) + torch.cat((angles.sin(), angles.cos()), dim=-1)
            return x

    finding = examine("PE301", Sinusoids()).findings[0]
    # of the first 300 ids, bfloat16 keeps 0 ... 256 and then every second one
    assert finding.measured["distinct"] == 257 + 22
    assert "of 300 positions" in finding.message


@pytest.mark.parametrize("name", ["llama", "gpt-j", "gpt-neox, partial"])
def test_float32_angles_pass_as_they_are_and_under_autocast(name: str) -> None:
    result = examine("PE301", FOREIGN[name]())
    assert result.status == "passed", result.findings
    assert sum("under autocast" in m.name for m in result.measured) >= 1


def test_two_bases_in_one_model_are_told_apart() -> None:
    assert examine("PE301", tiny_model("modernbert")).status == "passed"


def test_a_model_that_refuses_autocast_is_still_judged_as_it_is() -> None:
    class Strict(Outer):
        def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
            if torch.is_autocast_enabled("cpu"):
                raise RuntimeError("float32 only")
            return super().forward(x, position_ids)

    result = examine("PE301", with_rotary(Strict))
    assert result.status == "passed"
    assert any(m.value == "does not run: RuntimeError" for m in result.measured)


def test_ids_stay_within_a_table_whose_length_nothing_states() -> None:
    for rows in (12, 64):
        assert examine("PE301", Toy(rows=rows)).status == "not-applicable"


def test_a_model_without_angles_is_not_judged() -> None:
    result = examine("PE301", FOREIGN["gpt-2"]())
    assert result.status == "not-applicable"
    assert result.detail == "the forward computes no angles (a stored table or a bias carries the positions)"


def test_rotations_by_row_and_column_are_no_multiple_of_the_place_and_are_left_alone() -> None:
    """A 2 x 3 grid of patches, each half of a head turned by one coordinate, as SAM 2 does."""
    result = examine("PE301", (export_02_axial_complex.RealAxial(), export_02_axial_complex.example()))
    assert [f.message for f in result.findings] == []
